#include "plans/optest/custom_functions.h"

#include "plans/scripts.h"
#include "plans/text_file.h"

namespace assay::optest {

namespace fs = std::filesystem;
using nlohmann::json;
using plans::Step;
using plans::StepEnd;

namespace {

FunctionEnd end_of(const StepEnd& end, const json& result) {
  FunctionEnd out{.output = plans::printable(end.tail)};
  if (result.is_object() && result.contains("fault")) {
    out.problem = result.at("fault").get<std::string>();
    out.is_infrastructure = result.value("kind", "") == "IMPORT_MISSING";
  } else if (!end.succeeded()) {
    out.problem = plans::describe(end);
    out.is_infrastructure = end.is_infrastructure();
  } else if (!result.is_object()) {
    out.problem = "it ended without a result";
  } else {
    out.result = result;
  }
  return out;
}

}  // namespace

CustomFunctions::CustomFunctions(const plans::StepRunner& runner,
                                 const plans::ScratchFolder& scratch, std::string python,
                                 bool may_confine)
    : runner_(runner),
      scratch_(scratch),
      wanted_(std::move(python)),
      may_confine_(may_confine && runner.can_confine()) {}

std::string CustomFunctions::level() const { return runner_.level_of({.confined = may_confine_}); }

FunctionEnd CustomFunctions::call(const FunctionCall& call, std::chrono::milliseconds timeout,
                                  const std::stop_token& stop) {
  if (!python_) {
    auto found = plans::find_python(runner_, wanted_, stop);
    if (const auto* none = std::get_if<plans::NoPython>(&found)) {
      return {.problem = none->reason, .is_infrastructure = true};
    }
    python_ = std::get<plans::Python>(std::move(found));
  }
  const fs::path own = scratch_.make("function-" + std::to_string(calls_++));
  const fs::path answers = own / "answer";
  fs::create_directories(answers);
  plans::write_text(own / "plan_functions.py", plans::script_text("plan_functions.py"));
  plans::write_text(own / "request.json",
                    json{{"call", call.is_generator ? "generator" : "assertion"},
                         {"source", call.source},
                         {"name", call.name},
                         {"arguments", call.arguments}}
                        .dump());
  Step step{.name = call.name,
            .argv = {python_->executable, "-B", (own / "plan_functions.py").string(),
                     (own / "request.json").string(), (answers / "result.json").string()},
            .cwd = may_confine_ ? answers : fs::path(call.source).parent_path(),
            .timeout = timeout};
  step.enclosure = {.confined = may_confine_, .readable = python_->folders};
  auto& readable = step.enclosure.readable;
  for (auto& path : plans::shown_of(fs::path(call.source).parent_path())) {
    readable.push_back(std::move(path));
  }
  readable.push_back((own / "plan_functions.py").string());
  readable.push_back((own / "request.json").string());
  readable.insert(readable.end(), call.readable.begin(), call.readable.end());
  step.enclosure.writable = {answers.string()};
  if (!call.writable.empty()) step.enclosure.writable.push_back(call.writable.string());
  const StepEnd end = runner_.run(step, stop);
  return end_of(end, json::parse(plans::read_text(answers / "result.json"), nullptr, false));
}

}  // namespace assay::optest
