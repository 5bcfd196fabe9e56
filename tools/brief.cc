#include "tools/brief.h"

#include <array>
#include <string>

#include "mcp/utf8.h"

namespace assay::tools {
namespace {

using mcp::OrderedJson;

constexpr std::size_t kDiagnostics = 8;
constexpr std::size_t kFindings = 5;
constexpr std::size_t kWholeKernels = 2;
constexpr std::size_t kNamedKernels = 8;
constexpr std::size_t kListedBytes = 16;  // of a contract, by argument
constexpr std::size_t kNamedArguments = 8;
constexpr std::size_t kSignatureBytes = 120;
constexpr std::size_t kGuesses = 6;
constexpr std::size_t kCompactBytes = 2'500;
constexpr std::size_t kContractBytes = 3'500;
constexpr std::size_t kFirstMismatches = 3;
constexpr std::size_t kNamedOutputs = 6;
constexpr std::size_t kSummaryBytes = 600;
constexpr std::size_t kSaidBytes = 300;  // of each text in a diagnostic, a warning, a finding
constexpr std::size_t kPrintedBytes = 500;

// Of a list, the first ones; `<name>_total` says how many there were.
void keep_first(OrderedJson& holder, const std::string& name, std::size_t count) {
  const auto found = holder.find(name);
  if (found == holder.end() || !found->is_array() || found->size() <= count) return;
  const std::size_t total = found->size();
  found->erase(found->begin() + static_cast<std::ptrdiff_t>(count), found->end());
  holder[name + "_total"] = total;
}

// Of a text, its beginning: whole lines if there are some, whole characters always.
bool cut(OrderedJson& holder, const char* name, std::size_t bytes) {
  const auto found = holder.find(name);
  if (found == holder.end() || !found->is_string()) return false;
  auto& text = found->get_ref<std::string&>();
  if (text.size() <= bytes) return false;
  std::size_t end = text.rfind('\n', bytes);
  if (end == std::string::npos || end == 0) {
    end = bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  }
  text.erase(end);
  return true;
}

// Every text in it, however deep; "…" marks a cut.
void shorten_texts(OrderedJson& value, std::size_t bytes) {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    if (text.size() > bytes) text = mcp::shortened(text, bytes);
  } else if (value.is_structured()) {
    for (OrderedJson& part : value) shorten_texts(part, bytes);
  }
}

OrderedJson only(const OrderedJson& whole, std::initializer_list<const char*> names) {
  OrderedJson part = OrderedJson::object();
  for (const char* name : names)
    if (whole.contains(name)) part[name] = whole.at(name);
  return part;
}

// The first wrong output is told with examples, the others with what they have in common.
void shorten_outputs(OrderedJson& validation) {
  const auto outputs = validation.find("outputs");
  if (outputs == validation.end()) return;
  bool told_one = false;
  OrderedJson kept = OrderedJson::array();
  for (OrderedJson& output : *outputs) {
    if (kept.size() == kNamedOutputs) break;
    output.erase("map");
    if (output.value("ok", false)) {
      kept.push_back(only(output, {"name", "dtype", "shape", "elements", "mismatches", "ok",
                                   "max_abs_error", "max_rel_error", "precision", "tolerance"}));
    } else if (!told_one) {
      told_one = true;
      if (output.contains("first")) keep_first(output, "first", kFirstMismatches);
      kept.push_back(output);
    } else {
      kept.push_back(only(output, {"name", "shape", "elements", "mismatches", "ok", "pattern"}));
    }
  }
  const std::size_t total = outputs->size();
  const bool is_whole = kept.size() == total;
  *outputs = std::move(kept);
  // Last: a new member moves the others.
  if (!is_whole) validation["outputs_total"] = total;
}

// Of each view what is read first; heat, power and what a lift took stand in the full report.
void shorten_timing(OrderedJson& timing) {
  for (const char* view : {"cold", "warm", "graph", "per_call"})
    if (const auto told = timing.find(view); told != timing.end() && told->is_object())
      *told = only(*told, {"runs", "median_ns", "median_low_ns", "median_high_ns", "min_ns",
                           "percentile_95_ns", "launches", "stopped_by", "unavailable"});
  if (const auto clocks = timing.find("clocks"); clocks != timing.end() && clocks->is_object())
    *clocks = only(*clocks, {"sm_mhz_median", "held_down"});
  if (const auto floor = timing.find("floor"); floor != timing.end() && floor->is_object())
    *floor = only(*floor, {"ns", "share_pct"});
  // What disagrees is in the evidence, and who else is there among the warnings.
  for (const char* aside : {"wall_clock", "neighbours"}) timing.erase(aside);
  if (const auto lifted = timing.find("lifted"); lifted != timing.end() && lifted->is_object())
    *lifted = only(*lifted, {"launches", "kernels", "scratch_bytes", "runner_reused"});
  for (const char* other : {"reference", "in_place"})
    if (const auto told = timing.find(other); told != timing.end() && told->is_object())
      shorten_timing(*told);
}

// What decides how many warps fit; the rest stands in the full report.
void shorten_resources(OrderedJson& metadata) {
  for (const char* whose : {"resources", "ref_resources"}) {
    const auto found = metadata.find(whose);
    if (found == metadata.end() || !found->is_object()) continue;
    *found = only(*found, {"registers", "spill_store_bytes", "static_shared_bytes", "occupancy"});
    const auto occupancy = found->find("occupancy");
    if (occupancy != found->end() && occupancy->is_object() && occupancy->contains("percent"))
      *occupancy = only(*occupancy, {"percent", "limited_by"});
  }
}

void shorten_kernels(OrderedJson& report) {
  const auto kernels = report.find("kernels");
  if (kernels == report.end() || !kernels->is_array()) return;
  for (std::size_t i = kWholeKernels; i < kernels->size(); ++i)
    (*kernels)[i] = only((*kernels)[i], {"name", "signature", "registers", "unsupported"});
  keep_first(report, "kernels", kNamedKernels);
  for (OrderedJson& kernel : *report.find("kernels")) {
    keep_first(kernel, "args", kNamedArguments);
    if (cut(kernel, "signature", kSignatureBytes)) kernel["signature_truncated"] = true;
    (void)cut(kernel, "name", kSignatureBytes);
    (void)cut(kernel, "symbol", kSignatureBytes);
  }
}

// A draft is never cut: part of it would be another contract.
void shorten_draft(OrderedJson& report) {
  const auto draft = report.find("contract");
  if (draft == report.end() || !draft->is_object()) return;
  keep_first(*draft, "guesses", kGuesses);
  const auto io = draft->find("io");
  if (io == draft->end() || io->is_null()) return;
  const std::size_t bytes = io->dump().size();
  if (bytes <= kContractBytes) return;
  *io = nullptr;
  (*draft)["io_omitted"] =
      std::to_string(bytes) + " bytes; get_job or compile_kernel with detail \"full\" gives it";
}

}  // namespace

