#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

std::vector<float> ramp(std::size_t n, float step) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(i % 1009) * step - 3.0F;
  return v;
}

void completes(const Outcome& o) {
  INFO(o.message << " " << o.fault.instruction);
  REQUIRE(o.ending == Ending::completed);
}

}  // namespace

TEST_CASE("vadd and saxpy compute every element and nothing else") {
  const auto module = parsed(ptx_file("elementwise"));
  std::vector<float> a = ramp(1000, 0.5F), b = ramp(1000, 0.25F), out(1000, -1.0F);
  completes(Call("vadd", {4}, {256})
                .buffer("a", a)
                .buffer("b", b)
                .buffer("out", out)
                .value(1000)
                .run(module));
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(out[i] == a[i] + b[i]);
  std::vector<float> y = b;
  completes(
      Call("saxpy", {3}, {96}).value(2.0F).buffer("x", a).buffer("y", y).value(999).run(module));
  for (std::size_t i = 0; i < 999; ++i) REQUIRE(y[i] == std::fma(2.0F, a[i], b[i]));
  REQUIRE(y[999] == b[999]);
}

TEST_CASE("a tiled matrix product equals the same sums on the host") {
  const int n = 64;
  std::vector<float> a = ramp(n * n, 0.01F), b = ramp(n * n, 0.02F), c(n * n);
  completes(Call("sgemm", {4, 4}, {16, 16})
                .buffer("a", a)
                .buffer("b", b)
                .buffer("c", c)
                .value(n)
                .run(parsed(ptx_file("cooperative"))));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) {
        sum = std::fma(a[static_cast<std::size_t>(i * n + k)],
                       b[static_cast<std::size_t>(k * n + j)], sum);
      }
      REQUIRE(c[static_cast<std::size_t>(i * n + j)] == sum);
    }
  }
}

TEST_CASE("reductions by shared memory and by shuffles give the sum") {
  const auto module = parsed(ptx_file("cooperative"));
  std::vector<float> x(5000, 1.0F);
  std::vector<float> out(1);
  completes(Call("block_sum", {4}, {256})
                .buffer("x", x)
                .buffer("out", out)
                .value(5000)
                .shared(1024)
                .run(module));
  REQUIRE(out[0] == 5000.0F);
  out[0] = 0;
  completes(Call("warp_sum", {7}, {160}).buffer("x", x).buffer("out", out).value(5000).run(module));
  REQUIRE(out[0] == 5000.0F);
}

TEST_CASE("softmax rows sum to one and keep their order") {
  const std::size_t rows = 5, columns = 300;
  std::vector<float> x = ramp(rows * columns, 0.013F), y(rows * columns);
  completes(Call("softmax", {5}, {128})
                .buffer("x", x)
                .buffer("y", y)
                .value(300)
                .run(parsed(ptx_file("cooperative"))));
  for (std::size_t r = 0; r < rows; ++r) {
    double top = -1e300, sum = 0;
    for (std::size_t i = 0; i < columns; ++i)
      top = std::max<double>(top, static_cast<double>(x[r * columns + i]));
    for (std::size_t i = 0; i < columns; ++i)
      sum += std::exp(static_cast<double>(x[r * columns + i]) - top);
    for (std::size_t i = 0; i < columns; ++i) {
      const double want = std::exp(static_cast<double>(x[r * columns + i]) - top) / sum;
      REQUIRE(static_cast<double>(y[r * columns + i]) == Approx(want).epsilon(1e-5));
    }
  }
}

TEST_CASE("a histogram counts every byte, on one thread and on several") {
  std::vector<unsigned char> x(20000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i * i % 251);
  std::vector<unsigned> want(256);
  for (const unsigned char v : x) ++want[v];
  for (const unsigned threads : {1U, 4U}) {
    std::vector<unsigned> bins(256);
    completes(Call("histogram", {16}, {128})
                  .buffer("x", x)
                  .buffer("bins", bins)
                  .value(20000)
                  .budget({.threads = threads})
                  .run(parsed(ptx_file("cooperative"))));
    REQUIRE(bins == want);
  }
}

