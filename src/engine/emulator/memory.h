// The address table of a launch: which device addresses exist and where their bytes lie on the
// host. Immutable while a launch runs; read by all of its threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::emulator {

struct Object {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::byte* host = nullptr;
  bool writable = true;
  bool is_variable = false;  // of the module, not a buffer of the caller
  std::string name{};
};

class AddressTable {
 public:
  // False if it overlaps what is there already.
  bool add(Object object);
  // Index of the object holding [begin, begin + bytes), or -1.
  [[nodiscard]] std::int32_t find(std::uint64_t begin, std::uint64_t bytes) const {
    auto it = std::upper_bound(objects_.begin(), objects_.end(), begin,
                               [](std::uint64_t a, const Object& o) { return a < o.begin; });
    if (it == objects_.begin()) return -1;
    --it;
    if (begin > it->end || it->end - begin < bytes) return -1;
    return static_cast<std::int32_t>(it - objects_.begin());
  }
  // The object whose edge is closest to `address`, or nullptr if there is none.
  [[nodiscard]] const Object* nearest(std::uint64_t address) const;
  [[nodiscard]] const std::vector<Object>& objects() const { return objects_; }

 private:
  std::vector<Object> objects_{};  // sorted by address, disjoint
};

}  // namespace assay::emulator
