// What a kernel does with its parameters, as a reader would say.
#include "engine/source/usage.h"

#include "tests/catch.h"

using namespace assay::source;

namespace {

Usage usage_of(const std::string& source) {
  const Unit unit = preprocess(source);
  const Kernels found = find_kernels(unit);
  REQUIRE(found.kernels.size() == 1);
  return usage(unit, found.kernels.front());
}

// "r", "w", "rw", "?" or "-" of the parameter `p` of a kernel with this body.
std::string use_of_p(const std::string& body, const std::string& type = "float*") {
  const auto use = usage_of("__global__ void k(" + type + " p, float* q, int n) { " + body + " }")
                       .parameters.at(0);
  std::string text;
  if (use.is_read) text += "r";
  if (use.is_written) text += "w";
  if (use.is_accumulated) text += "+";
  if (use.is_passed_on) text += "?";
  return text.empty() ? "-" : text;
}

}  // namespace

TEST_CASE("reads and writes are told apart in every usual spelling") {
  CHECK(use_of_p("q[0] = p[0];") == "r");
  CHECK(use_of_p("p[0] = q[0];") == "w");
  CHECK(use_of_p("p[n] += q[0];") == "rw");
  CHECK(use_of_p("*p = 1;") == "w");
  CHECK(use_of_p("*(p + n) = 1;") == "w");
  CHECK(use_of_p("q[0] = *p;") == "r");
  CHECK(use_of_p("q[0] = 2 * *(p + 1);") == "r");
  CHECK(use_of_p("p[n]++;") == "rw");
  CHECK(use_of_p("++p[n];") == "rw");
  CHECK(use_of_p("p->x = 1;") == "w");
  CHECK(use_of_p("p[0].x = q[0];") == "w");
  CHECK(use_of_p("atomicAdd(&p[n], 1.0f);") == "w+");
  CHECK(use_of_p("atomicAdd(p + n, q[0]);") == "w+");
  CHECK(use_of_p("q[0] = __ldg(&p[n]);") == "r");
  CHECK(use_of_p("__stcs(p + n, 1.0f);") == "w");
  CHECK(use_of_p("reinterpret_cast<float4*>(p)[n] = make_float4(0, 0, 0, 0);") == "w");
  CHECK(use_of_p("float4 v = reinterpret_cast<const float4*>(p)[n]; q[0] = v.x;") == "r");
  CHECK(use_of_p("float* r = p + n; r[0] = 1;") == "w");
  CHECK(use_of_p("auto* r = reinterpret_cast<float4*>(p); q[0] = r[0].x;") == "r");
  CHECK(use_of_p("store(p, n);") == "?");
  CHECK(use_of_p("load(p, n);", "const float*") == "r");
  CHECK(use_of_p("q[0] = fmaxf(p[0], p[1]);") == "r");
  CHECK(use_of_p("if (p[n] > 0) q[0] = 1;") == "r");
  CHECK(use_of_p("q[n] = n;") == "-");
  CHECK(use_of_p("s.p = 1;") == "-");
}

