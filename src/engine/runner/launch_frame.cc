#include "engine/runner/launch_frame.h"

#include <bit>

namespace assay::runner {

using nlohmann::json;

bool has_address(const json& item) {
  return item.at("type") == "tensor" && (item.value("bytes", 1) > 0 || item.contains("texture"));
}

std::vector<Argument> decode_arguments(const json& list, std::uint64_t arena_address) {
  std::vector<Argument> arguments;
  for (const auto& item : list) {
    Argument argument{.name = item.at("name").get<std::string>(),
                      .type = item.at("type").get<std::string>(),
                      .c_type = contract::parse_dtype(item.value("c_type", std::string()))};
    if (argument.type == "tensor") {
      argument.is_texture = item.contains("texture");
      if (has_address(item)) {
        argument.address = arena_address + item.at("offset").get<std::uint64_t>();
      }
    } else if (argument.type == "float") {
      // JSON has no NaN or infinity: the engine sends the bits.
      argument.real = std::bit_cast<double>(item.at("bits").get<std::uint64_t>());
    } else if (argument.type == "int" || argument.type == "bool") {
      argument.is_unsigned = item.value("unsigned", false);
      argument.integer = std::bit_cast<std::int64_t>(item.at("bits").get<std::uint64_t>());
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

emulator::Dim3 decode_dim(const json& list) {
  return {.x = list.at(0), .y = list.at(1), .z = list.at(2)};
}

bool is_cooperative(std::string_view ptx) { return ptx.find("%envreg2") != std::string_view::npos; }

}  // namespace assay::runner