TEST_CASE("lanes that wait for a lock held by a lane of their own warp get it in turn") {
  std::vector<int> counter(1);
  completes(
      Call("lane_lock", {2}, {64}).buffer("counter", counter).run(parsed(ptx_file("cooperative"))));
  REQUIRE(counter[0] == 128);
}

TEST_CASE("blocks that wait for one another run side by side on one host thread") {
  std::vector<int> out(6 * 32);
  Device device(parsed(ptx_file("cooperative")));
  completes(Call("grid_barrier", {6}, {32}).buffer("out", out).run(device));
  REQUIRE(std::all_of(out.begin(), out.end(), [](int v) { return v == 6; }));
}

TEST_CASE("divergent loops with break and return end as on the host") {
  std::vector<unsigned> x(256);
  std::iota(x.begin(), x.end(), 1U);
  std::vector<int> steps(256, -7);
  completes(Call("collatz", {2}, {128})
                .buffer("x", x)
                .buffer("steps", steps)
                .value(100)
                .run(parsed(ptx_file("control"))));
  for (std::size_t i = 0; i < 256; ++i) {
    unsigned v = x[i];
    int n = 0;
    while (v != 1 && n < 100) {
      v = (v & 1) != 0 ? 3 * v + 1 : v / 2;
      ++n;
    }
    REQUIRE(steps[i] == (v == 1 ? n : -1));
  }
}

TEST_CASE("functions recurse with arguments of their own per lane") {
  std::vector<int> n(64), out(64);
  for (std::size_t i = 0; i < 64; ++i) n[i] = static_cast<int>(i % 15);
  completes(Call("recursion", {2}, {32})
                .buffer("n", n)
                .buffer("out", out)
                .run(parsed(ptx_file("control"))));
  const int fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377};
  for (std::size_t i = 0; i < 64; ++i) REQUIRE(out[i] == fibonacci[i % 15]);
}

TEST_CASE("structures go by value into a call and out of it") {
  struct Pair {
    double a;
    int b;
    short c;
  };
  std::vector<Pair> out(33);
  completes(Call("struct_call", {1}, {33})
                .value(Pair{.a = 5.0, .b = 10, .c = -3})
                .buffer("out", out)
                .run(parsed(ptx_file("control"))));
  for (int i = 0; i < 33; ++i) {
    const Pair& p = out[static_cast<std::size_t>(i)];
    REQUIRE(p.a == 2.5);
    REQUIRE(p.b == 10 + i - 3);
    REQUIRE(p.c == -4);
  }
}

TEST_CASE("a call through a table of functions goes where each lane points") {
  std::vector<int> out(32);
  completes(Call("pointer_call", {1}, {32}).buffer("out", out).run(parsed(ptx_file("control"))));
  for (int i = 0; i < 32; ++i) {
    REQUIRE(out[static_cast<std::size_t>(i)] == (i % 2 == 1 ? i * (i + 1) : i + i + 1));
  }
}

TEST_CASE("printf formats its arguments in lane order") {
  const Outcome o = Call("hello", {1}, {32}).value(3).run(parsed(ptx_file("control")));
  completes(o);
  REQUIRE(o.printf_output ==
          "thread 0 of hello:  4.50 1234567890123 0xff z%\n"
          "thread 1 of hello:  4.50 1234567890123 0xff z%\n");
  REQUIRE_FALSE(o.printf_truncated);
}

