// What processes of one job say to each other: a small JSON body, an optional blob of bytes, and
// (between engine and runner only) descriptors. On the wire, little-endian:
//
//   u32 magic "ASY1" | u32 body bytes | u64 blob bytes | u32 descriptors | u32 zero | body | blob
//
// The descriptors ride as SCM_RIGHTS on the first bytes of the frame. Nothing in a frame is
// believed because it is well-formed: a runner's frames are claims, and every size is capped before
// it is read.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/posix/descriptor.h"

namespace assay::frames {

struct Frame {
  // An object with at least "type": the sender's verb.
  nlohmann::json body = nlohmann::json::object();
  std::string blob{};
  std::vector<posix::Descriptor> descriptors{};

  // "" when the body has no text under "type".
  [[nodiscard]] std::string type() const;
};

struct Caps {
  std::size_t body_bytes = 4U << 20;
  std::size_t blob_bytes = 256U << 20;
  std::size_t descriptors = 4;
  // Of objects and lists in the body; printing it walks it by recursion.
  std::size_t depth = 1024;
};

}  // namespace assay::frames
