// No text makes the reader crash, hang or take its square.
#include <random>
#include <string>

#include "engine/source/launch.h"
#include "engine/source/signature.h"
#include "tests/catch.h"
#include "tests/fuzz/source_fuzz.h"

using namespace assay::source;

namespace {

const std::string kSample = R"cu(
#define N 16
#define DEFINE(name, T) __global__ void name##_k(T* x) { x[N] = 1; }
#if defined(FOO) // c
namespace a { /* x */
#endif
template <typename T, int K = (N > 3)> __global__ __launch_bounds__(N) void k(const T* __restrict__ x, T y[N] = {}) {}
DEFINE(foo, float)
extern "C" { __global__ void e(float (*p)[3], std::array<int, 3> q, ...); }
const char* s = R"x(__global__ ")x" "a\"b";
void host() { dim3 g(1, 2), b = dim3(3); k<float><<<g, 'c', sizeof(int)>>>(x, y); }
)cu";

#ifdef ASSAY_SANITIZED
constexpr std::size_t kLongBytes = 64U << 10;
#else
constexpr std::size_t kLongBytes = 1U << 20;
#endif

void feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::string repeated(const std::string& unit, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += unit;
  return text;
}

}  // namespace

TEST_CASE("every prefix and every suffix of a source keeps the reader's claims") {
  for (std::size_t i = 0; i <= kSample.size(); ++i) {
    feed(kSample.substr(0, i));
    feed(kSample.substr(i));
  }
  SUCCEED("none aborted");
}

TEST_CASE("random edits keep the reader's claims") {
  std::mt19937 random(7);
  const std::string pieces[] = {"<",   ">",  "<<<",        ">>>",      "(",   ")",
                                "{",   "}",  "\"",         "'",        "\\",  "\n",
                                "#",   "//", "__global__", "template", "R\"", "/*",
                                "*/",  "##", ",",          "=",        "::",  std::string(1, '\0'),
                                "\xff"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text = kSample;
    for (int edit = 0; edit < 4; ++edit) {
      const std::size_t at = random() % text.size();
      text.replace(at, random() % 3, pieces[random() % std::size(pieces)]);
    }
    feed(text);
  }
  SUCCEED("none aborted");
}

TEST_CASE("a megabyte of any one thing is read in about linear time") {
  for (const char* unit : {"(",
                           "{",
                           "[",
                           "<",
                           "a<",
                           "__global__ ",
                           "__global__ void k(",
                           "template <",
                           "k<<<",
                           "k<<<(",
                           "#define A B B\n#define B A A\nA ",
                           "namespace a {",
                           "\"",
                           "R\"(",
                           "'",
                           "#if 1\n",
                           "using a = ",
                           "typedef int ",
                           "dim3 a(",
                           "int a = ",
                           "__global__ void k() {}\n",
                           "#define A(x) x x\nA(A(",
                           "extern \"C\" { ",
                           "} ",
                           ") ",
                           "x\\\n",
                           "a,"}) {
    INFO(unit);
    feed(repeated(unit, kLongBytes));
  }
  SUCCEED("all ended: what took the square of a megabyte would not, within the test's limit");
}

TEST_CASE("macros that double do not explode") {
  std::string text = "#define A0 int x;\n";
  for (int i = 1; i < 60; ++i) {
    const std::string below = "A" + std::to_string(i - 1);
    text += "#define A" + std::to_string(i) + " " + below + " " + below + "\n";
  }
  feed(text + "A59\n__global__ void k() {}\n");
  SUCCEED("it ended");
}