TEST_CASE("constant memory, local arrays and switches hold their values") {
  const auto module = parsed(ptx_file("elementwise"));
  std::vector<int> index(64);
  std::iota(index.begin(), index.end(), 0);
  std::vector<float> squares(64);
  completes(Call("constant_lookup", {1}, {64})
                .buffer("index", index)
                .buffer("out", squares)
                .value(64)
                .run(module));
  for (int i = 0; i < 64; ++i) {
    REQUIRE(squares[static_cast<std::size_t>(i)] == static_cast<float>((i % 16) * (i % 16)));
  }
  std::vector<int> hash(64);
  completes(
      Call("local_array", {1}, {64}).buffer("x", index).buffer("out", hash).value(64).run(module));
  for (int i = 0; i < 64; ++i) {
    unsigned count[16] = {};
    for (int k = 0; k < 32; ++k) count[(i + k * k) & 15] += static_cast<unsigned>(k);
    unsigned sum = 0;
    for (int k = 0; k < 16; ++k) sum = sum * 31 + count[(k + i) & 15];
    REQUIRE(hash[static_cast<std::size_t>(i)] == static_cast<int>(sum));
  }
}

TEST_CASE("half, bfloat and double kernels agree with the host") {
  const auto module = parsed(ptx_file("elementwise"));
  std::vector<double> x(100), y(100);
  for (std::size_t i = 0; i < 100; ++i) x[i] = 0.05 * static_cast<double>(i);
  completes(Call("double_math", {1}, {128}).buffer("x", x).buffer("y", y).value(100).run(module));
  for (std::size_t i = 0; i < 100; ++i) {
    REQUIRE(y[i] == Approx(std::sqrt(x[i]) * std::exp(-x[i]) + 1.0 / (x[i] + 1.0)).epsilon(1e-14));
  }
  std::vector<float> f = ramp(100, 0.07F), g(100);
  completes(Call("float_math", {1}, {128}).buffer("x", f).buffer("y", g).value(100).run(module));
  for (std::size_t i = 0; i < 100; ++i) {
    const double v = static_cast<double>(f[i]);
    const double want = std::tanh(v) + std::exp(-v * v) + std::log(std::abs(v) + 1) + std::sin(v);
    REQUIRE(static_cast<double>(g[i]) == Approx(want).epsilon(1e-5).margin(1e-5));
  }
  // 1.0 * 0.5 + 2.0 in both halves; 3 * 2 in bfloat.
  std::vector<unsigned> hx(10, 0x3C003C00U), hy(10, 0x40004000U);
  completes(Call("half_axpy", {1}, {32}).buffer("x", hx).buffer("y", hy).value(10).run(module));
  REQUIRE(hy[9] == 0x41004100U);
  std::vector<unsigned short> bx(10, 0x4000), by(10);
  completes(Call("bfloat_scale", {1}, {32}).buffer("x", bx).buffer("y", by).value(10).run(module));
  REQUIRE(by[3] == 0x40C0);
}

TEST_CASE("module variables keep their values over launches until the device is reloaded") {
  const auto module = parsed(R"(
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 count = 5;
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  atom.global.add.u32 %r1, [count], 1;
  st.global.u32 [%rd1], %r1;
  ret;
})");
  Device device(module);
  std::vector<unsigned> out(1);
  completes(Call("k", {1}, {1}).buffer("out", out).run(device));
  REQUIRE(out[0] == 5);
  completes(Call("k", {1}, {1}).buffer("out", out).run(device));
  REQUIRE(out[0] == 6);
  device.reload();
  completes(Call("k", {1}, {1}).buffer("out", out).run(device));
  REQUIRE(out[0] == 5);
}

TEST_CASE("one host thread gives the same bytes every time") {
  std::vector<float> x = ramp(5000, 0.37F);
  std::vector<float> first(1), second(1);
  const auto module = parsed(ptx_file("cooperative"));
  completes(Call("block_sum", {9}, {128})
                .buffer("x", x)
                .buffer("out", first)
                .value(5000)
                .shared(512)
                .run(module));
  completes(Call("block_sum", {9}, {128})
                .buffer("x", x)
                .buffer("out", second)
                .value(5000)
                .shared(512)
                .run(module));
  REQUIRE(first[0] == second[0]);
}
