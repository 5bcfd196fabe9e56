// SHA-256 (FIPS 180-4) of the few kilobytes of a call filter, so that two servers can be seen to
// confine alike. Here because no library with one is linked into the runner. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace assay::confinement {

// In hexadecimal.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace assay::confinement
