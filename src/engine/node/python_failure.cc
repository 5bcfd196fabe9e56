#include "engine/node/python_failure.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "engine/node/claimed_value.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;

constexpr std::size_t kToldOutputBytes = 2000;
constexpr std::size_t kToldMessageBytes = 600;
constexpr std::size_t kMostFrames = 1024;
constexpr std::uint64_t kMostLines = 1U << 30;

json frames_of(const json& failed) {
  return claimed_list(failed.value("frames", json::array()), kMostFrames);
}

Verdict verdict_of(const std::string& code, const std::string& stage) {
  if (code == "out_of_memory") return Verdict::out_of_memory;
  if (code == "needs_gpu" || code == "device_unsupported" || code == "needs_compiler") {
    return Verdict::unsupported;
  }
  // What the emulator found in a launch of the source's.
  if (code == "device_fault") return Verdict::crashed;
  if (code == "device_hang") return Verdict::timed_out;
  if (code == "device_memory") return Verdict::out_of_memory;
  if (code == "device_launch") return Verdict::launch_failed;
  if (code == "shape") return Verdict::wrong_output;
  if (code == "own_shape" || code == "target" || code == "arity" || code == "inputs" ||
      code == "returned") {
    return Verdict::contract_invalid;
  }
  return stage == "load" || stage == "compile" ? Verdict::compile_failed : Verdict::crashed;
}

std::string at_line(const json& failed, const std::string& file) {
  const json frames = frames_of(failed);
  if (frames.empty()) return {};
  const auto& last = frames.back();
  std::string text =
      " at " + file + ":" + std::to_string(claimed_count(last.at("line"), kMostLines));
  const auto excerpt = last.at("text").get<std::string>();
  const auto begin = excerpt.find_first_not_of(" \t");
  if (begin != std::string::npos) text += " (`" + excerpt.substr(begin) + "`)";
  return text;
}

// What was being done, for the sentence.
std::string doing(const std::string& stage) {
  if (stage == "compile") return "when Triton compiled it";
  if (stage == "load") return "while the source was loaded";
  if (stage == "own_inputs" || stage == "make_inputs") return "in get_inputs()";
  if (stage == "time") return "in a timed call";
  return "when it was called";
}

json diagnostics(const json& failed, const std::string& file) {
  json list = json::array();
  const json frames = frames_of(failed);
  if (frames.empty()) return list;
  const auto& last = frames.back();
  json one = {{"severity", "error"},
              {"file", file},
              {"line", claimed_count(last.at("line"), kMostLines)},
              {"message", failed.at("exception").get<std::string>() + ": " +
                              failed.at("message").get<std::string>().substr(0, kToldMessageBytes)},
              {"excerpt", last.at("text").get<std::string>()}};
  if (failed.contains("column")) one["column"] = claimed_count(failed.at("column"), kMostLines);
  list.push_back(std::move(one));
  return list;
}

// What the message does not tell of where it is called.
std::string hint_for(const json& failed, const std::string& message) {
  const auto says = [&](const char* words) { return message.find(words) != std::string::npos; };
  if (says("does not require grad and does not have a grad_fn")) {
    return " (gradients are off here, as in evaluation; use torch.enable_grad())";
  }
  if (failed.value("starts_process", json()) == true) return " (a source may start no processes)";
  return {};
}

