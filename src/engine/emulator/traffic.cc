#include "engine/emulator/traffic.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/emulator/warp.h"

namespace assay::emulator {

namespace {

constexpr unsigned kSectorBytes = 32;
constexpr unsigned kBanks = 32;
constexpr std::size_t kMaxKeptShapes = 8192;  // instructions: about 25 MB

// The number of distinct values.
template <std::size_t N>
unsigned distinct(std::array<std::uint64_t, N>& values, std::size_t n) {
  std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
  return static_cast<unsigned>(
      std::unique(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n)) -
      values.begin());
}

// Wavefronts of one phase: the most words that one bank is asked for. The words of a bank are a
// chain.
unsigned passes(const std::array<std::uint64_t, 32>& addresses, std::uint32_t lanes,
                unsigned bytes) {
  std::array<std::uint64_t, 128> words{};
  std::array<std::uint8_t, 128> next{};  // one more than the index; 0 ends a chain
  std::array<std::uint8_t, kBanks> head{};
  std::array<std::uint8_t, kBanks> length{};
  std::uint8_t n = 0;
  unsigned most = 0;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const std::uint64_t a = addresses[static_cast<std::size_t>(__builtin_ctz(m))];
    for (std::uint64_t w = a / 4; w <= (a + bytes - 1) / 4 && n < words.size(); ++w) {
      const std::size_t bank = w % kBanks;
      std::uint8_t i = head[bank];
      while (i != 0 && words[i - 1U] != w) i = next[i - 1U];
      if (i != 0) continue;
      words[n] = w;
      next[n] = head[bank];
      head[bank] = ++n;
      most = std::max<unsigned>(most, ++length[bank]);
    }
  }
  return most;
}

struct Sectors {
  std::array<std::uint64_t, 64> numbers{};
  unsigned count = 0;
};

// Each once. Addresses mostly rise from lane to lane: then nothing needs to be sorted.
void list_sectors(const std::array<std::uint64_t, 32>& addresses, std::uint32_t active,
                  unsigned bytes, Sectors& out) {
  bool rising = true;
  std::size_t n = 0;
  for (std::uint32_t m = active; m != 0; m &= m - 1) {
    const std::uint64_t a = addresses[static_cast<std::size_t>(__builtin_ctz(m))];
    for (const std::uint64_t s : {a / kSectorBytes, (a + bytes - 1) / kSectorBytes}) {
      if (n != 0 && out.numbers[n - 1] == s) continue;
      rising = rising && (n == 0 || out.numbers[n - 1] < s);
      out.numbers[n++] = s;
    }
  }
  out.count = rising ? static_cast<unsigned>(n) : distinct(out.numbers, n);
}

std::uint64_t first_address(const Warp& w, const Op& op, AddressClass address, unsigned lane) {
  if (address == AddressClass::shared32) {
    std::uint32_t low = 0;
    std::memcpy(&low, w.rows + op.a + lane * 4, 4);
    return low + static_cast<std::uint32_t>(op.imm);
  }
  std::uint64_t a = 0;
  std::memcpy(&a, w.rows + op.a + lane * 8, 8);
  return a + static_cast<std::uint64_t>(op.imm);
}

unsigned lanes_per_phase(unsigned bytes) { return bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8; }

std::int64_t delta_of(const AccessShape& shape, bool narrow, std::size_t lane) {
  if (!narrow) return static_cast<std::int64_t>(shape.delta[lane]);
  std::int32_t low = 0;
  std::memcpy(&low, reinterpret_cast<const std::byte*>(shape.delta.data()) + 4 * lane, 4);
  return low;
}

}  // namespace

Stride stride_of(const AccessShape& shape, bool narrow) {
  Stride stride;
  std::size_t before = shape.first;
  for (std::uint32_t m = shape.active & (shape.active - 1); m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(m));
    const auto lanes = static_cast<std::int64_t>(lane - before);
    const std::int64_t apart = delta_of(shape, narrow, lane) - delta_of(shape, narrow, before);
    const bool first = stride.kind == Stride::Kind::unknown;
    if (apart % lanes != 0 || (!first && apart / lanes != stride.bytes)) {
      return {.kind = Stride::Kind::irregular};
    }
    stride = {.kind = Stride::Kind::one, .bytes = apart / lanes};
    before = lane;
  }
  return stride;
}

unsigned sectors_of(const std::array<std::uint64_t, 32>& addresses, std::uint32_t active,
                    unsigned bytes) {
  Sectors s;
  list_sectors(addresses, active, bytes, s);
  return s.count;
}

