#include "engine/confinement/targets.h"

namespace assay::confinement {

using nlohmann::json;

json to_json(const Targets& targets) {
  return {{"supervisor", targets.supervisor},
          {"secret", targets.secret},
          {"folder", targets.folder},
          {"tcp_port", targets.tcp_port},
          {"udp_port", targets.udp_port},
          {"path_socket", targets.path_socket},
          {"abstract_socket", targets.abstract_socket},
          {"planted_socket", targets.planted_socket},
          {"shared_memory_id", targets.shared_memory_id},
          {"environment", targets.environment},
          {"data_bytes", targets.limits.data_bytes},
          {"file_bytes", targets.limits.file_bytes},
          {"open_files", targets.limits.open_files},
          {"temporary_files", targets.limits.temporary_files}};
}

Targets targets_from_json(const json& from) {
  Targets targets{.supervisor = from.at("supervisor").get<pid_t>(),
                  .secret = from.at("secret").get<std::string>(),
                  .folder = from.at("folder").get<std::string>(),
                  .tcp_port = from.at("tcp_port").get<std::uint16_t>(),
                  .udp_port = from.at("udp_port").get<std::uint16_t>(),
                  .path_socket = from.at("path_socket").get<std::string>(),
                  .abstract_socket = from.at("abstract_socket").get<std::string>(),
                  .planted_socket = from.at("planted_socket").get<std::string>(),
                  .shared_memory_id = from.at("shared_memory_id").get<int>(),
                  .environment = from.at("environment").get<std::vector<std::string>>()};
  targets.limits.data_bytes = from.at("data_bytes").get<std::uint64_t>();
  targets.limits.file_bytes = from.at("file_bytes").get<std::uint64_t>();
  targets.limits.open_files = from.at("open_files").get<std::uint64_t>();
  targets.limits.temporary_files = from.at("temporary_files").get<std::uint64_t>();
  return targets;
}

json to_json(const Findings& findings) {
  json attacks = json::array();
  for (const auto& attack : findings.attacks) {
    attacks.push_back({{"name", attack.name}, {"open", attack.open}, {"error", attack.error}});
  }
  return {{"attacks", std::move(attacks)}, {"self", findings.self}, {"fault", findings.fault}};
}

Findings findings_from_json(const json& from) {
  Findings findings;
  for (const auto& attack : from.at("attacks")) {
    findings.attacks.push_back({.name = attack.at("name").get<std::string>(),
                                .open = attack.at("open").get<bool>(),
                                .error = attack.at("error").get<int>()});
  }
  findings.self = from.at("self");
  findings.fault = from.at("fault").get<std::string>();
  return findings;
}

}  // namespace assay::confinement
