// Emulated kernels leave cores to who times on a GPU.
#include "engine/node/cores.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "engine/node/runners.h"
#include "tests/catch.h"

using namespace assay;
using node::emulator_cores;

TEST_CASE("two cores per GPU are left, half of them at most, and one works always") {
  CHECK(emulator_cores(16, 0) == 16);
  CHECK(emulator_cores(16, 1) == 14);
  CHECK(emulator_cores(128, 8) == 112);
  CHECK(emulator_cores(4, 8) == 2);
  CHECK(emulator_cores(2, 1) == 1);
  CHECK(emulator_cores(1, 1) == 1);
  CHECK(emulator_cores(1024, 0) == 256);
  CHECK(emulator_cores(16, static_cast<std::size_t>(-1)) == 8);
}

namespace {

// "0-3,8" names five.
unsigned count_of(const std::string& list) {
  unsigned count = 0;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto dash = part.find('-');
    const int first = std::stoi(part);
    count += 1U + static_cast<unsigned>(
                      dash == std::string::npos ? 0 : std::stoi(part.substr(dash + 1)) - first);
  }
  return count;
}

unsigned allowed_cores(const std::filesystem::path& process) {
  std::ifstream status(process / "status");
  const std::string name = "Cpus_allowed_list:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return count_of(line.substr(name.size()));
  }
  return 0;
}

// The fewest that a process begun with these words may use; 0 if there is none.
unsigned fewest_cores_of(const std::string& words) {
  unsigned fewest = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    if (line.find(words) == std::string::npos) continue;
    const unsigned cores = allowed_cores(entry.path());
    if (cores != 0 && (fewest == 0 || cores < fewest)) fewest = cores;
  }
  return fewest;
}

}  // namespace

TEST_CASE("the process that emulates keeps to the cores it was told") {
  const node::Runners all(ASSAY_BINARY_FOLDER "/assay-runner", {.level = confinement::Level::L1},
                          node::Toolkit{});
  const auto half = all.leaving_cores_to(1'000);
  const unsigned cores = emulator_cores(node::cores_here(), 1'000);
  const auto process = half.start(node::RunnerRole::kernel);
  frames::Frame question;
  question.body = {{"type", "reset"}};
  // It answers once it has begun.
  const auto reply = process->ask(std::move(question),
                                  std::chrono::steady_clock::now() + std::chrono::seconds(60), {});
  REQUIRE(std::holds_alternative<frames::Frame>(reply));
  const std::string word = "--cores=" + std::to_string(cores);
  CHECK(fewest_cores_of(std::string("--role=kernel") + '\0' + word) == cores);
}