TEST_CASE("an index's bounds give the shape") {
  const auto matmul = usage_of(R"(
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
})");
  CHECK(matmul.parameters[0].shape == std::vector<std::string>{"M", "K"});
  CHECK(matmul.parameters[1].shape == std::vector<std::string>{"K", "N"});
  CHECK(matmul.parameters[2].shape == std::vector<std::string>{"M", "N"});
  CHECK(matmul.parameters[2].is_written);
  CHECK_FALSE(matmul.parameters[2].is_read);
  REQUIRE(matmul.indexes.size() == 2);
  CHECK(matmul.indexes[0].axis == 'y');
  CHECK(matmul.indexes[0].bound == "M");
  CHECK(matmul.indexes[1].bound == "N");
  const auto strided = usage_of(R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  const int total = rows * cols;
  int start = blockIdx.x * 128 + threadIdx.x;
  for (int i = start; i < total; i += gridDim.x * blockDim.x) y[i] = x[i];
})");
  CHECK(strided.parameters[0].shape == std::vector<std::string>{"(rows*cols)"});
  REQUIRE_FALSE(strided.indexes.empty());
  CHECK(strided.indexes[0].block_extent == "128");
  CHECK(strided.indexes[0].bound == "(rows*cols)");
  const auto early = usage_of(
      "__global__ void k(float* x, int n) { int i = threadIdx.x + blockIdx.x * blockDim.x; "
      "if (i >= n) return; x[i] *= 2; }");
  CHECK(early.parameters[0].shape == std::vector<std::string>{"n"});
  const auto batched = usage_of(R"(
__global__ void k(float* x, int B, int H, int W) {
  int w = threadIdx.x, h = blockIdx.x, b = blockIdx.y;
  if (w < W && h < H && b < B) x[(b * H + h) * W + w] = 0;
})");
  CHECK(batched.parameters[0].shape == std::vector<std::string>{"B", "H", "W"});
  const auto constant = usage_of(
      "__global__ void k(float* x, float* y, int n) { x[3] = 1; y[0] = 1; "
      "for (int i = 0; i < n; ++i) y[i] = 2; }");
  CHECK(constant.parameters[0].shape == std::vector<std::string>{"4"});
  CHECK(constant.parameters[1].shape == std::vector<std::string>{"n"});
  CHECK(usage_of("__global__ void k(float* x, const int* j) { x[j[0]] = 1; }")
            .parameters[0]
            .shape.empty());
}

namespace {

// "x: rows" for each block index and its bound, "x=128" for each size of a block that is told.
std::string indexes_of(const std::string& body) {
  const auto found = usage_of(
      "constexpr int kThreads = 96;\n"
      "__global__ void k(const float* p, float* q, int rows, int columns) {" +
      body + "}");
  std::string text;
  for (const auto& index : found.indexes) {
    if (index.uses_block) text += std::string(1, index.axis) + ": " + index.bound + " ";
    if (index.uses_thread && index.block_extent)
      text += std::string(1, index.axis) + "=" + *index.block_extent + " ";
  }
  return text;
}

}  // namespace

TEST_CASE("a block per row is bounded by the rows, and so is the array it indexes") {
  const auto use = usage_of(
      "__global__ void k(const float* p, float* q, int columns, int rows) {"
      "  for (int c = threadIdx.x; c < columns; c += blockDim.x)"
      "    q[blockIdx.x] += p[blockIdx.x * columns + c]; }");
  CHECK(use.parameters[0].shape == std::vector<std::string>{"rows", "columns"});
  CHECK(use.parameters[1].shape == std::vector<std::string>{"rows"});
  CHECK(indexes_of("int row = blockIdx.x; q[row] = p[row * columns + threadIdx.x];") ==
        "x: rows x: rows ");
  // Not where a thread has an element of its own.
  CHECK(indexes_of("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < rows) q[i] = p[i];") ==
        "x: rows ");
  CHECK(indexes_of("int i = blockIdx.x * blockDim.x + threadIdx.x; q[i] = p[i];") == "x:  ");
}

TEST_CASE("a block's size is told by steps, shared arrays and warps") {
  CHECK(indexes_of("for (int c = threadIdx.x; c < columns; c += 64) q[c] = p[c];") == "x=64 ");
  CHECK(indexes_of("int t = threadIdx.x; for (int c = t; c < columns; c += kThreads) q[c] = 0;") ==
        "x=96 ");
  CHECK(indexes_of("for (int j = threadIdx.y; j < 32; j += 8) q[j] = 0;") == "y=8 ");
  CHECK(indexes_of("__shared__ float s[128]; s[threadIdx.x] = p[0];") == "x=128 ");
  CHECK(indexes_of("__shared__ float s[128]; int t = threadIdx.x; s[2 * t] = p[0];") == "x=64 ");
  CHECK(indexes_of("__shared__ float s[4]; s[threadIdx.x / 32] = p[0];") == "x=128 ");
  CHECK(indexes_of("__shared__ float s[2]; s[threadIdx.x >> 5] = p[0];") == "x=64 ");
  CHECK(indexes_of("__shared__ float s[8][32]; s[0][threadIdx.x] = p[0];").empty());
  CHECK(indexes_of("__shared__ float s[4096]; s[threadIdx.x] = p[0];").empty());
  CHECK(indexes_of("int first = blockIdx.x * 32; int c = first + threadIdx.x; q[c] = 0;") ==
        "x:  x:  x=32 ");
}
