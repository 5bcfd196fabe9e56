#include "rest/machine.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>

namespace assay::rest {
namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string host_name() {
  std::array<char, 256> text{};
  return ::gethostname(text.data(), text.size() - 1) == 0 ? std::string(text.data())
                                                          : std::string("localhost");
}

std::string first_address() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return "127.0.0.1";
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> kept(list, ::freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    const bool is_other = (one->ifa_flags & IFF_LOOPBACK) == 0 && one->ifa_addr != nullptr;
    if (!is_other || one->ifa_addr->sa_family != AF_INET) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size()) != nullptr)
      return text.data();
  }
  return "127.0.0.1";
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

Machine this_machine() {
  Machine machine{.name = from_environment("POD_NAME"), .address = from_environment("POD_IP")};
  if (machine.name.empty()) machine.name = host_name();
  if (machine.address.empty()) machine.address = first_address();
  return machine;
}

std::string gpu_type(const nlohmann::json& capabilities) {
  const std::string said = lower(from_environment("GPU_TYPE"));
  for (const auto& device : capabilities.value("devices", nlohmann::json::array())) {
    if (device.value("kind", "") != "gpu") continue;
    // What the operator calls his GPUs; without one there is nothing to call so. It becomes a
    // header field: letters and digits, or nothing.
    if (!said.empty()) {
      const bool plain =
          said.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
      return plain ? said : std::string();
    }
    const std::string model = lower(device.value("model", ""));
    for (const char* type : {"a100", "h100", "h200"})
      if (model.find(type) != std::string::npos) return type;
    return {};
  }
  return {};
}

}  // namespace assay::rest
