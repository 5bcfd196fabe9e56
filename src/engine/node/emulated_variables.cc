#include "engine/node/emulated_variables.h"

#include <charconv>
#include <utility>

namespace assay::node {
namespace {

std::string copying_kernels(const std::vector<std::string>& variables) {
  std::string text =
      "\n#line 1 \"assay\"\nextern \"C\" __global__ void assay_copy(char* to, const char* from, "
      "unsigned long long bytes) {\n  for (unsigned long long i = threadIdx.x; i < bytes; i += "
      "blockDim.x) to[i] = from[i];\n}\n";
  for (std::size_t i = 0; i < variables.size(); ++i) {
    text += "extern \"C\" __global__ void assay_address_" + std::to_string(i) +
            "(unsigned long long* to) { *to = (unsigned long long)&::" + variables[i] + "; }\n";
  }
  return text;
}

std::string without_constant_memory(std::string text) {
  constexpr std::string_view kConstant = "__constant__";
  constexpr std::string_view kDevice = "  __device__";
  for (auto at = text.find(kConstant); at != std::string::npos; at = text.find(kConstant, at)) {
    text.replace(at, kConstant.size(), kDevice);
  }
  return text;
}

}  // namespace

std::string with_reachable_variables(std::string device,
                                     const std::vector<std::string>& variables) {
  return without_constant_memory(std::move(device)) + copying_kernels(variables);
}

std::uint64_t global_array_bytes(std::string_view ptx) {
  constexpr std::string_view kVariable = ".global .align ";
  std::uint64_t bytes = 0;
  for (auto at = ptx.find(kVariable); at != std::string_view::npos;
       at = ptx.find(kVariable, at + 1)) {
    const std::string_view line = ptx.substr(at, ptx.find_first_of(";=\n", at) - at);
    const auto open = line.find('[');
    if (line.find(" .b8 ") == std::string_view::npos || open == std::string_view::npos) continue;
    std::uint64_t count = 0;
    std::from_chars(line.data() + open + 1, line.data() + line.size(), count);
    bytes += count;
  }
  return bytes;
}

}  // namespace assay::node
