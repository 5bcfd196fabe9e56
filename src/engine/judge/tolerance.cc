// Which tolerance is in force, and why.
#include "engine/contract/usual_tolerance.h"
#include "engine/judge/comparison.h"

namespace assay::judge {
namespace {

using contract::DType;

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
  const auto source = [&]() -> std::string_view {
    if (dtype == DType::float8_e4m3fn || dtype == DType::float8_e5m2) return kOneStep;
    return contract::is_floating(contract::component(dtype)) ? kTorchTesting : kExact;
  };
  return {.value = contract::usual_tolerance(dtype), .source = source_text(source(), dtype)};
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
