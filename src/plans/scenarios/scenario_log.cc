#include "plans/scenarios/scenario_log.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>

namespace assay::scenarios {
namespace {

std::string time_text(const char* format) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[64];
  std::strftime(text, sizeof text, format, &utc);
  return text;
}

constexpr const char* kStamp = "%Y-%m-%d %H:%M:%S UTC";

// As bash's `time` prints it.
std::string bash_time(const char* name, double ms) {
  const double seconds = ms / 1000;
  const double minutes = std::floor(seconds / 60);
  char text[64];
  std::snprintf(text, sizeof text, "%s\t%.0fm%.3fs\n", name, minutes, seconds - 60 * minutes);
  return text;
}

std::string safe_name(std::string name) {
  for (char& letter : name) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
    if (!plain) letter = '_';
  }
  return name.empty() ? "scenario" : name.substr(0, 80);
}

}  // namespace

ScenarioLog::ScenarioLog(std::filesystem::path file, const std::string& scenario)
    : file_(std::move(file)),
      name_(time_text("%Y%m%d_%H%M%S") + "_" + safe_name(scenario) + ".log"),
      begun_(std::chrono::steady_clock::now()) {
  write("--- Scenario Runner ---\nScenario: " + scenario + "\nLog file: " + name_ +
        "\nStart: " + time_text(kStamp) + "\n");
}

void ScenarioLog::write(const std::string& text) const {
  std::ofstream(file_, std::ios::app | std::ios::binary) << text;
}

void ScenarioLog::say(const std::string& line) {
  write("[" + time_text(kStamp) + "] " + line + "\n");
}

void ScenarioLog::echo(const plans::Step& step) {
  write("[" + time_text(kStamp) + "] (time " + plans::command_line(step.argv) + ")\n");
}

void ScenarioLog::ended(const plans::StepEnd& end) {
  write("\n" + bash_time("real", end.wall_ms) + bash_time("user", end.user_ms) +
        bash_time("sys", end.system_ms));
  if (!end.succeeded()) say(plans::describe(end));
}

void ScenarioLog::finish() {
  const auto elapsed = std::chrono::steady_clock::now() - begun_;
  write("End: " + time_text(kStamp) + "\nTotal elapsed seconds: " +
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(elapsed).count()) + "\n");
}

std::string ScenarioLog::text() const {
  std::ifstream stream(file_, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace assay::scenarios
