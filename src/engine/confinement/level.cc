#include "engine/confinement/level.h"

#include <array>
#include <utility>

namespace assay::confinement {
namespace {

constexpr std::array<std::pair<Level, std::string_view>, 6> kLevels{{{Level::L0, "L0"},
                                                                     {Level::L1, "L1"},
                                                                     {Level::L1u, "L1u"},
                                                                     {Level::L1n, "L1n"},
                                                                     {Level::L2, "L2"},
                                                                     {Level::L3, "L3"}}};

constexpr std::array<std::pair<Profile, std::string_view>, 3> kProfiles{
    {{Profile::compile, "compile"}, {Profile::cpu, "cpu"}, {Profile::gpu, "gpu"}}};

template <typename Value, std::size_t Count>
std::string_view text_of(const std::array<std::pair<Value, std::string_view>, Count>& table,
                         Value value) {
  for (const auto& [known, text] : table) {
    if (known == value) return text;
  }
  return "";
}

template <typename Value, std::size_t Count>
std::optional<Value> value_of(const std::array<std::pair<Value, std::string_view>, Count>& table,
                              std::string_view text) {
  for (const auto& [value, known] : table) {
    if (known == text) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_text(Level level) { return text_of(kLevels, level); }
std::optional<Level> level_from_text(std::string_view text) { return value_of(kLevels, text); }
std::string_view to_text(Profile profile) { return text_of(kProfiles, profile); }
std::optional<Profile> profile_from_text(std::string_view text) {
  return value_of(kProfiles, text);
}

}  // namespace assay::confinement
