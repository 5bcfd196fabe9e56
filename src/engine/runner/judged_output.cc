#include "engine/runner/judged_output.h"

#include <cmath>

namespace assay::runner {
namespace {

using nlohmann::json;

// JSON has no infinity or NaN; the report spells them.
json number(std::uint64_t value) { return value; }
json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

json describe(const judge::BadElement& element) {
  json out = {{"index", element.index},
              {"position", element.position},
              {"got", element.got},
              {"want", element.want},
              {"abs_error", number(element.abs_error)},
              {"rel_error", number(element.rel_error)}};
  if (element.ulp_error) out["ulp_error"] = *element.ulp_error;
  return out;
}

}  // namespace

json describe(const judge::Comparison& comparison) {
  // Beside mismatches a greatest error of 0 is none that was measured: all of them are NaN or
  // infinite (relative: or 0 is wanted; steps: or the type has none).
  const auto measured = [&](auto greatest) -> json {
    if (greatest > 0 || comparison.mismatches == 0) return number(greatest);
    return nullptr;
  };
  json out = {{"mismatches", comparison.mismatches},
              {"elements", comparison.elements},
              {"nan_mismatches", comparison.nan_mismatches},
              {"infinity_mismatches", comparison.infinity_mismatches},
              {"max_abs_error", measured(comparison.max_abs_error)},
              {"max_rel_error", measured(comparison.max_rel_error)},
              {"max_ulp_error", measured(comparison.max_ulp_error)}};
  if (comparison.worst) out["worst"] = describe(*comparison.worst);
  if (!comparison.first.empty()) {
    out["first"] = json::array();
    for (const auto& element : comparison.first) out["first"].push_back(describe(element));
  }
  if (!comparison.pattern.empty()) out["pattern"] = comparison.pattern;
  if (!comparison.map.counts.empty()) {
    out["map"] = {{"rows", comparison.map.rows},
                  {"columns", comparison.map.columns},
                  {"counts", comparison.map.counts}};
  }
  return out;
}

json describe(const judge::Precision& precision, bool same) {
  if (!same) {
    return {{"unusable",
             "in double the reference differs from itself by more than the tolerance: it draws "
             "random numbers, or its inputs amplify the last bit"}};
  }
  return {{"error", number(precision.error)},
          {"max_error", number(precision.max_error)},
          {"reference_error", number(precision.reference_error)},
          {"reference_max_error", number(precision.reference_max_error)},
          {"rounding_error", number(precision.rounding_error)},
          {"ratio", number(precision.ratio)},
          {"elements", precision.elements}};
}

json describe_over_trials(const judge::Precision& all, const judge::RatioLimits& limits) {
  const judge::Bits bits = judge::bits_of(all, limits);
  return {{"ratio", std::isfinite(all.ratio) ? json(all.ratio) : json(nullptr)},
          {"elements", all.elements},
          {"limit", limits.cancelling},
          {"plain_limit", limits.plain},
          {"lost", bits == judge::Bits::fewer},
          {"unclear", bits == judge::Bits::unclear}};
}

bool is_poisoned(const contract::Arg& argument) {
  const contract::TensorSpec& tensor = *argument.tensor_spec;
  return argument.role == contract::Role::output && !tensor.init && !tensor.data;
}

json judged_output(const contract::Arg& argument, const judge::ToleranceInForce& tolerance) {
  const contract::TensorSpec& tensor = *argument.tensor_spec;
  return {{"name", argument.name},
          {"dtype", contract::name(tensor.dtype)},
          {"shape", tensor.shape},
          {"tolerance",
           {{"atol", tolerance.value.atol},
            {"rtol", tolerance.value.rtol},
            {"source", tolerance.source}}},
          {"ok", true}};
}

}  // namespace assay::runner
