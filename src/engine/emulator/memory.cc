#include "engine/emulator/memory.h"

#include <utility>

namespace assay::emulator {

bool AddressTable::add(Object object) {
  auto it = std::upper_bound(objects_.begin(), objects_.end(), object.begin,
                             [](std::uint64_t a, const Object& o) { return a < o.begin; });
  if (object.end < object.begin) return false;
  if (it != objects_.end() && it->begin < object.end) return false;
  if (it != objects_.begin() && std::prev(it)->end > object.begin) return false;
  objects_.insert(it, std::move(object));
  return true;
}

const Object* AddressTable::nearest(std::uint64_t address) const {
  const Object* best = nullptr;
  std::uint64_t best_distance = ~std::uint64_t{0};
  for (const Object& o : objects_) {
    std::uint64_t distance = 0;
    if (address < o.begin) distance = o.begin - address;
    if (address >= o.end) distance = address - o.end + 1;
    if (distance < best_distance) {
      best_distance = distance;
      best = &o;
    }
  }
  return best;
}

}  // namespace assay::emulator
