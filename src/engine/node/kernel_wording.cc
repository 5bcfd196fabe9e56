#include "engine/node/kernel_wording.h"

#include <cmath>
#include <cstdio>

namespace assay::node {

using nlohmann::json;

namespace {

std::string index_text(const json& index) {
  std::string text;
  for (const auto& part : index) text += (text.empty() ? "" : ", ") + part.dump();
  return "[" + text + "]";
}

// Of a check that speaks of no tensor; empty: it speaks of one.
std::string timing_text(const json& finding) {
  const std::string check = finding.at("check");
  if (check == "generalises") {
    const nlohmann::json& changed = finding.at("changed");
    const bool is_size = changed.contains("sizes");
    return std::string("It does not hold beyond what was asked: with ") +
           (is_size ? "sizes " + changed.at("sizes").dump()
                    : "inputs " + changed.at("inputs").get<std::string>()) +
           ": " + finding.at("summary").get<std::string>();
  }
  if (check == "remembers") {
    return "It is slower on contents that it was not shown before: " +
           std::to_string(std::lround(finding.at("shown_anew_ns").get<double>())) +
           " ns instead of " +
           std::to_string(std::lround(finding.at("repeated_ns").get<double>())) +
           " ns. It keeps results between launches, or its tensors in the cache, and its times are "
           "not those of its work.";
  }
  if (check == "leans_on_outputs") {
    return "It is faster on outputs that an earlier launch has left than on fresh ones: " +
           std::to_string(std::lround(finding.at("repeated_ns").get<double>())) +
           " ns a launch in a graph instead of " +
           std::to_string(std::lround(finding.at("fresh_ns").get<double>())) +
           " ns. It does less where its answer is there already.";
  }
  if (check == "did_nothing") {
    return "In " + finding.at("runs").dump() + " of " + finding.at("of").dump() +
           " timed runs it left its tensors as they were.";
  }
  if (check == "wall_clock") {
    return "Its times do not agree with the host's clock: " +
           finding.at("detail").get<std::string>() + ".";
  }
  if (check == "below_floor") {
    return "It claims " + std::to_string(std::lround(finding.at("claimed_ns").get<double>())) +
           " ns, and the device's memory takes " +
           std::to_string(std::lround(finding.at("must_ns").get<double>())) +
           " ns for what it must have written there (" + finding.at("must_bytes").dump() +
           " bytes).";
  }
  return {};
}

// Of floating-point numbers that are all nearly right: whoever sums in another order is off by that
// much, and so is a mistake in the last of many terms. Which of them it is the author must know.
std::string rounding_hint(const json& output) {
  constexpr double kNearlyRight = 2e-3;
  const json& worst = output.at("worst");
  const json error = worst.value("rel_error", json(nullptr));
  const bool is_near =
      worst.contains("ulp_error") && error.is_number() && error.get<double>() <= kNearlyRight &&
      output.value("nan_mismatches", 0) == 0 && output.value("infinity_mismatches", 0) == 0;
  if (!is_near) return {};
  char share[32];
  std::snprintf(share, sizeof share, "%.2g", 100 * error.get<double>());
  return " That is " + std::string(share) +
         " % off: if it is rounding (sums in another order, fewer bits within), `atol` and `rtol` "
         "say what is near enough.";
}

}  // namespace

json arguments_of(const contract::Contract& contract) {
  json list = json::array();
  for (const auto& arg : contract.args) {
    json item = {{"name", arg.name}, {"type", contract::name(arg.type)}};
    if (arg.is_tensor()) {
      item["shape"] = arg.tensor_spec->shape;
      item["dtype"] = contract::name(arg.tensor_spec->dtype);
      item["role"] = contract::name(arg.role);
      item["bytes"] = arg.tensor_spec->buffer_bytes();
    }
    list.push_back(std::move(item));
  }
  return list;
}

std::string step_after_crash(const json& detail) {
  const json line = detail.value(json::json_pointer("/fault/where/line"), json(0));
  const json printed = detail.value("printf", json(""));
  const bool is_known = line.is_number_integer() && line != 0;
  const bool is_printed =
      printed.is_string() && printed.get<std::string>().find("Assertion `") != std::string::npos;
  if (is_known || is_printed) return {};
  return ". `evaluate` with `checks: [\"memory\"]` names line and thread.";
}

std::string mismatch_summary(const json& output) {
  const json& worst = output.at("worst");
  std::string text = "Wrong output '" + output.at("name").get<std::string>() +
                     "': " + output.at("mismatches").dump() + " of " +
                     output.at("elements").dump() + " elements differ; worst at " +
                     index_text(worst.at("index")) + ": got " + worst.at("got").get<std::string>() +
                     ", want " + worst.at("want").get<std::string>() + ".";
  if (output.contains("pattern"))
    text += " Pattern: " + output.at("pattern").get<std::string>() + ".";
  return text + rounding_hint(output);
}

std::string place_text(const json& where) {
  const int line = where.at("line");
  if (line == 0) return {};
  return " at " + where.at("file").get<std::string>() + ":" + std::to_string(line);
}

std::string finding_text(const json& finding) {
  const std::string check = finding.at("check");
  if (std::string text = timing_text(finding); !text.empty()) return text;
  const std::string tensor = "'" + finding.at("tensor").get<std::string>() + "'";
  if (check == "precision") {
    const nlohmann::json& precision = finding.at("precision");
    const nlohmann::json& ratio = precision.at("over_trials").at("ratio");
    const std::string times =
        ratio.is_number() ? std::to_string(std::lround(ratio.get<double>())) + " times" : "beyond";
    return "Its error in " + tensor + " is " + times +
           " the reference's own, both against the reference in double: it computes in fewer bits.";
  }
  if (check == "out_of_bounds_read") {
    return "It reads outside its tensors" + place_text(finding.at("where")) +
           ", which a device lets pass while something is mapped there: " +
           finding.at("message").get<std::string>() + ".";
  }
  if (check == "input_mutated") {
    return "It writes to an input: declare " + tensor + " with role \"inout\" if it is meant.";
  }
  if (check == "unwritten") {
    return "It leaves " + finding.at("count").dump() + " of " + finding.at("elements").dump() +
           " elements of " + tensor + " unwritten, the first at " + finding.at("first").dump() +
           ".";
  }
  if (check == "repeat_differs") {
    return "Two runs on the same inputs gave different values in " + tensor +
           ": it may keep state between runs, race with itself, or read what it never wrote.";
  }
  if (check == "order_of_warps") {
    return "Run once more with its warps in another order, " + tensor +
           " is wrong: a barrier is missing, or a fence.";
  }
  return "Check " + check + " disagrees on " + tensor + ".";
}

}  // namespace assay::node