void make_brief(OrderedJson& report) {
  keep_first(report, "diagnostics", kDiagnostics);
  for (const char* list : {"evidence", "warnings"}) keep_first(report, list, kFindings);
  for (const char* said : {"diagnostics", "evidence", "warnings", "error"})
    if (const auto found = report.find(said); found != report.end())
      shorten_texts(*found, kSaidBytes);
  if (const auto summary = report.find("summary"); summary != report.end())
    shorten_texts(*summary, kSummaryBytes);
  shorten_kernels(report);
  shorten_draft(report);
  if (const auto timing = report.find("timing"); timing != report.end()) shorten_timing(*timing);
  if (const auto validation = report.find("validation"); validation != report.end()) {
    shorten_outputs(*validation);
    validation->erase("digests");
    if (cut(*validation, "printf", kPrintedBytes)) (*validation)["printf_truncated"] = true;
  }
  // The output is in `validation`; what a process printed is a text.
  if (const auto error = report.find("error");
      error != report.end() && error->value("output", OrderedJson()).is_object())
    (*error)["output"] = only(error->at("output"), {"name", "mismatches", "elements"});
  if (const auto result = report.find("kernel_exec_result"); result != report.end()) {
    if (cut(*result, "compilation_error", kBriefLogBytes))
      result->at("compilation_error").get_ref<std::string&>() +=
          "\n… (the whole log is a resource)";
    (void)cut(*result, "validation_error", kBriefLogBytes);
    if (const auto metadata = result->find("metadata"); metadata != result->end())
      shorten_resources(*metadata);
  }
  if (cut(report, "compilation_error", kBriefLogBytes))
    report.at("compilation_error").get_ref<std::string&>() += "\n… (the whole log is a resource)";
}

void make_contract_brief(OrderedJson& answer) {
  for (const char* list : {"explanation", "assumptions", "warnings"})
    keep_first(answer, list, kGuesses);
  if (const auto bytes = answer.find("bytes");
      bytes != answer.end() && bytes->contains("args") && bytes->at("args").size() > kListedBytes)
    bytes->erase("args");
  const auto contract = answer.find("io_contract");
  if (contract == answer.end()) return;
  const std::size_t size = contract->dump().size();
  if (size <= kContractBytes) return;
  // The compact text is the same contract, in a third of the bytes.
  if (answer.value("text", std::string()).size() > kCompactBytes) answer.erase("text");
  answer.erase("io_contract");
  answer["io_contract_omitted"] =
      std::to_string(size) +
      " bytes; ask with detail \"full\" for it, or with save_as for a name "
      "that stands for it";
}

}  // namespace assay::tools
