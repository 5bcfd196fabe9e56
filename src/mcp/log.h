// Where this room reports what the client cannot be told. The room depends on no logging library;
// the owner of the server injects a sink. The sink may be called from any thread, must not throw,
// and must never write to the protocol's output.
#pragma once

#include <functional>
#include <string_view>

namespace assay::mcp {

enum class Level { debug, info, warning, error };

using Log = std::function<void(Level, std::string_view)>;

}  // namespace assay::mcp
