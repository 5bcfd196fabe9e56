// The data set's record of one commit, and the file of such records: one JSON object a line, one
// line per repository and head commit.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plans/commits/commit_plan.h"

namespace assay::commits {

// Milliseconds of every repeat, by side.
struct Durations {
  std::vector<double> base{};
  std::vector<double> head{};
  std::vector<double> main{};
  std::vector<double> patched{};
};

struct RecordFacts {
  std::string repository{};  // "owner/name", or a path
  std::string base{};
  std::string head{};
  std::string patch{};
  std::string message{};
  std::string script{};  // its text
  Durations durations{};
  bool failed = true;
  std::string notes{};
};

[[nodiscard]] nlohmann::json record_of(const RecordFacts& facts, const CommitPlan& plan,
                                       const CommitToMeasure& commit);

// "https://host/owner/name.git" → "owner/name"; a path stays one.
[[nodiscard]] std::string repository_name(const std::string& url,
                                          const std::filesystem::path& path);

// Appends, or replaces the line of the same repository and head; under a lock, and never half.
// "appended" or "replaced". Throws std::runtime_error if the file cannot be written.
[[nodiscard]] std::string add_record(const std::filesystem::path& file,
                                     const nlohmann::json& record);

}  // namespace assay::commits