unsigned wavefronts_of(const std::array<std::uint64_t, 32>& addresses, std::uint32_t active,
                       unsigned bytes) {
  const unsigned lanes = lanes_per_phase(bytes);
  unsigned n = 0;
  for (unsigned at = 0; at < 32; at += lanes) {
    const std::uint32_t phase = lanes == 32 ? ~0U : ((1U << lanes) - 1) << at;
    if ((active & phase) != 0) n += passes(addresses, active & phase, bytes);
  }
  return n;
}

unsigned phases_of(std::uint32_t active, unsigned bytes) {
  const unsigned lanes = lanes_per_phase(bytes);
  unsigned n = 0;
  for (unsigned at = 0; at < 32; at += lanes) {
    const std::uint32_t phase = lanes == 32 ? ~0U : ((1U << lanes) - 1) << at;
    if ((active & phase) != 0) ++n;
  }
  return n;
}

Traffic::Traffic(const AddressTable& memory, std::size_t ops, const InspectionSet& inspection_set)
    : global(ops),
      shared(ops),
      strides(ops),
      is_store(ops),
      memory_(memory),
      set_(inspection_set),
      shapes_(ops),
      recent_(ops, &none_) {
  for (const Object& o : memory.objects()) {
    sectors.emplace_back((o.end - 1) / kSectorBytes - o.begin / kSectorBytes + 1);
  }
}

const LaneAddresses& Traffic::addresses_of(Warp& w, const Op& op, const WatchedSite& site) {
  set_.read(w, op, site.address == AddressClass::shared32, site.bytes(), addresses_);
  return addresses_;
}

Traffic::Shape& Traffic::shape_of(Warp& w, const Op& op, const WatchedSite& site, Shapes& shapes) {
  const bool narrow = site.address == AddressClass::shared32;
  for (unsigned i = 0; i < shapes.kept.size(); ++i) {
    Shape& s = shapes.kept[shapes.recent ^ i];
    if (!set_.repeats(w, op, narrow, s.of)) continue;
    shapes.recent ^= i;
    if (&shapes != &unkept_) recent_[site.pc] = &s.of;
    return s;
  }
  shapes.recent ^= 1U;  // the other one was not asked for last
  Shape& s = shapes.kept[shapes.recent];
  take_hits(site, s.of);
  set_.shape(w, op, narrow, s.of);
  s.of.number = ++shapes_taken_;
  s.of.led_by = 0;
  note_stride(site.pc, s.of, narrow);
  if (&shapes != &unkept_) recent_[site.pc] = &s.of;
  for (SectorList& list : s.sectors) list.count = 0;
  return s;
}

Traffic::Shapes& Traffic::shapes_at(std::uint32_t pc) {
  std::unique_ptr<Shapes>& kept = shapes_[pc];
  if (kept) return *kept;
  if (shapes_made_ < kMaxKeptShapes) {
    ++shapes_made_;
    kept = std::make_unique<Shapes>();
    return *kept;
  }
  for (Shape& s : unkept_.kept) s.of.active = 0;
  unkept_.object = 0;
  return unkept_;
}

void Traffic::note(Warp& w, const Op& op, const WatchedSite& site) {
  is_store[site.pc] = site.kind == SiteKind::store ? 1 : 0;
  Shapes& shapes = shapes_at(site.pc);
  Shape& shape = shape_of(w, op, site, shapes);
  const std::uint64_t first = first_address(w, op, site.address, shape.of.first);
  const bool in_window = site.space == Space::generic && first - kSharedWindow < kWindowBytes;
  if (site.space == Space::shared || in_window) {
    ++shape.of.hits[first % 4];
  } else if (site.space == Space::global ||
             (site.space == Space::generic && first - kLocalWindow >= kWindowBytes)) {
    note_global(w, op, site, shapes, shape);
  }
  if (&shapes == &unkept_) take_hits(site, shape.of);
}

void Traffic::note_stride(std::uint32_t pc, const AccessShape& shape, bool narrow) {
  const Stride seen = stride_of(shape, narrow);
  Stride& known = strides[pc];
  if (seen.kind == Stride::Kind::unknown || known.kind == Stride::Kind::irregular) return;
  if (known.kind == Stride::Kind::unknown) {
    known = seen;
  } else if (seen.kind == Stride::Kind::irregular || seen.bytes != known.bytes) {
    known = {.kind = Stride::Kind::irregular};
  }
}

