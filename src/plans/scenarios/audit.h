// Reads what would build an environment, without running it: Dockerfiles, devcontainer.json,
// scripts, and logs of builds that have run. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "plans/scenarios/finding.h"

namespace assay::scenarios {

[[nodiscard]] std::vector<Finding> audit_dockerfile(const std::string& text,
                                                    const std::string& file,
                                                    const Subject& subject);
// What is no JSON is a finding too ("unreadable").
[[nodiscard]] std::vector<Finding> audit_devcontainer(const std::string& text,
                                                      const std::string& file,
                                                      const Subject& subject);
// `first_line`: of the file, where the script begins.
[[nodiscard]] std::vector<Finding> audit_script(const std::string& text, const std::string& file,
                                                const Subject& subject, int first_line = 1);

struct LogAudit {
  std::vector<Finding> findings{};
  std::size_t compiles = 0;
  // Of bash's `time`: the command before it, if it was echoed, and the seconds.
  std::vector<std::pair<std::string, double>> timed{};
  bool has_echoes = false;           // "(time …)" or "+ …" lines
  bool has_timestamps = false;       // "Start:" and "End:", or lines that begin with a time
  nlohmann::json outcome = nullptr;  // devcontainer's own last word
};
[[nodiscard]] LogAudit audit_log(const std::string& text, const std::string& file,
                                 const Subject& subject);

// The base images of a Dockerfile, its own stages left out, ARG by its default.
[[nodiscard]] std::vector<std::string> base_images(const std::string& dockerfile);

// Terminal colours and cursor movements removed; what a carriage return overwrote is a line of its
// own.
[[nodiscard]] std::vector<std::string> plain_lines(const std::string& log);

}  // namespace assay::scenarios
