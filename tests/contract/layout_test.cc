// The arena: aligned, guarded, never overlapping, whatever the tensors.
#include "engine/contract/layout.h"

#include "tests/catch.h"

namespace {
using namespace assay::contract;

Arg tensor(std::string name, std::vector<std::int64_t> shape, DType dtype) {
  return {.name = std::move(name),
          .tensor_spec = TensorSpec{.shape = std::move(shape), .dtype = dtype}};
}
}  // namespace

TEST_CASE("every tensor lies aligned between guards of its own") {
  Contract contract;
  std::uint64_t state = 1;
  for (int i = 0; i < 200; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto extent = static_cast<std::int64_t>((state >> 33) % 3000);
    const DType dtype = all_dtypes()[(state >> 50) % all_dtypes().size()];
    if (i % 10 == 3)
      contract.args.push_back({.name = "s", .type = ArgType::integer, .value = std::int64_t{1}});
    contract.args.push_back(tensor("t" + std::to_string(i), {extent}, dtype));
  }
  const Layout arena = layout(contract);
  REQUIRE(arena.placements.size() == 200);
  std::uint64_t previous_end = 0;
  for (const Placement& p : arena.placements) {
    const Arg& arg = contract.args[p.arg_index];
    CHECK(p.name == arg.name);
    CHECK(p.bytes == arg.tensor_spec->buffer_bytes());
    CHECK(p.guard_begin == previous_end);
    CHECK(p.offset % 512 == 0);
    CHECK(p.offset - p.guard_begin >= 512);
    CHECK(p.guard_end - (p.offset + p.bytes) >= 512);
    CHECK(p.guard_end - (p.offset + p.bytes) < 512 + 512);
    previous_end = p.guard_end;
  }
  CHECK(arena.total_bytes == previous_end);
  CHECK(layout(contract) == arena);
}

TEST_CASE("a contract without tensors needs no memory, one without elements only guards") {
  CHECK(layout(Contract{}).total_bytes == 0);
  Contract empty;
  empty.args.push_back(tensor("e", {0, 5}, DType::float64));
  CHECK(layout(empty).total_bytes == 1024);
  CHECK(layout(empty).placements.at(0).bytes == 0);
}

TEST_CASE("dtypes know their sizes and bounds") {
  CHECK(size_bytes(DType::complex128) == 16);
  CHECK(size_bytes(DType::float8_e5m2) == 1);
  CHECK(lowest_integer(DType::int8) == -128);
  CHECK(highest_integer(DType::int8) == 127);
  CHECK(lowest_integer(DType::int64) == std::numeric_limits<std::int64_t>::min());
  CHECK(highest_integer(DType::int64) ==
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  CHECK(highest_integer(DType::uint64) == std::numeric_limits<std::uint64_t>::max());
  CHECK(lowest_integer(DType::uint16) == 0);
  CHECK(highest_integer(DType::uint16) == 65535);
  CHECK(highest_finite(DType::bfloat16) == 3.3895313892515355e38);
  for (const DType dtype : all_dtypes()) {
    const int families =
        is_floating(dtype) + is_complex(dtype) + is_integer(dtype) + (dtype == DType::boolean);
    CHECK(families == 1);
    CHECK((is_complex(dtype) == (component(dtype) != dtype)));
  }
  CHECK(parse_c_type("unsigned long long") == DType::uint64);
  CHECK(parse_c_type("unsigned long long int") == DType::uint64);
  CHECK(parse_c_type("unsigned short int") == DType::uint16);
  CHECK(parse_c_type("short int") == DType::int16);
  CHECK(parse_c_type("signed") == DType::int32);
  CHECK(parse_c_type("float") == DType::float32);
  CHECK(!parse_c_type("struct point"));
}
