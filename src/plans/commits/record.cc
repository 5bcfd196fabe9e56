#include "plans/commits/record.h"

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <stdexcept>

#include "engine/posix/descriptor.h"
#include "plans/optest/tensor_file.h"
#include "plans/samples.h"

namespace assay::commits {
namespace {

using nlohmann::json;

constexpr std::size_t kShortHash = 7;

std::string now_text() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

json words(const std::vector<Command>& commands) {
  json list = json::array();
  for (const auto& command : commands) {
    const bool is_shell = command.size() == 3 && command[0] == "sh" && command[1] == "-c";
    list.push_back(is_shell ? json(command[2]) : json(command));
  }
  return list;
}

std::string with_underscores(std::string name) {
  for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at))
    name.replace(at, 1, "__");
  return name;
}

bool same_commit(const json& a, const json& b) {
  return a.is_object() && a.value("repo", json()) == b.at("repo") &&
         a.value("head_commit", json()) == b.at("head_commit");
}

}  // namespace

json record_of(const RecordFacts& facts, const CommitPlan& plan, const CommitToMeasure& commit) {
  json durations = {{"base", facts.durations.base},
                    {"head", facts.durations.head},
                    {"main", facts.durations.main}};
  if (!facts.durations.patched.empty()) durations["patched"] = facts.durations.patched;
  json performance = nullptr;
  if (!facts.durations.base.empty() && !facts.durations.head.empty()) {
    performance =
        plans::percentile(facts.durations.base, 50) / plans::percentile(facts.durations.head, 50);
  }
  json record = {
      {"repo", facts.repository},
      {"instance_id", with_underscores(facts.repository) + "-" + facts.head.substr(0, kShortHash)},
      {"created_at", now_text()},
      {"base_commit", facts.base},
      {"head_commit", facts.head},
      {"patch", facts.patch},
      {"test_patch", ""},
      {"efficiency_test", json::array({facts.script})},
      {"duration_changes", json::array({durations})},
      {"human_performance", performance},
      {"version", "assay-" ASSAY_VERSION},
      {"test_functions", json::array({"run_test"})},
      {"gt_commit_message", facts.message},
      {"setup_commands", words(plan.setup)},
      {"install_commands", words(plan.install)},
      {"notes", facts.notes},
      {"test_failed", facts.failed ? "Yes" : "No"}};
  if (commit.extraction.contains("affected_apis"))
    record["api"] = commit.extraction.at("affected_apis");
  return record;
}

std::string repository_name(const std::string& url, const std::filesystem::path& path) {
  std::string text = url;
  if (text.ends_with(".git")) text.resize(text.size() - 4);
  while (text.ends_with('/')) text.pop_back();
  const bool is_remote =
      text.find("://") != std::string::npos || text.find('@') != std::string::npos;
  const std::size_t last = text.find_last_of("/:");
  if (!is_remote || last == std::string::npos || last == 0) return path.filename().string();
  const std::size_t before = text.find_last_of("/:", last - 1);
  return before == std::string::npos
             ? text.substr(last + 1)
             : text.substr(before + 1, last - before - 1) + "/" + text.substr(last + 1);
}

std::string add_record(const std::filesystem::path& file, const json& record) {
  optest::make_parent(file);
  const posix::Descriptor lock(
      ::open((file.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0)
    throw std::runtime_error("cannot lock " + file.string());
  std::string text;
  bool replaced = false;
  {
    std::ifstream stream(file, std::ios::binary);
    for (std::string line; std::getline(stream, line);) {
      if (line.empty()) continue;
      if (same_commit(json::parse(line, nullptr, false), record)) {
        replaced = true;
        continue;
      }
      text += line + "\n";
    }
  }
  text += record.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  optest::write_file(file, text);
  return replaced ? "replaced" : "appended";
}

}  // namespace assay::commits
