// What stands in for the host's headers in device code: where it can, at the same columns.
#include "engine/source/substitutes.h"

#include "engine/source/device_code.h"
#include "tests/catch.h"

using namespace assay::source;

namespace {

std::string text_of(const std::vector<std::string>& options) {
  std::string text;
  for (const auto& option : options) text += option + " ";
  return text;
}

std::string options_of(std::string_view source) {
  return text_of(substitute_options(preprocess(source)));
}

}  // namespace

TEST_CASE("std::min and std::max of plain numbers are the compiler's own, at the same columns") {
  CHECK(with_device_std("y = std::max(a, std::min(b, 1));") == "y =      max(a,      min(b, 1));");
  CHECK(options_of("y = std::max(a, b);").empty());
  CHECK(with_device_std("#define LESS(v) std::min(v, 1.0f)\nLESS(x);") ==
        "#define LESS(v)      min(v, 1.0f)\nLESS(x);");
}

TEST_CASE("what the compiler's own cannot do is taken from the library") {
  for (const char* source : {"y = std::max<float>(a, 0);", "y = std::max({a, b, c});",
                             "using std::max;", "__half y = std::max(a, b);"}) {
    INFO(source);
    CHECK(options_of(source) == "--pre-include=cuda/std/functional ");
    CHECK(with_device_std(source).find("cuda::std::max") != std::string::npos);
  }
}

TEST_CASE("the functions of <cmath> are ours, and make no declaration the host's") {
  CHECK(with_device_std("y = std::tanh(x) + std::fmax(a, 1);\nstd::swap(a, b);") ==
        "y = assay::std::tanh(x) + assay::std::fmax(a, 1);\nassay::std::swap(a, b);");
  CHECK(options_of("y = std::tanh(x) + std::erf(x);") == "--pre-include=assay/cmath ");
  CHECK(options_of("__device__ float tanh2(float x); y = tanh(x);").empty());
  const DeviceCode code = device_code(
      "#include <cmath>\ntemplate <class T> constexpr T kOne = T(1);\n"
      "struct Gelu { template <class T> T of(T x) const { return x * (1 + std::erf(x)); } };\n"
      "__global__ void k(float* a) { *a = std::log1p(*a); }\n");
  CHECK(code.text.find("struct Gelu") != std::string::npos);
  CHECK(code.text.find("assay::std::erf(x)") != std::string::npos);
  REQUIRE(code.dropped.size() == 1);
  CHECK(code.dropped[0].what == "#include <cmath>");
}

TEST_CASE("what names the library already is left alone") {
  const std::string source = "y = cuda::std::max(a, b) + ::cuda::std::numeric_limits<int>::max();";
  CHECK(with_device_std(source) == source);
  CHECK(options_of(source).empty());
}

TEST_CASE("of cub the headers of what is used stand in for the one that no device can read") {
  const DeviceCode code = device_code(
      "#include <cub/cub.cuh>\n"
      "__global__ void k() { using R = cub::BlockReduce<float, 64>; cub::WarpScan<int> s; }\n");
  CHECK(text_of(code.options) ==
        "--pre-include=cub/block/block_reduce.cuh --pre-include=cub/warp/warp_scan.cuh ");
  CHECK(code.text.find("cub.cuh") == std::string::npos);
  REQUIRE(code.dropped.size() == 1);
  CHECK(code.dropped[0].what == "#include <cub/cub.cuh>");
}

TEST_CASE("a byte order mark is no part of the source") {
  const DeviceCode code = device_code("\xEF\xBB\xBF__global__ void k() {}\n");
  CHECK(code.text == "   __global__ void k() {}\n");
  CHECK(code.dropped.empty());
}

TEST_CASE("the fences of a chat's code are no part of the source, lines keep their numbers") {
  CHECK(device_code("```cuda\n__global__ void k() {}\n```\n").text ==
        "       \n__global__ void k() {}\n   \n");
  CHECK(device_code("__global__ void k() {}\n").text == "__global__ void k() {}\n");
}
