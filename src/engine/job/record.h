// A job and its stages as values: what the journal keeps, what a report is made of, what travels
// between server and engine.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/job/verdict.h"

namespace assay::job {

struct StageRecord {
  std::string name{};  // one of the kind's stages
  StageStatus status = StageStatus::passed;
  std::int64_t started_ns = 0;  // Unix time; 0: not known
  double elapsed_ms = 0;
  nlohmann::json body = nlohmann::json::object();
};

// A file of the artifact store that a stage left behind.
struct ArtifactLink {
  std::string name{};        // the last part of its URI: "ptx", "log"
  std::string media_type{};  // "text/plain"
  std::uint64_t bytes = 0;
  std::string id{};       // SHA-256 of the bytes, in hexadecimal
  std::uint64_t seq = 0;  // of its stage; the journal fills it in
};

struct JobRecord {
  std::string id{};         // UUID, version 4
  std::string kind{};       // Kind::name
  std::string principal{};  // who made it, and alone may see it
  nlohmann::json request = nlohmann::json::object();
  std::int64_t created_ns = 0;  // Unix time
  std::int64_t updated_ns = 0;
  State state = State::submitted;
  std::optional<Verdict> verdict{};  // present once concluded
  std::vector<StageRecord> stages{};
  std::vector<ArtifactLink> artifacts{};  // in the order of their stages
  nlohmann::json conclusion = nlohmann::json::object();
};

[[nodiscard]] nlohmann::json to_json(const StageRecord& record);
// Throws std::invalid_argument on an unknown status, nlohmann's exceptions on a missing member.
[[nodiscard]] StageRecord stage_from_json(const nlohmann::json& document);

// 128 random bits as the text of a version 4 UUID.
[[nodiscard]] std::string new_job_id();

}  // namespace assay::job
