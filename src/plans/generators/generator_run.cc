#include "plans/generators/generator_run.h"

#include "plans/generators/direct_run.h"
#include "plans/repeatable.h"
#include "plans/samples.h"
#include "plans/scripts.h"
#include "plans/text_file.h"

namespace assay::generators {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using plans::Step;
using plans::StepEnd;

constexpr double kMsPerS = 1e3;

json read_json(const fs::path& file) {
  json value = json::parse(plans::read_text(file), nullptr, false);
  return value.is_discarded() ? json(nullptr) : value;
}

// The harness beside a request in a folder of ours; its answer in the one folder it may write.
struct Harness {
  fs::path program;
  fs::path programs;  // the folder that holds it and what it imports
  fs::path request;
  fs::path answers;
  fs::path result;
};

Harness lay_out(const GeneratorCall& call, const char* mode) {
  Harness harness{.program = call.notes / "harness" / "generator_harness.py",
                  .programs = call.notes / "harness",
                  .request = call.notes / "request.json",
                  .answers = call.notes / "answer",
                  .result = call.notes / "answer" / "result.json"};
  fs::create_directories(harness.answers);
  fs::create_directories(harness.programs);
  std::error_code ignored;
  fs::remove(harness.result, ignored);
  for (const char* const name : {"generator_harness.py", "generator_equivalence.py"}) {
    plans::write_text(harness.programs / name, plans::script_text(name));
  }
  plans::write_text(harness.request,
                    json{{"mode", mode},
                         {"script", call.script},
                         {"eqcheck", call.eqcheck},
                         {"reference", call.reference},
                         {"prefix", call.prefix},
                         {"eq_level", call.eq_level.empty() ? json(nullptr) : json(call.eq_level)}}
                        .dump());
  return harness;
}

Step step_of(const GeneratorCall& call, const Harness& harness, const char* name) {
  Step step{.name = name,
            .argv = call.python,
            .cwd = call.workdir,
            .environment = call.environment,
            .timeout = call.timeout,
            .log = call.log,
            .enclosure = call.enclosure};
  for (const auto& word : {std::string("-B"), harness.program.string(), harness.request.string(),
                           harness.result.string()}) {
    step.argv.push_back(word);
  }
  step.enclosure.readable.push_back(harness.programs.string());
  step.enclosure.readable.push_back(harness.request.string());
  step.enclosure.writable.push_back(harness.answers.string());
  return step;
}

// The rule of docs/plans.md: the script's own line, then the caller's word, then what cannot be
// otherwise, then its documentation, then seconds.
void decide_unit(const GeneratorCall& call, GeneratorEnd& end) {
  Classified& seen = end.classified;
  if (!seen.printed.is_null()) {
    end.avg_ms = seen.printed.at("avg_ms").get<double>();
    end.unit_source = "avg_ms of the script's own result line";
    return;
  }
  if (!end.facts.is_object() || !end.facts.value("returned", json()).is_number()) return;
  const double returned = end.facts.at("returned").get<double>();
  if (returned < 0) return;  // the status says that it is no time
  const double wall_s = end.facts.value("wall_s", 0.0);
  if (call.return_unit == "ms" || call.return_unit == "s") {
    end.avg_ms = call.return_unit == "ms" ? returned : returned * kMsPerS;
    end.unit_source = "return_unit of the call";
  } else if (returned > wall_s) {
    end.avg_ms = returned;
    end.unit_source =
        "the returned number is larger than the seconds the run took, so it is milliseconds";
  } else if (end.facts.value("documents_milliseconds", false)) {
    end.avg_ms = returned;
    end.unit_source = "the script's documentation says milliseconds";
  } else {
    end.avg_ms = returned * kMsPerS;
    end.unit_source = "taken for seconds, as nothing says otherwise";
    seen.warnings.emplace_back(
        "the unit of the returned number is not stated; return_unit settles it");
  }
  if (*end.avg_ms > wall_s * kMsPerS) {
    seen.warnings.emplace_back(
        "the time is longer than the whole run took: it was not measured here, or its unit is "
        "wrong");
  }
}

json field(const json& printed, const char* key, const json& otherwise) {
  return printed.is_object() && printed.contains(key) ? printed.at(key) : otherwise;
}

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

// What the call says, else what the harness saw.
json or_seen(const std::string& text, const json& facts, const char* key) {
  return text.empty() ? field(facts, key, json(nullptr)) : json(text);
}

}  // namespace

GeneratorEnd run_generator(const GeneratorCall& call, const plans::StepRunner& runner,
                           const std::stop_token& stop) {
  const Harness harness = lay_out(call, "run");
  GeneratorEnd end{.step = step_of(call, harness, "generator")};
  end.end = runner.run(end.step, stop);
  end.facts = read_json(harness.result);
  end.classified = classify(end.facts, end.end, call.eqcheck);
  decide_unit(call, end);
  end.repeats.push_back(direct_step(call));
  return end;
}

