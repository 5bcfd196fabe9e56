// A contract as a kernel takes it that computes in double.
#include "engine/contract/in_double.h"

#include <cmath>

#include "tests/catch.h"

using namespace assay::contract;

namespace {

Arg tensor(const char* name, DType dtype) {
  return {.name = name, .tensor_spec = TensorSpec{.shape = {4, 2}, .dtype = dtype}};
}

}  // namespace

TEST_CASE("floating-point tensors and typed scalars are wider, all else is as it was") {
  Contract contract{.args = {tensor("a", DType::float32), tensor("b", DType::bfloat16),
                             tensor("c", DType::complex64), tensor("i", DType::int16),
                             tensor("d", DType::float64)}};
  contract.args.push_back(
      {.name = "s", .type = ArgType::floating, .value = 0.1, .c_type = DType::float16});
  contract.args.push_back({.name = "n", .type = ArgType::integer, .value = std::int64_t{3}});
  const Contract wide = in_double(contract);
  CHECK(wide.args[0].tensor_spec->dtype == DType::float64);
  CHECK(wide.args[0].tensor_spec->shape == contract.args[0].tensor_spec->shape);
  CHECK(wide.args[1].tensor_spec->dtype == DType::float64);
  CHECK(wide.args[2].tensor_spec->dtype == DType::complex128);
  CHECK(wide.args[3] == contract.args[3]);
  CHECK(wide.args[4] == contract.args[4]);
  CHECK(wide.args[5].c_type == DType::float64);
  CHECK(wide.args[6] == contract.args[6]);
  CHECK(in_double(wide) == wide);
}

TEST_CASE("textures and eight-bit floats have no form in double") {
  Contract contract{.args = {tensor("a", DType::float32)}};
  CHECK_FALSE(why_not_in_double(contract));
  contract.args.push_back(tensor("q", DType::float8_e4m3fn));
  CHECK(why_not_in_double(contract)->find("'q' is float8_e4m3fn") == 0);
  contract.args.back() = tensor("t", DType::float32);
  contract.args.back().texture = Texture{};
  CHECK(why_not_in_double(contract)->find("'t' is a texture") == 0);
}

TEST_CASE("a scalar is the number that its type holds") {
  for (const double value :
       {0.1, -0.1, 1e-40, 1e-46, 3.4028234663852886e38, 16777217.0, 16777219.0, -0.0, 1.0 / 3}) {
    CHECK(held(value, DType::float32) == static_cast<double>(static_cast<float>(value)));
  }
  CHECK(std::isinf(held(1e39, DType::float32)));
  CHECK(held(0.1, DType::float16) == 0.0999755859375);
  CHECK(held(2049.0, DType::float16) == 2048.0);
  CHECK(held(2051.0, DType::float16) == 2052.0);
  CHECK(held(0x1p-24, DType::float16) == 0x1p-24);
  CHECK(held(0x1p-26, DType::float16) == 0.0);
  CHECK(held(65519.0, DType::float16) == 65504.0);
  CHECK(std::isinf(held(-65520.0, DType::float16)));
  CHECK(held(0.1, DType::bfloat16) == 0.10009765625);
  CHECK(held(0.1, DType::float64) == 0.1);
  CHECK(std::isnan(held(NAN, DType::float16)));
}
