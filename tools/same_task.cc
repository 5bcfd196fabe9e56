#include "tools/same_task.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "engine/contract/usual_tolerance.h"

namespace assay::tools {
namespace {

using contract::Arg;
using contract::Contract;
using contract::Role;
using contract::TensorSpec;

std::string arg_pointer(const std::string& kernel, std::size_t index) {
  return kernel + "/io/args/" + std::to_string(index);
}

std::optional<std::size_t> index_of(const Contract& contract, const std::string& name) {
  for (std::size_t i = 0; i < contract.args.size(); ++i) {
    if (contract.args[i].name == name) return i;
  }
  return std::nullopt;
}

// A number as such: 2 and 2.0 are one value, and so are true and 1.
std::optional<long double> number_in(const contract::ScalarValue& value) {
  return std::visit(
      [](const auto& v) -> std::optional<long double> {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(v)>>) {
          return static_cast<long double>(v);
        } else {
          return std::nullopt;
        }
      },
      value);
}

bool same_value(const Arg& one, const Arg& other) {
  const auto a = number_in(one.value);
  const auto b = number_in(other.value);
  if (!a || !b) return one.value == other.value;
  return *a == *b || (*a != *a && *b != *b);  // NaN is given as such to both
}

std::string text_of(const contract::ScalarValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) {
          return "nothing";
        } else {
          return nlohmann::json(v).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        }
      },
      value);
}

// What the judged kernel's contract decides alone.
struct Decided {
  const char* member;
  const char* what;
  bool differs;
};

std::vector<Decided> decided_by_judged(const Arg& judged, const Arg& reference) {
  const TensorSpec& ours = *judged.tensor_spec;
  const TensorSpec& theirs = *reference.tensor_spec;
  // No init at all leaves it to the other, as no contract does.
  return {{"/tensor_spec/init", "contents", theirs.init && ours.init != theirs.init && !ours.data},
          {"/tensor_spec/data", "contents", theirs.data && ours.data != theirs.data},
          {"/tensor_spec/tolerance", "tolerance",
           theirs.tolerance && ours.tolerance != theirs.tolerance},
          {"/role", "role", judged.role != reference.role}};
}

// An output that one kernel computes and the other only reads would be compared with nothing.
bool contradict(Role one, Role other) { return (one == Role::input) != (other == Role::input); }

// Two tensors by one name are one tensor.
std::optional<std::string> other_tensor(const TensorSpec& one, const TensorSpec& other) {
  const auto shape_text = [](const TensorSpec& spec) { return nlohmann::json(spec.shape).dump(); };
  if (one.dtype != other.dtype) {
    return std::string(contract::name(one.dtype)) + " here and " +
           std::string(contract::name(other.dtype));
  }
  if (one.shape != other.shape) return shape_text(one) + " here and " + shape_text(other);
  if (one.strides != other.strides) return std::string("laid out otherwise here than");
  return std::nullopt;
}

contract::Tolerance in_force(const TensorSpec& tensor, const contract::ToleranceRequest& asked) {
  const contract::ToleranceRequest own = tensor.tolerance.value_or(contract::ToleranceRequest());
  const contract::Tolerance usual = contract::usual_tolerance(tensor.dtype);
  return {.atol = own.atol.value_or(asked.atol.value_or(usual.atol)),
          .rtol = own.rtol.value_or(asked.rtol.value_or(usual.rtol))};
}

std::string tolerance_text(const contract::Tolerance& tolerance) {
  return "atol " + nlohmann::json(tolerance.atol).dump() + ", rtol " +
         nlohmann::json(tolerance.rtol).dump();
}

}  // namespace

std::vector<contract::Violation> compares_nothing(const Contract& judged,
                                                  const std::string& judged_pointer) {
  for (const Arg& arg : judged.args) {
    if (arg.is_tensor() && arg.is_written() && arg.tensor_spec->elements() > 0) return {};
  }
  return {{judged_pointer + "/io/args",
           "no tensor with an element has the role output or inout: there is nothing to compare "
           "with a reference"}};
}

