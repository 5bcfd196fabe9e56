// Which instances of its template kernels a file launches: "scale<float, 4>", as NVRTC takes them.
// What the host's own template or dispatch macro decides is taken as float.
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::source {

// Once each, every argument known.
[[nodiscard]] std::vector<std::string> launched_instances(std::string_view source);

}  // namespace assay::source