std::string summary_of(const json& failed, const std::string& code, const std::string& file) {
  const auto message = failed.at("message").get<std::string>().substr(0, kToldMessageBytes);
  const auto stage = failed.at("stage").get<std::string>();
  const auto exception = failed.at("exception").get<std::string>();
  if (exception == "Refused") return message + ".";
  if (code == "missing_module") {
    return "Module '" + failed.value("module", std::string("?")) +
           "' is not installed in the interpreter that runs kernels" + at_line(failed, file) +
           "; check_capabilities lists what there is.";
  }
  if (code == "needs_gpu" && exception == "ModuleNotFoundError") {
    return "It needs a GPU" + at_line(failed, file) +
           ": CuPy works on one alone, and is not installed in this interpreter.";
  }
  if (code == "needs_gpu" && stage == "compile") {  // a kernel alone has no inputs
    return "It needs a GPU" + at_line(failed, file) +
           ", and there is none where it is compiled: " + exception +
           (message.empty() ? "" : ": ") + message + ".";
  }
  if (code == "needs_gpu") {
    return "It needs a GPU" + at_line(failed, file) +
           ", and tensors are on the CPU here: " + exception + (message.empty() ? "" : ": ") +
           message + ". Take the device from an input (x.device).";
  }
  if (code == "needs_compiler") {
    return "torch.compile needs a C++ compiler" + at_line(failed, file) +
           ", and where tensors are the CPU's a confined source can start none. Call the function "
           "as it is, or compile it with backend=\"aot_eager\", which makes no code of its own.";
  }
  if (code == "out_of_memory") {
    return "It ran out of memory " + doing(stage) + at_line(failed, file) + ": " +
           (message.empty() ? exception : message) + ".";
  }
  return exception + " " + doing(stage) + at_line(failed, file) +
         (message.empty() ? "." : ": " + message) + hint_for(failed, message);
}

// Words of the C library's about its own records, which lie between what was allocated.
bool has_damaged_heap(std::string_view output) {
  for (const char* words :
       {"free(): ", "malloc(): ", "realloc(): ", "malloc_consolidate(): ", "munmap_chunk(): ",
        "corrupted size vs. prev_size", "double free or corruption", "corrupted double-linked list",
        "unsorted double linked list corrupted", "Fatal glibc error: malloc"}) {
    if (output.find(words) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string place_of_death(const std::string& output, const std::string& file) {
  const auto began = output.rfind("Fatal Python error: ");
  if (began == std::string::npos) return {};
  const std::string frame = "  File \"" + file + "\", line ";
  const auto at = output.find(frame, began);
  if (at == std::string::npos) return {};
  std::uint64_t line = 0;
  const char* const digits = output.data() + at + frame.size();
  const auto read = std::from_chars(digits, output.data() + output.size(), line);
  if (read.ec != std::errc{} || line == 0 || line > kMostLines) return {};
  return " at " + file + ":" + std::to_string(line);
}

void explain_death(Ended& ended, const std::string& output, const std::string& file) {
  if (!ended.detail.contains("signal") || ended.verdict != Verdict::crashed) return;
  if (ended.summary.ends_with('.')) ended.summary.pop_back();
  ended.summary += place_of_death(output, file) + ".";
  const std::string before = output.substr(0, output.rfind("Fatal Python error: "));
  if (has_damaged_heap(before)) {
    ended.summary +=
        " The heap was damaged before that: somewhere memory was written beyond the end of a "
        "tensor.";
  } else if (ended.detail["signal"] == "SIGSEGV" || ended.detail["signal"] == "SIGBUS") {
    ended.summary += " An address was used that is no memory of the process's.";
  }
}

Ended python_failure(const json& failed, const std::string& file, const std::string& output) {
  const auto code = failed.at("code").get<std::string>();
  const auto stage = failed.at("stage").get<std::string>();
  Ended ended{.verdict = verdict_of(code, stage), .summary = summary_of(failed, code, file)};
  ended.detail = {{"code", code},
                  {"stage", stage},
                  {"exception", failed.at("exception")},
                  {"message", failed.at("message")},
                  {"frames", frames_of(failed)}};
  // Becomes an artifact, which is text.
  if (failed.contains("traceback")) {
    ended.detail["log"] = failed.at("traceback").get<std::string>();
  }
  if (failed.contains("available")) ended.detail["available"] = failed.at("available");
  if (failed.contains("module")) ended.detail["module"] = failed.at("module");
  if (failed.contains("missing")) ended.detail["missing"] = failed.at("missing");
  if (json told = diagnostics(failed, file); !told.empty()) {
    ended.detail["diagnostics"] = std::move(told);
  }
  if (code == "needs_compiler") ended.detail["missing"] = "a C++ compiler for torch.compile";
  if (!output.empty()) {
    ended.detail["output"] =
        output.substr(output.size() - std::min(output.size(), kToldOutputBytes));
  }
  return ended;
}

}  // namespace assay::node
