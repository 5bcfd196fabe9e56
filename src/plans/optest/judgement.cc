#include "plans/optest/judgement.h"

#include <cmath>

#include "engine/judge/comparison.h"
#include "plans/optest/builtins.h"
#include "plans/optest/numbers.h"
#include "plans/optest/tensor_file.h"
#include "plans/optest/tokens.h"
#include "plans/optest/told_types.h"

namespace assay::optest {
namespace {

namespace fs = std::filesystem;
using contract::DType;
using nlohmann::json;

constexpr double kMostZeros = 0.9;

// Sums over all elements, for the metrics that are not element by element.
struct Aggregate {
  double max_abs = 0;
  double mean_abs = 0;
  double mean_reference = 0;
  double cosine = 1;
  bool all_finite = true;
  std::uint64_t zeros = 0;
};

Aggregate aggregate(const Numbers& want, const Numbers& got) {
  Aggregate sums;
  long double error = 0;
  long double reference = 0;
  long double dot = 0;
  long double norm_want = 0;
  long double norm_got = 0;
  const std::uint64_t count = want.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    const double w = want.real(i);
    const double g = got.real(i);
    if (!std::isfinite(w) || !std::isfinite(g)) sums.all_finite = false;
    if (w == 0) ++sums.zeros;
    const long double difference = std::fabs(static_cast<long double>(g) - w);
    if (difference > sums.max_abs) sums.max_abs = static_cast<double>(difference);
    error += difference;
    reference += std::fabs(w);
    dot += static_cast<long double>(w) * g;
    norm_want += static_cast<long double>(w) * w;
    norm_got += static_cast<long double>(g) * g;
  }
  if (count > 0) {
    sums.mean_abs = static_cast<double>(error / static_cast<long double>(count));
    sums.mean_reference = static_cast<double>(reference / static_cast<long double>(count));
  }
  // Two zero vectors point the same way; a zero vector and another do not.
  if (norm_want == 0 || norm_got == 0)
    sums.cosine = norm_want == norm_got ? 1 : 0;
  else
    sums.cosine = static_cast<double>(dot / (std::sqrt(norm_want) * std::sqrt(norm_got)));
  return sums;
}

std::string number(double value) { return json(value).dump(); }

json finite_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

std::string index_text(const std::vector<std::int64_t>& index) {
  std::string text;
  for (const auto one : index) text += (text.empty() ? "" : ",") + std::to_string(one);
  return "[" + text + "]";
}

// One output against its golden.
class OutputJudge {
 public:
  OutputJudge(const Assertion& assertion, std::size_t index, DType dtype, const Shape& shape)
      : assertion_(assertion), index_(index), dtype_(dtype), shape_(shape) {}

  void judge(std::span<const std::byte> want, std::span<const std::byte> got, Judged& into) const {
    const judge::Comparison seen = judge::compare(
        want, got, dtype_, shape_.extents, {.atol = assertion_.atol, .rtol = assertion_.rtol});
    const Aggregate sums = aggregate(decode(want, dtype_, shape_), decode(got, dtype_, shape_));
    json metrics = {{"elements", seen.elements},
                    {"mismatches", seen.mismatches},
                    {"max_abs", finite_or_null(seen.max_abs_error)},
                    {"max_rel", finite_or_null(seen.max_rel_error)},
                    {"mean_abs", finite_or_null(sums.mean_abs)},
                    {"cosine", finite_or_null(sums.cosine)},
                    {"all_finite", sums.all_finite}};
    into.metrics[name()] = std::move(metrics);
    warn(sums, into);
    const std::string fault = assertion_.metric == "mean_abs" ? mean_fault(sums)
                              : assertion_.metric == "cosine" ? cosine_fault(sums)
                                                              : element_fault(seen);
    if (fault.empty()) return;
    into.ok = false;
    into.details += (into.details.empty() ? "" : "; ") + name() + ": " + fault;
  }

 private:
  [[nodiscard]] std::string name() const { return "output" + std::to_string(index_); }

