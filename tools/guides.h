// How each kernel type is written, for a model to read: `assay://guide/{name}`, Markdown embedded
// byte for byte. Whoever asks may read them; their examples are run by tests. Any thread.
#pragma once

#include "mcp/resource.h"

namespace assay::tools {

// `resources` with the guides in front.
[[nodiscard]] mcp::Resources with_guides(mcp::Resources resources);

}  // namespace assay::tools