// Of requests to shared memory. What they cost depends on the shape and on where in its word the
// first address is: moving all of them by whole words moves their banks alike and changes nothing.
void Traffic::take_hits(const WatchedSite& site, AccessShape& shape) {
  const bool narrow = site.address == AddressClass::shared32;
  for (std::size_t place = 0; place < shape.hits.size(); ++place) {
    const std::uint64_t hits = std::exchange(shape.hits[place], 0);
    if (hits == 0) continue;
    std::array<std::uint64_t, 32> addresses{};
    for (std::size_t k = 0; k < 32; ++k) {
      const std::int64_t delta = delta_of(shape, narrow, k);
      addresses[k] = kSharedWindow + place + static_cast<std::uint64_t>(delta);
    }
    Requests& r = shared[site.pc];
    r.requests += hits;
    r.sectors += hits * wavefronts_of(addresses, shape.active, site.bytes());
    r.ideal += hits * phases_of(shape.active, site.bytes());
    r.bytes += hits * site.bytes() * shape.lanes;
  }
}

void Traffic::finish(const Module::Text& text) {
  for (const WatchedSite& site : text.watched) {
    if (!shapes_[site.pc]) continue;
    for (Shape& s : shapes_[site.pc]->kept) take_hits(site, s.of);
  }
}

void Traffic::note_global(Warp& w, const Op& op, const WatchedSite& site, Shapes& shapes,
                          Shape& shape) {
  const std::uint64_t first = first_address(w, op, site.address, shape.of.first);
  SectorList& list = shape.sectors[first % kSectorBytes];
  if (list.count == 0) {
    Sectors touched;
    list_sectors(addresses_of(w, op, site).of, w.active, site.bytes(), touched);
    list.count = touched.count;
    list.runs.clear();
    for (unsigned i = 0; i < touched.count; ++i) {
      const auto at = static_cast<std::int64_t>(touched.numbers[i] - first / kSectorBytes);
      if (!list.runs.empty() && list.runs.back().first + list.runs.back().count == at) {
        ++list.runs.back().count;
      } else {
        list.runs.push_back({at, 1});
      }
    }
  }
  Requests& r = global[site.pc];
  ++r.requests;
  r.sectors += list.count;
  r.bytes += std::uint64_t{site.bytes()} * shape.of.lanes;
  if (!touch_runs(shape, list, first, site.bytes(), shapes.object)) {
    touch_each(addresses_of(w, op, site).of, w.active, site.bytes());
  }
}

bool Traffic::touch_runs(const Shape& shape, const SectorList& list, std::uint64_t first,
                         unsigned bytes, std::size_t& object) {
  const std::uint64_t low = first + static_cast<std::uint64_t>(shape.of.lowest);
  const std::uint64_t high = first + static_cast<std::uint64_t>(shape.of.highest) + bytes;
  const auto holds = [&](std::size_t i) {
    const Object& o = memory_.objects()[i];
    return low / kSectorBytes * kSectorBytes >= o.begin && high <= o.end && low < high;
  };
  if (object >= sectors.size() || !holds(object)) {
    const std::int32_t found = low < high ? memory_.find(low, high - low) : -1;
    if (found < 0 || !holds(static_cast<std::size_t>(found))) return false;
    object = static_cast<std::size_t>(found);
  }
  const std::uint64_t start = first / kSectorBytes - memory_.objects()[object].begin / kSectorBytes;
  for (const SectorRun& run : list.runs) {
    sectors[object].add(start + static_cast<std::uint64_t>(run.first), run.count);
  }
  return true;
}

void Traffic::touch_each(const std::array<std::uint64_t, 32>& addresses, std::uint32_t active,
                         unsigned bytes) {
  Sectors touched;
  list_sectors(addresses, active, bytes, touched);
  const Object* object = nullptr;
  std::size_t index = 0;
  for (unsigned i = 0; i < touched.count; ++i) {
    // A sector counts for the object that its bytes belong to; the first of them if two share it.
    const std::uint64_t begin = touched.numbers[i] * kSectorBytes;
    if (object == nullptr || begin + kSectorBytes <= object->begin || begin >= object->end) {
      const auto found = std::find_if(
          memory_.objects().begin(), memory_.objects().end(),
          [&](const Object& o) { return begin + kSectorBytes > o.begin && begin < o.end; });
      if (found == memory_.objects().end()) continue;
      object = &*found;
      index = static_cast<std::size_t>(found - memory_.objects().begin());
    }
    sectors[index].add(touched.numbers[i] - object->begin / kSectorBytes, 1);
  }
}

}  // namespace assay::emulator
