// Where in a JSON value a walk stands: a list on the stack, rendered as a JSON pointer only when
// something has to be said. A Place must not outlive its parent or the key it refers to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::mcp {

class Place {
 public:
  Place() = default;
  Place(const Place& parent, std::string_view key) : parent_(&parent), key_(key) {}
  Place(const Place& parent, std::size_t index)
      : parent_(&parent), index_(index), is_index_(true) {}

  [[nodiscard]] std::string pointer() const;

 private:
  const Place* parent_ = nullptr;
  std::string_view key_{};
  std::size_t index_ = 0;
  bool is_index_ = false;
};

// One segment of a JSON pointer: ~ and / escaped; a monstrous key is cut.
[[nodiscard]] std::string pointer_segment(std::string_view key);

}  // namespace assay::mcp
