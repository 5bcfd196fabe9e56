// One run of one performance test generator, in a process of its own: the harness, what it saw,
// what that means, and the time in milliseconds with the reason for its unit. Used by the generator
// tool and by commit benchmarks. Values; any thread.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "plans/generators/taxonomy.h"
#include "plans/step_runner.h"

namespace assay::generators {

struct GeneratorCall {
  std::string script{};
  bool eqcheck = false;
  bool reference = false;
  std::string prefix{};
  std::string eq_level{};
  std::string return_unit = "auto";  // auto, s, ms
  // How Python is started: an interpreter, or a container's command line that ends with one.
  std::vector<std::string> python{};
  std::filesystem::path workdir{};  // reference files lie here
  std::filesystem::path notes{};    // a folder of ours for the harness and its result
  std::map<std::string, std::string> environment{};
  std::chrono::milliseconds timeout{300'000};
  std::filesystem::path log{};
  std::filesystem::path scratch{};  // goes with the job: lines that repeat it must not name it
  plans::Enclosure enclosure{};
};

struct GeneratorEnd {
  Classified classified{};
  nlohmann::json facts = nullptr;
  plans::Step step{};
  plans::StepEnd end{};
  std::vector<plans::Step> repeats{};  // what repeats it, without the harness: direct_run.h
  std::optional<double> avg_ms{};
  std::string unit_source{};
};

[[nodiscard]] GeneratorEnd run_generator(const GeneratorCall& call, const plans::StepRunner& runner,
                                         const std::stop_token& stop);

// Without running it: family, functions, imports, what it seems to need. {"unreadable"} if it is no
// Python.
[[nodiscard]] nlohmann::json inspect_generator(const GeneratorCall& call,
                                               const plans::StepRunner& runner,
                                               const std::stop_token& stop);

struct EnvironmentTags {
  std::string impl_tag{};
  std::string commit_hash{};
  std::string device{};
  std::string dtype{};
  std::string opt_gates{};
  std::string module{};
  std::string symbol{};
  std::string eq_level{};
};
// Every spelling that generators read: PROB_IMPL_TAG and IMPL_TAG, and so on.
[[nodiscard]] std::map<std::string, std::string> environment_of(const EnvironmentTags& tags);
// The same of what a caller set himself: where one spelling is given, the other is too.
void add_other_spellings(std::map<std::string, std::string>& environment);

// {requested, performed, passed, level, message, reference_files}
[[nodiscard]] nlohmann::json equivalence_of(const GeneratorCall& call, const GeneratorEnd& end);
[[nodiscard]] nlohmann::json to_json(const GeneratorCall& call, const GeneratorEnd& end);

// The eight fields and std, from the script's own line or from its times.
[[nodiscard]] nlohmann::json result_line(const EnvironmentTags& tags,
                                         const std::vector<GeneratorEnd>& runs);

}  // namespace assay::generators
