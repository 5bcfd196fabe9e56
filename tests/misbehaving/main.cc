// misbehaving_runner --role=NAME: does the one bad thing of that name. --list names them.
#include <unistd.h>

#include <charconv>
#include <cstdio>

#include "engine/confinement/child.h"
#include "engine/confinement/enter.h"
#include "engine/confinement/probe.h"
#include "tests/misbehaving/misdeeds.h"

namespace assay::misbehaving {

std::string Options::text(std::string_view key, std::string_view fallback) const {
  const std::string prefix = "--" + std::string(key) + "=";
  for (const char* argument : arguments_) {
    if (std::string_view(argument).starts_with(prefix)) return argument + prefix.size();
  }
  return std::string(fallback);
}

std::uint64_t Options::number(std::string_view key, std::uint64_t fallback) const {
  const std::string value = text(key, "");
  std::uint64_t result = fallback;
  std::from_chars(value.data(), value.data() + value.size(), result);
  return result;
}

void announce(std::string_view text) {
  std::string line(text);
  line += '\n';
  static_cast<void>(!::write(STDOUT_FILENO, line.data(), line.size()));
}

}  // namespace assay::misbehaving

int main(int argc, char** argv) {
  using namespace assay::misbehaving;
  if (const auto code = assay::confinement::enter_confinement(argc, argv)) return *code;
  const Options options(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  const std::string role = options.text("role", "");
  if (role == "probe") {
    return assay::confinement::run_probe(assay::confinement::kChannelDescriptor);
  }
  for (const auto& list :
       {deaths(), silences(), floods(), frames(), processes(), memory(), files()}) {
    for (const Misdeed& misdeed : list) {
      if (role == misdeed.name) return misdeed.commit(options);
      if (argc == 2 && std::string_view(argv[1]) == "--list") {
        std::printf("%-18s %s\n", std::string(misdeed.name).c_str(),
                    std::string(misdeed.what).c_str());
      }
    }
  }
  return role.empty() ? 0 : 64;
}