TaskDifferences compare_tasks(const Contract& judged, const std::string& judged_pointer,
                              const Contract& reference, const std::string& reference_pointer) {
  TaskDifferences found;
  for (std::size_t i = 0; i < reference.args.size(); ++i) {
    const Arg& theirs = reference.args[i];
    const auto index = index_of(judged, theirs.name);
    if (!index && theirs.is_tensor()) {
      found.violations.push_back({arg_pointer(reference_pointer, i) + "/name",
                                  "no tensor '" + theirs.name + "' is at " + judged_pointer +
                                      "/io/args: tensors are matched by name"});
    }
    if (!index || judged.args[*index].is_tensor() != theirs.is_tensor()) continue;
    const Arg& ours = judged.args[*index];
    const std::string at = arg_pointer(reference_pointer, i);
    const std::string other = arg_pointer(judged_pointer, *index);
    if (!theirs.is_tensor()) {
      if (same_value(ours, theirs)) continue;
      found.violations.push_back(
          {at + "/value", "'" + theirs.name + "' is " + text_of(theirs.value) + " here and " +
                              text_of(ours.value) + " at " + other +
                              "/value: both kernels are to compute the same. A parameter of one "
                              "kernel only needs a name of its own"});
      continue;
    }
    if (contradict(ours.role, theirs.role)) {
      found.violations.push_back(
          {at + "/role", "'" + theirs.name + "' is " + std::string(contract::name(theirs.role)) +
                             " here and " + std::string(contract::name(ours.role)) + " at " +
                             other + "/role"});
      continue;
    }
    if (const auto differs = other_tensor(*theirs.tensor_spec, *ours.tensor_spec)) {
      found.violations.push_back({at + "/tensor_spec", "'" + theirs.name + "' is " + *differs +
                                                           " at " + other + "/tensor_spec"});
      continue;
    }
    for (const Decided& decided : decided_by_judged(ours, theirs)) {
      if (!decided.differs) continue;
      found.warnings.push_back({at + decided.member, "has no effect: the " +
                                                         std::string(decided.what) + " of '" +
                                                         theirs.name + "' is taken from " + other +
                                                         ", for both kernels, and differs there"});
    }
  }
  return found;
}

contract::ToleranceRequest asked_tolerance(const mcp::Json& arguments) {
  const auto number = [&](const char* key) -> std::optional<double> {
    const auto found = arguments.find(key);
    if (found == arguments.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
  };
  return {.atol = number("atol"), .rtol = number("rtol")};
}

std::vector<contract::Violation> hold_to_reference(Contract& judged,
                                                   const std::string& judged_pointer,
                                                   const Contract& reference,
                                                   const contract::ToleranceRequest& asked) {
  std::vector<contract::Violation> warnings;
  for (std::size_t i = 0; i < judged.args.size(); ++i) {
    Arg& ours = judged.args[i];
    const auto index = index_of(reference, ours.name);
    if (!index || !ours.is_tensor() || !ours.is_written() || !ours.tensor_spec->tolerance) continue;
    const Arg& theirs = reference.args[*index];
    if (!theirs.is_tensor() || theirs.tensor_spec->dtype != ours.tensor_spec->dtype) continue;
    const auto given = in_force(*ours.tensor_spec, asked);
    const auto held = in_force(*theirs.tensor_spec, asked);
    if (given.atol <= held.atol && given.rtol <= held.rtol) continue;
    ours.tensor_spec->tolerance = theirs.tensor_spec->tolerance;
    warnings.push_back(
        {arg_pointer(judged_pointer, i) + "/tensor_spec/tolerance",
         "has no effect: it is looser than what the reference's contract leaves of '" + ours.name +
             "', and " + tolerance_text(held) +
             " holds. State it there, or in the call's atol and rtol"});
  }
  return warnings;
}

}  // namespace assay::tools
