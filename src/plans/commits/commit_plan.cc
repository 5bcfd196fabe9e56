#include "plans/commits/commit_plan.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "plans/optest/yaml_value.h"

namespace assay::commits {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Wrong("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Command> commands_of(const json& list, const std::string& key) {
  std::vector<Command> commands;
  if (list.is_null()) return commands;
  if (!list.is_array()) throw Wrong(key + " must be a list of commands");
  for (const auto& one : list) {
    if (one.is_string())
      commands.push_back({"sh", "-c", one.get<std::string>()});
    else if (one.is_array() && !one.empty() &&
             std::all_of(one.begin(), one.end(), [](const json& word) { return word.is_string(); }))
      commands.push_back(one.get<Command>());
    else
      throw Wrong(key + " holds something that is no command");
  }
  return commands;
}

const std::vector<std::string> kConfigurationKeys{
    "repo_path",   "extractions_dir", "generators_dir",   "script",       "head_commit",
    "base_commit", "setup_commands",  "install_commands", "dependencies", "docker_image",
    "use_docker",  "hf_repo",         "push_to_hf"};

// What of a configuration has no effect here.
void warn_of_keys(const optest::Value& document, optest::Problems& problems) {
  for (const auto& entry : document.entries) {
    const bool is_upload = entry.key == "hf_repo" || entry.key == "push_to_hf";
    if (is_upload && optest::as_boolean(entry.value) != false)
      problems.warn(entry.place, entry.key, "nothing is uploaded; the record stays here");
    if (std::find(kConfigurationKeys.begin(), kConfigurationKeys.end(), entry.key) !=
        kConfigurationKeys.end())
      continue;
    const std::string near = optest::closest(entry.key, kConfigurationKeys);
    problems.warn(entry.place, entry.key,
                  "unknown key, ignored" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
}

// The configuration file lies under the call's own arguments: those win.
json with_configuration(const json& request, std::vector<optest::Problem>& warnings) {
  const auto file = request.find("config");
  if (file == request.end()) return request;
  optest::Problems problems;
  const fs::path path = file->get<std::string>();
  const optest::Value read = optest::parse_yaml(read_text(path), problems);
  if (!problems.fatal()) warn_of_keys(read, problems);
  problems.sort();
  std::string faults;
  for (const auto& one : problems.list()) {
    if (one.fatal)
      faults += (faults.empty() ? "" : "\n") + optest::to_text(one, path.string());
    else
      warnings.push_back(one);
  }
  if (!faults.empty()) throw Wrong(faults);
  const json document = optest::to_json(read);
  if (!document.is_object()) throw Wrong(path.string() + " is no mapping");
  json all = json::object();
  const auto take = [&](const char* from, const char* to) {
    if (document.contains(from) && !document.at(from).is_null()) all[to] = document.at(from);
  };
  const auto take_path = [&](const char* from, const char* to) {
    if (!document.contains(from) || !document.at(from).is_string()) return;
    all[to] =
        (path.parent_path() / document.at(from).get<std::string>()).lexically_normal().string();
  };
  take_path("repo_path", "repo");
  take_path("extractions_dir", "extractions_dir");
  take_path("generators_dir", "generators_dir");
  take_path("script", "script");
  take("head_commit", "head");
  take("base_commit", "base");
  take("setup_commands", "setup_commands");
  take("install_commands", "install_commands");
  take("dependencies", "dependencies");
  take("docker_image", "image");
  // Without it an image alone is wish enough; `false` forbids it.
  const json use_docker = document.value("use_docker", json());
  if (use_docker == true) all["environment"] = "container";
  if (use_docker == false) all.erase("image");
  all.update(request);
  return all;
}

CommitToMeasure from_extraction(const fs::path& file, const json& request) {
  const json document = json::parse(read_text(file), nullptr, false);
  if (!document.is_object() || !document.value("commit_hash", json()).is_string()) {
    throw Wrong(file.string() + " is no extraction: it has no commit_hash");
  }
  CommitToMeasure commit{.head = document.at("commit_hash"), .extraction = document};
  if (document.value("parent_hash", json()).is_string()) commit.base = document.at("parent_hash");
  commit.script = request.value("script", "");
  return commit;
}

std::vector<fs::path> extractions_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".json" && path.filename() != "extraction_summary.json")
      files.push_back(path);
  }
  if (error) throw Wrong("cannot read " + folder.string());
  std::sort(files.begin(), files.end());
  return files;
}

