// What a runner can do wrong, one function each. A misdeed returns the exit code if it returns at
// all; the worker's confinement is in force when it begins.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assay::misbehaving {

// `--key=value` arguments of the command line.
class Options {
 public:
  explicit Options(std::span<char* const> arguments) : arguments_(arguments) {}
  // The fallback if `key` is absent.
  [[nodiscard]] std::string text(std::string_view key, std::string_view fallback) const;
  [[nodiscard]] std::uint64_t number(std::string_view key, std::uint64_t fallback) const;

 private:
  std::span<char* const> arguments_;
};

struct Misdeed {
  std::string_view name{};
  std::string_view what{};
  int (*commit)(const Options& options) = nullptr;
};

// Each list is defined in the file of its name.
[[nodiscard]] std::span<const Misdeed> deaths();
[[nodiscard]] std::span<const Misdeed> silences();
[[nodiscard]] std::span<const Misdeed> floods();
[[nodiscard]] std::span<const Misdeed> frames();
[[nodiscard]] std::span<const Misdeed> processes();
[[nodiscard]] std::span<const Misdeed> memory();
[[nodiscard]] std::span<const Misdeed> files();

// Says on standard output that the misdeed has begun, for tests that wait for it.
void announce(std::string_view text);

}  // namespace assay::misbehaving
