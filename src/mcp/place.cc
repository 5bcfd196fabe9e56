#include "mcp/place.h"

#include "mcp/utf8.h"

namespace assay::mcp {

std::string pointer_segment(std::string_view key) {
  constexpr std::size_t kMaxKeyBytes = 200;
  std::string segment;
  for (const char c : shortened(key, kMaxKeyBytes)) {
    if (c == '~')
      segment += "~0";
    else if (c == '/')
      segment += "~1";
    else
      segment += c;
  }
  return segment;
}

std::string Place::pointer() const {
  if (!parent_) return {};
  return parent_->pointer() + '/' + (is_index_ ? std::to_string(index_) : pointer_segment(key_));
}

}  // namespace assay::mcp