  void warn(const Aggregate& sums, Judged& into) const {
    const auto elements = static_cast<double>(shape_.elements());
    if (shape_.elements() == 0)
      into.warnings.push_back("MISTRUSTED: " + name() +
                              " has no elements: nothing of it was compared");
    if (shape_.elements() >= 2 && static_cast<double>(sums.zeros) > kMostZeros * elements) {
      into.warnings.push_back("MISTRUSTED: " + name() + ": " + std::to_string(sums.zeros) + " of " +
                              std::to_string(shape_.elements()) +
                              " expected elements are 0: an operator that writes zeros would "
                              "nearly pass");
    }
  }

  static std::string element_fault(const judge::Comparison& seen) {
    if (seen.equal) return {};
    const judge::BadElement& worst = *seen.worst;
    std::string text = std::to_string(seen.mismatches) + " of " + std::to_string(seen.elements) +
                       " mismatched, worst at " + index_text(worst.index) + " got " + worst.got +
                       " want " + worst.want + " (max_abs " + number(seen.max_abs_error) + ")";
    if (!seen.pattern.empty()) text += "; " + seen.pattern;
    return text;
  }

  [[nodiscard]] std::string mean_fault(const Aggregate& sums) const {
    const double allowed = assertion_.atol + assertion_.rtol * sums.mean_reference;
    if (sums.all_finite && sums.mean_abs <= allowed) return {};
    return "mean_abs " + number(sums.mean_abs) + " above " + number(allowed) +
           (sums.all_finite ? "" : " (NaN or infinity among the elements)");
  }

  [[nodiscard]] std::string cosine_fault(const Aggregate& sums) const {
    const double wanted = 1 - assertion_.rtol;
    if (sums.all_finite && sums.cosine >= wanted) return {};
    return "cosine " + number(sums.cosine) + " below " + number(wanted) +
           (sums.all_finite ? "" : " (NaN or infinity among the elements)");
  }

  const Assertion& assertion_;
  const std::size_t index_;
  const DType dtype_;
  const Shape& shape_;
};

std::vector<std::string> texts(const std::vector<fs::path>& paths) {
  std::vector<std::string> list;
  for (const auto& path : paths) list.push_back(path.string());
  return list;
}

Judged judge_custom(const Case& one, const ShapeEntry& shapes, const Resolved& resolved,
                    CustomFunctions& functions, const std::stop_token& stop) {
  const Assertion& assertion = one.assertion;
  FunctionCall call{.source = assertion.source,
                    .name = assertion.name,
                    .arguments = {{"input_paths", texts(resolved.inputs)},
                                  {"output_paths", texts(resolved.outputs)},
                                  {"shapes",
                                   {{"inputs", told_shapes(shapes.inputs)},
                                    {"outputs", told_shapes(shapes.outputs)}}},
                                  {"dtypes", told_dtypes(one.dtypes)},
                                  {"output_dtypes", told_dtypes(assertion.output_dtypes)},
                                  {"params", assertion.params},
                                  {"rtol", assertion.rtol},
                                  {"atol", assertion.atol},
                                  {"metric", assertion.metric}},
                    .readable = texts(resolved.inputs)};
  for (const auto& output : texts(resolved.outputs)) call.readable.push_back(output);
  const FunctionEnd end = functions.call(call, std::chrono::minutes(10), stop);
  if (!end.problem.empty()) {
    return {.is_error = true, .details = "assertion " + call.name + ": " + end.problem};
  }
  return {.ok = end.result.value("ok", false),
          .details = end.result.value("details", ""),
          .metrics = end.result.value("metrics", json::object())};
}

// Nothing to compare with: present, of the right size, finite.
Judged look_only(const Case& one, const ShapeEntry& shapes,
                 const std::vector<std::vector<std::byte>>& outputs) {
  Judged judged{.ok = true, .checked = false};
  judged.warnings.emplace_back(
      "MISTRUSTED: builtin.identity has no params.golden, so only presence, size and finiteness of "
      "the outputs were looked at");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Numbers got = decode(outputs[i], one.assertion.output_dtypes[i], shapes.outputs[i]);
    for (std::uint64_t k = 0; k < got.reals.size(); ++k) {
      if (std::isfinite(got.reals[k])) continue;
      judged.ok = false;
      judged.details =
          "output" + std::to_string(i) + ": element " + std::to_string(k) + " is not finite";
      break;
    }
  }
  return judged;
}