json inspect_generator(const GeneratorCall& call, const plans::StepRunner& runner,
                       const std::stop_token& stop) {
  const Harness harness = lay_out(call, "inspect");
  const StepEnd end = runner.run(step_of(call, harness, "inspect"), stop);
  const json seen = read_json(harness.result);
  if (seen.is_object()) return seen;
  return {{"unreadable", plans::describe(end) + ": " + plans::printable(end.tail)}};
}

std::map<std::string, std::string> environment_of(const EnvironmentTags& tags) {
  std::map<std::string, std::string> all;
  const auto set = [&](const char* name, const std::string& value) {
    if (!value.empty()) all[name] = value;
  };
  set("IMPL_TAG", tags.impl_tag);
  set("COMMIT_HASH", tags.commit_hash);
  set("DEVICE", tags.device);
  set("FORCE_DTYPE", tags.dtype);
  set("OPT_GATES", tags.opt_gates);
  set("MODULE", tags.module);
  set("SYMBOL", tags.symbol);
  set("EQ_LEVEL", tags.eq_level);
  add_other_spellings(all);
  return all;
}

void add_other_spellings(std::map<std::string, std::string>& environment) {
  for (const std::string name : {"IMPL_TAG", "COMMIT_HASH", "DEVICE", "FORCE_DTYPE", "OPT_GATES",
                                 "MODULE", "SYMBOL", "EQ_LEVEL"}) {
    const std::string prefixed = "PROB_" + name;
    if (const auto plain = environment.find(name); plain != environment.end())
      environment.emplace(prefixed, plain->second);
    if (const auto other = environment.find(prefixed); other != environment.end())
      environment.emplace(name, other->second);
  }
}

json equivalence_of(const GeneratorCall& call, const GeneratorEnd& end) {
  const json facts = end.facts.is_object() ? end.facts : json::object();
  const bool performed = facts.value("compared", 0) > 0;
  const bool failed = end.classified.status == Status::equivalence_failed;
  json level = text_or_null(call.eq_level);
  if (level.is_null())
    level = field(end.classified.printed, "eq_level", facts.value("default_eq_level", json()));
  json out = {{"requested", call.eqcheck},
              {"performed", performed},
              {"passed", performed ? json(!failed) : json(nullptr)},
              {"level", level},
              {"message", failed ? end.classified.message : ""},
              {"reference_files", facts.value("loaded", json::array())}};
  if (facts.contains("level_check") && facts.at("level_check").is_object()) {
    out["level_check"] = facts.at("level_check");
  }
  return out;
}

json to_json(const GeneratorCall& call, const GeneratorEnd& end) {
  const json facts = end.facts.is_object() ? end.facts : json::object();
  const json stored = facts.value("stored", json::array());
  const auto number = code(end.classified.status);
  json out = {{"status", name(end.classified.status)},
              {"code", number ? json(*number) : json(nullptr)},
              {"message", plans::printable(end.classified.message)},
              {"family", facts.value("family", json(nullptr))},
              {"harness", facts.value("harness", json(nullptr))},
              {"metrics", end.classified.printed},
              {"avg_ms", end.avg_ms ? json(*end.avg_ms) : json(nullptr)},
              {"unit_source", end.unit_source},
              {"execution_time_s", facts.value("wall_s", json(nullptr))},
              {"equivalence", equivalence_of(call, end)},
              {"reference",
               {{"requested", call.reference}, {"written", !stored.empty()}, {"files", stored}}},
              {"warnings", end.classified.warnings},
              {"step", plans::to_json(end.step, end.end)},
              {"repro", plans::Repeatable(call.scratch).script(end.repeats)}};
  const json exception = facts.value("exception", json());
  if (exception.is_object()) out["traceback"] = exception.value("traceback", "");
  return out;
}

json result_line(const EnvironmentTags& tags, const std::vector<GeneratorEnd>& runs) {
  std::vector<double> times;
  json printed;
  json facts;
  for (const auto& run : runs) {
    if (run.avg_ms) times.push_back(*run.avg_ms);
    if (run.facts.is_object()) facts = run.facts;
    if (!run.classified.printed.is_null()) printed = run.classified.printed;
  }
  if (times.empty()) return nullptr;
  const json own = runs.size() == 1 ? printed : json();
  const json summary = plans::summary_of(times);
  const json level = or_seen(tags.eq_level, facts, "default_eq_level");
  return {{"impl_tag", field(printed, "impl_tag", text_or_null(tags.impl_tag))},
          {"commit_hash", field(printed, "commit_hash", text_or_null(tags.commit_hash))},
          {"device", field(printed, "device", or_seen(tags.device, facts, "device"))},
          {"dtype", field(printed, "dtype", or_seen(tags.dtype, facts, "dtype"))},
          {"avg_ms", summary.at("mean")},
          {"p50_ms", field(own, "p50_ms", summary.at("median"))},
          {"p95_ms", field(own, "p95_ms", summary.at("p95"))},
          {"eq_level", field(printed, "eq_level", level.is_null() ? json("numeric") : level)},
          {"std_ms", field(own, "std_ms", summary.at("std"))}};
}

}  // namespace assay::generators
