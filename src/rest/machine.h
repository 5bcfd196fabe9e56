// How answers name the machine they come from: pod_name, pod_ip, gpu_type, as the manual has them.
// A value, made once; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace assay::rest {

struct Machine {
  std::string name{};     // $POD_NAME, else the host's name
  std::string address{};  // $POD_IP, else the first address that is not the loopback's
};

[[nodiscard]] Machine this_machine();

// "a100", "h100", "h200", … from $GPU_TYPE or the model of the first GPU; "" if there is none, or
// it is of no kind that the manual names.
[[nodiscard]] std::string gpu_type(const nlohmann::json& capabilities);

}  // namespace assay::rest