bool squeezes_to(const Shape& a, const Shape& b) {
  Shape left;
  Shape right;
  for (const auto extent : a.extents) {
    if (extent != 1) left.extents.push_back(extent);
  }
  for (const auto extent : b.extents) {
    if (extent != 1) right.extents.push_back(extent);
  }
  return left == right;
}

}  // namespace

std::vector<std::vector<std::byte>> golden_of(const Case& one, const ShapeEntry& shapes,
                                              const Resolved& resolved) {
  const Assertion& assertion = one.assertion;
  std::vector<std::vector<std::byte>> golden;
  if (assertion.name == "builtin.identity") {
    const json files = assertion.params.value("golden", json::array());
    if (files.empty()) return golden;
    if (!files.is_array() || files.size() != resolved.outputs.size()) {
      throw ReferenceFault("params.golden names one file per output");
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (!files[i].is_string()) throw ReferenceFault("params.golden names files");
      const std::string file = substitute(files[i].get<std::string>(), resolved.tokens);
      golden.push_back(read_tensor((resolved.workdir / file).lexically_normal(),
                                   assertion.output_dtypes[i], shapes.outputs[i]));
    }
    return golden;
  }
  if (resolved.outputs.size() != 1) {
    throw ReferenceFault(assertion.name + " gives one output, the case has " +
                         std::to_string(resolved.outputs.size()));
  }
  std::vector<Numbers> inputs;
  for (std::size_t i = 0; i < resolved.inputs.size(); ++i) {
    inputs.push_back(decode(read_tensor(resolved.inputs[i], one.dtypes[i], shapes.inputs[i]),
                            one.dtypes[i], shapes.inputs[i]));
  }
  json params = assertion.params;
  if (assertion.name == "builtin.broadcast_to" && !params.contains("shape")) {
    params["shape"] = shapes.outputs[0].extents;
  }
  const Numbers result = compute_builtin(assertion.name, inputs, params);
  if (!squeezes_to(result.shape, shapes.outputs[0])) {
    throw ReferenceFault(assertion.name + " gives " + result.shape.text() + ", the case says " +
                         shapes.outputs[0].text());
  }
  golden.push_back(encode(result, assertion.output_dtypes[0]));
  return golden;
}

Judged judge_outputs(const Case& one, const ShapeEntry& shapes, const Resolved& resolved,
                     CustomFunctions& functions, const std::stop_token& stop) {
  std::vector<std::vector<std::byte>> outputs;
  for (std::size_t i = 0; i < resolved.outputs.size(); ++i) {
    try {
      outputs.push_back(
          read_tensor(resolved.outputs[i], one.assertion.output_dtypes[i], shapes.outputs[i]));
    } catch (const FileFault& fault) {
      return {.details = "output" + std::to_string(i) + ": " + fault.what()};
    }
  }
  if (one.assertion.is_custom()) return judge_custom(one, shapes, resolved, functions, stop);
  try {
    const auto golden = golden_of(one, shapes, resolved);
    if (golden.empty()) return look_only(one, shapes, outputs);
    Judged judged{.ok = true};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      OutputJudge(one.assertion, i, one.assertion.output_dtypes[i], shapes.outputs[i])
          .judge(golden[i], outputs[i], judged);
    }
    return judged;
  } catch (const std::runtime_error& fault) {
    return {.is_error = true, .details = std::string("the golden: ") + fault.what()};
  }
}

}  // namespace assay::optest