// Each file for itself: one that cannot be read does not keep the others from being measured.
std::vector<CommitToMeasure> extracted_commits(const json& request, const std::string& head,
                                               std::vector<RefusedExtraction>& refused) {
  std::vector<CommitToMeasure> commits;
  for (const auto& file : extractions_in(request.at("extractions_dir").get<std::string>())) {
    if (!head.empty() && !file.stem().string().starts_with(head)) continue;
    try {
      commits.push_back(from_extraction(file, request));
    } catch (const Wrong& wrong) {
      refused.push_back({file.string(), wrong.what()});
    }
  }
  if (commits.empty() && !refused.empty())
    throw Wrong("not one extraction can be read: " + refused.front().reason);
  if (commits.empty() && head.empty()) throw Wrong("the folder of extractions holds none");
  return commits;
}

std::vector<CommitToMeasure> commits_of(const json& request,
                                        std::vector<RefusedExtraction>& refused) {
  std::vector<CommitToMeasure> commits;
  const std::string head = request.value("head", "");
  if (request.contains("extraction")) {
    commits.push_back(from_extraction(request.at("extraction").get<std::string>(), request));
  } else if (request.contains("extractions_dir")) {
    commits = extracted_commits(request, head, refused);
  }
  if (commits.empty()) {
    if (head.empty()) throw Wrong("no head commit is given");
    commits.push_back({.head = head, .script = request.value("script", "")});
  }
  for (auto& commit : commits) {
    if (request.contains("base")) commit.base = request.at("base").get<std::string>();
    if (commit.script.empty() && request.contains("generators_dir")) {
      commit.script = find_generator(request.at("generators_dir").get<std::string>(), commit.head);
    }
  }
  return commits;
}

std::vector<Dependency> dependencies_of(const json& request) {
  std::vector<Dependency> all;
  for (const auto& one : request.value("dependencies", json::array())) {
    if (!one.is_object() || !one.contains("repo")) throw Wrong("a dependency names its repo");
    Dependency dependency{
        .name = one.value("name", "dependency-" + std::to_string(all.size())),
        .repository = one.at("repo").get<std::string>(),
        .ref = one.value("ref", "HEAD"),
        .build = commands_of(one.value("build_commands", json()), "build_commands")};
    if (dependency.name.find('/') != std::string::npos || dependency.name.starts_with('.')) {
      throw Wrong("a dependency's name is no path: " + dependency.name);
    }
    all.push_back(std::move(dependency));
  }
  return all;
}

CommitPlan read(const json& given) {
  std::vector<optest::Problem> warnings;
  std::vector<RefusedExtraction> refused;
  const json request = with_configuration(given, warnings);
  if (!request.contains("repo")) throw Wrong("no repository is given");
  CommitPlan plan{
      .repository = request.at("repo").get<std::string>(),
      .commits = commits_of(request, refused),
      .main = request.value("main", ""),
      .environment = request.value("environment", "auto"),
      .image = request.value("image", ""),
      .dockerfile = request.value("dockerfile", ""),
      .engine = request.value("engine", ""),
      .python = request.value("python", ""),
      .patch = request.value("patch", ""),
      .setup = commands_of(request.value("setup_commands", json()), "setup_commands"),
      .install = commands_of(request.value("install_commands", json()), "install_commands"),
      .dependencies = dependencies_of(request),
      .repeats = request.value("repeats", 5),
      .timeout_s = request.value("timeout", 300),
      .install_timeout_s = request.value("install_timeout", 3'600),
      .return_unit = request.value("return_unit", "auto"),
      .eq_level = request.value("eq_level", ""),
      .needs = request.value("requires", json::object()),
      .dataset = request.value("dataset_path", "")};
  const json wanted = request.value("env", json::object());
  for (const auto& [key, value] : wanted.items()) {
    plan.variables[key] = value.get<std::string>();
  }
  plan.refused = std::move(refused);
  plan.warnings = std::move(warnings);
  return plan;
}

}  // namespace

std::string find_generator(const fs::path& folder, const std::string& commit) {
  std::error_code error;
  for (const std::string& stem : {commit, commit.substr(0, 8)}) {
    const fs::path file = folder / (stem + "_test_case_generator.py");
    if (fs::is_regular_file(file, error)) return file.string();
  }
  return {};
}

std::variant<CommitPlan, BadPlan> read_commit_plan(const json& request) {
  try {
    return read(request);
  } catch (const Wrong& wrong) {
    return BadPlan{wrong.what()};
  } catch (const json::exception& wrong) {
    return BadPlan{std::string("a value has the wrong type: ") + wrong.what()};
  }
}

}  // namespace assay::commits
