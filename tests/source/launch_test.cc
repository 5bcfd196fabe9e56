// Launches in host code, with the values their expressions name.
#include "engine/source/launch.h"

#include <algorithm>

#include "engine/source/python_text.h"
#include "tests/catch.h"

using namespace assay::source;

TEST_CASE("a launch gives kernel, configuration and arguments as they are written") {
  const auto list = launches(R"(
void run(torch::Tensor x) {
  const int threads = 256;
  int n = x.numel();
  dim3 blocks((n + threads - 1) / threads, 2);
  ops::scale<float, 4><<<blocks, threads, 2 * sizeof(float), stream>>>(x.data_ptr<float>(), std::max(n, 1));
})");
  REQUIRE(list.size() == 1);
  const Launch& launch = list.front();
  CHECK(launch.kernel == "ops::scale");
  CHECK(launch.instance() == "ops::scale<float, 4>");
  CHECK(launch.grid == "blocks");
  CHECK(launch.block == "threads");
  CHECK(launch.shared_bytes == "2* sizeof(float)");
  CHECK(launch.stream == "stream");
  CHECK(launch.arguments == std::vector<std::string>{"x.data_ptr<float>()", "std::max(n, 1)"});
  CHECK(launch.line == 6);
  CHECK(launch.values.at("threads") == "256");
  CHECK(launch.values.at("blocks") == "dim3((n + threads - 1) / threads, 2)");
  CHECK(launch.values.at("n") == "x.numel()");
}

TEST_CASE("shifts and comments are no launches; macros and lambdas hide none") {
  CHECK(launches("int a = b << 3 >> 2; // k<<<1, 2>>>(x);\n const char* s = \"k<<<1,1>>>()\";")
            .empty());
  const auto list = launches(
      "AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"k\", ([&] {\n  k<scalar_t><<<(n + 7) >> 3, "
      "dim3(8, 8)>>>"
      "(x.data_ptr<scalar_t>());\n}));\n#define GO(kernel) kernel<<<1, 32>>>()\nvoid f() { "
      "GO(other); }");
  REQUIRE(list.size() == 2);
  CHECK(list[0].instance() == "k<scalar_t>");
  CHECK(list[0].block == "dim3(8, 8)");
  CHECK(list[0].line == 2);
  CHECK(list[1].kernel == "other");
  CHECK(list[1].shared_bytes.empty());
}

TEST_CASE("Python strings are found with what they are assigned to") {
  const std::string file = R"(import torch
from torch.utils.cpp_extension import load_inline
# cuda_source = "no"
cuda_src = r'''
__global__ void k(float* x) { printf("hi\n"); }
'''
cpp_src = "void f(torch::Tensor x);"
module = load_inline(name="m", cpp_sources=[cpp_src], cuda_sources=cuda_src, functions=["f"])
)";
  CHECK(looks_like_python(file));
  const auto texts = read_python(file).texts;
  REQUIRE(texts.size() == 4);  // the sources, the name of the module and of a function
  const auto of = [&](const std::string& keyword) {
    return *std::find_if(texts.begin(), texts.end(),
                         [&](const PythonText& text) { return text.keyword == keyword; });
  };
  CHECK(of("cuda_sources").text.lines.front() == 4);
  CHECK(of("cuda_sources").holds_kernels());
  CHECK(of("cuda_sources").text.bytes.find("hi\\n") != std::string::npos);
  CHECK_FALSE(of("cpp_sources").holds_kernels());
  CHECK_FALSE(looks_like_python("#include <cuda.h>\n__global__ void k() {}\n"));
  CHECK_FALSE(
      looks_like_python("// import torch\nclass Foo { int x; };\n__global__ void k() {}\n"));
}
