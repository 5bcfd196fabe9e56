// How far accesses reach, against every thread of the launch counted out one by one.
#include "engine/source/reach.h"

#include <functional>

#include "tests/catch.h"

namespace {

using namespace assay::source;

constexpr std::int64_t kRows = 37;
constexpr std::int64_t kColumns = 50;

struct Thread {
  std::int64_t bx, by, tx, ty;
};

// The greatest of f over a launch of 3 x 2 blocks of 16 x 8 threads; less than 0: no access.
std::int64_t counted(const std::function<std::int64_t(const Thread&)>& f) {
  std::int64_t greatest = -1;
  for (std::int64_t bx = 0; bx < 3; ++bx)
    for (std::int64_t by = 0; by < 2; ++by)
      for (std::int64_t tx = 0; tx < 16; ++tx)
        for (std::int64_t ty = 0; ty < 8; ++ty) greatest = std::max(greatest, f({bx, by, tx, ty}));
  return greatest;
}

std::optional<Interval> reach_of(const std::string& body, std::string_view array = "x",
                                 const std::string& before = "") {
  const std::string source =
      before + "__global__ void k(float* x, const float* y, int rows, int columns) {" + body + "}";
  const Unit unit = preprocess(source);
  const auto found = find_kernels(unit);
  REQUIRE(found.kernels.size() == 1);
  const auto extent = [](std::int64_t value) {
    return Interval{value, value, std::to_string(value)};
  };
  const Reach reach(
      unit, found.kernels[0],
      {.grid = {extent(3), extent(2), extent(1)}, .block = {extent(16), extent(8), extent(1)}},
      [](std::string_view name) -> std::optional<std::int64_t> {
        if (name == "rows") return kRows;
        if (name == "columns") return kColumns;
        return std::nullopt;
      });
  return reach.of(array);
}

struct Row {
  const char* body;
  std::function<std::int64_t(const Thread&)> index;
};

}  // namespace

TEST_CASE("the greatest index is the one that a thread of the launch reaches") {
  const Row rows[] = {
      {"int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < columns) x[i] = 0;",
       [](const Thread& t) { return std::min(t.bx * 16 + t.tx, kColumns - 1); }},
      {"int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y; x[j * columns + "
       "i] = 0;",
       [](const Thread& t) { return (t.by * 8 + t.ty) * kColumns + t.bx * 16 + t.tx; }},
      {"float* row = x + (size_t)blockIdx.x * columns; for (int c = threadIdx.x; c < columns; c += "
       "blockDim.x) row[c] = 0;",
       [](const Thread& t) { return t.bx * kColumns + kColumns - 1; }},
      {"x += blockIdx.y * columns; x[threadIdx.x] = 0;",
       [](const Thread& t) { return t.by * kColumns + t.tx; }},
      {"int half = columns / 2; float* p = &x[half]; p[threadIdx.y * 2 + 1] = 0;",
       [](const Thread& t) { return kColumns / 2 + t.ty * 2 + 1; }},
      {"int row0 = blockIdx.y * 32; for (int j = threadIdx.y; j < 32; j += 8) if (row0 + j < rows) "
       "x[(row0 + j) * columns] = 0;",
       [](const Thread&) { return (kRows - 1) * kColumns; }},
      {"int t = threadIdx.x; x[t >> 2] = 0; x[(t << 1) & 31] = 0;",
       [](const Thread& t) { return std::max(t.tx >> 2, (t.tx << 1) & 31); }},
      {"int last = min(columns, (int)(blockIdx.x + 1) * 16); for (int c = blockIdx.x * 16; c < "
       "last; ++c) x[c] = 0;",
       [](const Thread& t) { return std::min(kColumns, (t.bx + 1) * 16) - 1; }},
      {"int e = threadIdx.x; x[e % 5 + e / 5 * 7] = 0;",
       [](const Thread&) {
         return std::int64_t{4 + 3 * 7};
       }},  // the parts' own greatest: 15 / 5, 4
      {"for (int s = 8; s > 0; s >>= 1) x[threadIdx.x + s] = 0;",
       [](const Thread& t) { return t.tx + 8; }},
      {"atomicAdd(&x[blockIdx.x], 1.0f); *(x + threadIdx.y) = 1;",
       [](const Thread& t) { return std::max(t.bx, t.ty); }},
      {"x[threadIdx.x < 4 ? 20 : threadIdx.x] = 0;",
       [](const Thread&) { return std::int64_t{20}; }}};
  for (const Row& row : rows) {
    INFO(row.body);
    const auto reached = reach_of(row.body);
    REQUIRE(reached);
    CHECK(reached->high == counted(row.index));
  }
}

