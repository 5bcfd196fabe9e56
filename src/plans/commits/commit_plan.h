// What a commit benchmark is asked: from the tool's arguments, a YAML configuration, and the
// extraction files of a commit data set. Values; any thread.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "plans/optest/problem.h"

namespace assay::commits {

// A text is a shell's, a list of words needs none.
using Command = std::vector<std::string>;

struct Dependency {
  std::string name{};
  std::string repository{};
  std::string ref{};  // "{commit}" is the commit that is measured
  std::vector<Command> build{};
};

struct CommitToMeasure {
  std::string head{};
  std::string base{};    // "": the first parent
  std::string script{};  // the generator
  nlohmann::json extraction = nlohmann::json::object();
};

// A file of the folder of extractions that is none: the others are measured all the same.
struct RefusedExtraction {
  std::string file{};
  std::string reason{};
};

struct CommitPlan {
  std::filesystem::path repository{};
  std::vector<CommitToMeasure> commits{};
  std::vector<RefusedExtraction> refused{};
  std::vector<optest::Problem> warnings{};  // of the configuration
  std::string main{};                       // a revision, "auto", or "" for none
  std::string environment = "auto";         // auto, worktree, venv, container
  std::string image{};
  std::string dockerfile{};
  std::string engine{};  // docker, podman; "": whichever works
  std::string python{};
  std::string patch{};  // a file, measured as a fourth side
  std::vector<Command> setup{};
  std::vector<Command> install{};
  std::vector<Dependency> dependencies{};
  std::map<std::string, std::string> variables{};
  int repeats = 5;
  int timeout_s = 300;
  int install_timeout_s = 3'600;
  std::string return_unit = "auto";
  std::string eq_level{};
  nlohmann::json needs = nlohmann::json::object();
  std::filesystem::path dataset{};  // "": no record is appended
};

struct BadPlan {
  std::string message{};
};

// `request`: the order's, in which every path is absolute. Reads the configuration and the
// extractions that it names.
[[nodiscard]] std::variant<CommitPlan, BadPlan> read_commit_plan(const nlohmann::json& request);

// `<full>_test_case_generator.py`, then `<first 8>_test_case_generator.py`; "" if neither is there.
[[nodiscard]] std::string find_generator(const std::filesystem::path& folder,
                                         const std::string& commit);

}  // namespace assay::commits
