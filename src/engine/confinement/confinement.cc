#include "engine/confinement/confinement.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace assay::confinement {
namespace {

using nlohmann::json;

template <typename Value>
Value known(std::optional<Value> value, const std::string& text) {
  if (!value) throw std::runtime_error("confinement: unknown name \"" + text + "\"");
  return *value;
}

json limits_to_json(const Limits& limits) {
  return {{"cpu_seconds", limits.cpu_seconds},         {"data_bytes", limits.data_bytes},
          {"file_bytes", limits.file_bytes},           {"locked_bytes", limits.locked_bytes},
          {"open_files", limits.open_files},           {"tasks", limits.tasks},
          {"temporary_bytes", limits.temporary_bytes}, {"temporary_files", limits.temporary_files},
          {"resident_bytes", limits.resident_bytes}};
}

Limits limits_from_json(const json& from) {
  return {.cpu_seconds = from.at("cpu_seconds").get<std::uint64_t>(),
          .data_bytes = from.at("data_bytes").get<std::uint64_t>(),
          .file_bytes = from.at("file_bytes").get<std::uint64_t>(),
          .locked_bytes = from.at("locked_bytes").get<std::uint64_t>(),
          .open_files = from.at("open_files").get<std::uint64_t>(),
          .tasks = from.at("tasks").get<std::uint64_t>(),
          .temporary_bytes = from.at("temporary_bytes").get<std::uint64_t>(),
          .temporary_files = from.at("temporary_files").get<std::uint64_t>(),
          .resident_bytes = from.at("resident_bytes").get<std::uint64_t>()};
}

}  // namespace

std::string temporary_folder(const Confinement& confinement) {
  if (has_namespaces(confinement.layers.level)) return "/tmp";
  return confinement.writable.empty() ? "/nonexistent" : confinement.writable.front();
}

std::string encode(const Confinement& confinement) {
  return json{{"level", to_text(confinement.layers.level)},
              {"separate_uid", confinement.layers.separate_uid},
              {"user_namespace", confinement.layers.user_namespace},
              {"landlock", confinement.layers.landlock},
              {"profile", to_text(confinement.profile)},
              {"may_start_processes", confinement.may_start_processes},
              {"is_company", confinement.is_company},
              {"readable", confinement.readable},
              {"writable", confinement.writable},
              {"devices", confinement.devices},
              {"limits", limits_to_json(confinement.limits)}}
      .dump();
}

Confinement decode(std::string_view text) {
  try {
    const json from = json::parse(text);
    const auto level = from.at("level").get<std::string>();
    const auto profile = from.at("profile").get<std::string>();
    return {.layers = {.level = known(level_from_text(level), level),
                       .separate_uid = from.at("separate_uid").get<bool>(),
                       .user_namespace = from.at("user_namespace").get<bool>(),
                       .landlock = from.at("landlock").get<bool>()},
            .profile = known(profile_from_text(profile), profile),
            .may_start_processes = from.at("may_start_processes").get<bool>(),
            .is_company = from.at("is_company").get<bool>(),
            .readable = from.at("readable").get<std::vector<std::string>>(),
            .writable = from.at("writable").get<std::vector<std::string>>(),
            .devices = from.at("devices").get<std::vector<std::string>>(),
            .limits = limits_from_json(from.at("limits"))};
  } catch (const json::exception& error) {
    throw std::runtime_error(std::string("confinement: ") + error.what());
  }
}

}  // namespace assay::confinement
