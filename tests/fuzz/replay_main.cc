// A fuzzer without libFuzzer: every file of a corpus, every prefix of it up to a bound, and each
// with some bytes changed. Run by the tests, so that what the corpus has found once stays found.
//   NAME_replay CORPUS_FOLDER [CHANGES_PER_FILE]
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>

#include "tests/fuzz/codec_fuzz.h"

namespace {

constexpr std::size_t kMaxPrefixes = 60;
constexpr int kDefaultChanges = 100;

void run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

void run_prefixes(const std::string& bytes) {
  const std::size_t step = bytes.size() / kMaxPrefixes + 1;
  for (std::size_t length = 0; length < bytes.size(); length += step) run(bytes.substr(0, length));
  run(bytes);
}

void run_changed(const std::string& bytes, int changes, std::mt19937& random) {
  if (bytes.empty()) return;
  for (int i = 0; i < changes; ++i) {
    std::string changed = bytes;
    for (auto left = 1 + random() % 3; left > 0; --left)
      changed[random() % changed.size()] = static_cast<char>(random() % 256);
    run(changed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int changes = argc > 2 ? std::atoi(argv[2]) : kDefaultChanges;
  std::mt19937 random(5);
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream stream(file.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    run_prefixes(bytes);
    run_changed(bytes, changes, random);
    ++files;
  }
  std::cout << files << " files, none broke a claim\n";
  // A fuzzer may have a server running, which ends with the process.
  std::cout.flush();
  std::_Exit(files > 0 ? 0 : 1);
}