TEST_CASE("what depends on data, on calls or on unbounded growth is not guessed") {
  for (const char* body : {"x[(int)y[0]] = 0;", "int i = 0; while (true) { x[i] = 0; i++; }",
                           "f(x);", "x[f(threadIdx.x)] = 0;", "float* p = g(x); p[0] = 0;",
                           "x += rows; x += columns; x[0] = 0;", ""}) {
    INFO(body);
    CHECK_FALSE(reach_of(body));
  }
}

TEST_CASE("dynamic shared memory is found at any level, and how far it is used") {
  const auto at_file =
      reach_of("float* a = tiles; float* b = tiles + 64; a[threadIdx.x] = b[threadIdx.y] = 0;",
               "tiles", "extern __shared__ float tiles[];\n");
  REQUIRE(at_file);
  CHECK(at_file->high == 64 + 7);
  const auto inside =
      reach_of("extern __shared__ float s[]; s[threadIdx.x + blockDim.x] = 0;", "s");
  REQUIRE(inside);
  CHECK(inside->high == 31);
}

TEST_CASE("the spelling of the greatest index means the same at another size") {
  const auto reached = reach_of(
      "for (int i = threadIdx.x; i < columns; i += blockDim.x) x[i * (columns / 3) + rows] = 0;");
  REQUIRE(reached);
  CHECK(reached->upper == "(columns-1)*(columns/3)+rows");
  CHECK(reached->high == (kColumns - 1) * (kColumns / 3) + kRows);
}

TEST_CASE("a star and an atomic on the bare name reach the first element") {
  for (const char* body :
       {"*x = 1;", "if (rows) { *x = y[0]; }", "atomicAdd(x, 1.0f);", "float s = *x; x[0] = s;"}) {
    INFO(body);
    const auto reached = reach_of(body);
    REQUIRE(reached);
    CHECK(reached->high == 0);
  }
}

TEST_CASE("the greatest index is spelled in names, not in the numbers they have here") {
  const std::pair<const char*, const char*> cases[] = {
      {"for (int i = 0; i < columns - rows / 2; ++i) x[i] = 0;", "columns-rows/2-1"},
      {"int half = columns / 2; for (int i = 0; i < rows * half; ++i) x[i / half] = 0;",
       "(rows*(columns/2)-1)/(columns/2)"},
      {"for (int i = 0; i < rows * columns * 3; ++i) x[i / (columns * 3)] = 0;",
       "(rows*columns*3-1)/(columns*3)"},
      {"for (int i = 0; i < rows; ++i) x[i / columns * 3] = 0;", "(rows-1)/columns*3"},
  };
  for (const auto& [body, upper] : cases) {
    INFO(body);
    const auto reached = reach_of(body);
    REQUIRE(reached);
    CHECK(reached->upper == upper);
  }
}

TEST_CASE("accesses that cannot be followed do not hide how far the others reach") {
  const std::string source =
      "__global__ void k(const float* x, const int* at, float* out, int n) {"
      "int i = threadIdx.x; if (i < n) out[i] = x[i + 3] + x[at[i]]; }";
  const Unit unit = preprocess(source);
  const auto found = find_kernels(unit);
  REQUIRE(found.kernels.size() == 1);
  const Interval one{1, 1, "1"};
  const Reach reach(unit, found.kernels[0], {.grid = {one, one, one}, .block = {one, one, one}},
                    [](std::string_view name) -> std::optional<std::int64_t> {
                      return name == "n" ? std::optional<std::int64_t>(1) : std::nullopt;
                    });
  CHECK_FALSE(reach.of("x"));
  REQUIRE(reach.at_least("x"));
  CHECK(reach.at_least("x")->high == 3);
}
