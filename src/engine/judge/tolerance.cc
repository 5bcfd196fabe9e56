// Which tolerance is in force, and why.
#include "engine/judge/comparison.h"

namespace assay::judge {
namespace {

using contract::DType;
using contract::Tolerance;

constexpr std::string_view kTorchTesting = "default for {} (as torch.testing.assert_close)";
constexpr std::string_view kOneStep = "default for {} (one step of its mantissa)";
constexpr std::string_view kExact = "default for {} (exact)";

std::string source_text(std::string_view pattern, DType dtype) {
  std::string text(pattern);
  const std::size_t at = text.find("{}");
  return text.replace(at, 2, contract::name(dtype));
}

}  // namespace

ToleranceInForce default_tolerance(DType dtype) {
  auto with = [&](double atol, double rtol, std::string_view source) {
    return ToleranceInForce{.value = {.atol = atol, .rtol = rtol},
                            .source = source_text(source, dtype)};
  };
  switch (dtype) {
    case DType::float64:
    case DType::complex128:
      return with(1e-7, 1e-7, kTorchTesting);
    case DType::float32:
    case DType::complex64:
      return with(1e-5, 1.3e-6, kTorchTesting);
    case DType::float16:
      return with(1e-5, 1e-3, kTorchTesting);
    case DType::bfloat16:
      return with(1e-5, 1.6e-2, kTorchTesting);
    // Neighbours of an 8-bit type differ by up to 2^-3 (2^-2) of their value; atol is its smallest
    // number.
    case DType::float8_e4m3fn:
      return with(0x1p-9, 0x1p-3, kOneStep);
    case DType::float8_e5m2:
      return with(0x1p-16, 0x1p-2, kOneStep);
    default:
      return with(0, 0, kExact);
  }
}

ToleranceInForce tolerance_in_force(DType dtype,
                                    const std::optional<contract::ToleranceRequest>& output,
                                    const contract::ToleranceRequest& caller) {
  ToleranceInForce result = default_tolerance(dtype);
  const std::string by_default = result.source;
  auto choose = [&](double& value, std::optional<double> own, std::optional<double> asked) {
    if (own) {
      value = *own;
      return std::string("the output's tolerance");
    }
    if (asked) {
      value = *asked;
      return std::string("the request");
    }
    return by_default;
  };
  const std::string atol =
      choose(result.value.atol, output ? output->atol : std::nullopt, caller.atol);
  const std::string rtol =
      choose(result.value.rtol, output ? output->rtol : std::nullopt, caller.rtol);
  result.source = atol == rtol ? atol : "atol: " + atol + "; rtol: " + rtol;
  return result;
}

}  // namespace assay::judge
