#include "engine/emulator/matrix.h"

#include <unordered_map>

namespace assay::emulator {
namespace {

constexpr ElementName kElements[] = {
    {"b1", Element::b1, 1},      {"s4", Element::s4, 4},    {"u4", Element::u4, 4},
    {"s8", Element::s8, 8},      {"u8", Element::u8, 8},    {"e4m3", Element::e4m3, 8},
    {"e5m2", Element::e5m2, 8},  {"f16", Element::f16, 16}, {"bf16", Element::bf16, 16},
    {"tf32", Element::tf32, 32}, {"f32", Element::f32, 32}, {"s32", Element::s32, 32},
    {"f64", Element::f64, 64}};

// Digits at `at`, which moves behind them; 0 if there are none.
unsigned number_at(std::string_view text, std::size_t& at) {
  unsigned n = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && n < 10000; ++at) {
    n = n * 10 + static_cast<unsigned>(text[at] - '0');
  }
  return n;
}

// All that a layout depends on.
std::uint64_t key_of(const Fragment& f) {
  return static_cast<std::uint64_t>(f.role) | static_cast<std::uint64_t>(f.element) << 2 |
         std::uint64_t{f.opaque ? 1U : 0U} << 6 | std::uint64_t{f.shape.m} << 8 |
         std::uint64_t{f.shape.n} << 22 | std::uint64_t{f.shape.k} << 36 |
         std::uint64_t{f.rows.size()} << 50;
}

FragmentLayout make_layout(const Fragment& f) {
  FragmentLayout layout{.distinct_lanes = f.distinct_lanes(),
                        .per_register = f.per_register(),
                        .element_bits = bits_of(f.element),
                        .register_bytes = f.register_bytes()};
  for (unsigned lane = 0; lane < layout.distinct_lanes; ++lane) {
    for (unsigned r = 0; r < f.rows.size(); ++r) {
      for (unsigned i = 0; i < layout.per_register; ++i) layout.cells.push_back(f.cell(lane, r, i));
    }
  }
  return layout;
}

}  // namespace

const FragmentLayout& layout_of(const Fragment& fragment) {
  thread_local std::unordered_map<std::uint64_t, FragmentLayout> made;
  const std::uint64_t key = key_of(fragment);
  const auto found = made.find(key);
  return found != made.end() ? found->second
                             : made.emplace(key, make_layout(fragment)).first->second;
}

std::optional<Element> element_of(std::string_view text) {
  for (const ElementName& e : kElements) {
    if (e.text == text) return e.element;
  }
  return std::nullopt;
}

unsigned bits_of(Element element) {
  for (const ElementName& e : kElements) {
    if (e.element == element) return e.bits;
  }
  return 0;
}

std::optional<Shape> shape_of(std::string_view text) {
  Shape s;
  std::size_t at = 0;
  const auto side = [&](char letter) -> unsigned {
    if (at >= text.size() || text[at] != letter) return 0;
    return number_at(text, ++at);
  };
  s.m = side('m');
  s.n = side('n');
  s.k = side('k');
  if (s.m == 0 || s.n == 0 || s.k == 0 || at != text.size()) return std::nullopt;
  return s;
}

bool Fragment::fits() const {
  const unsigned held = static_cast<unsigned>(rows.size()) * per_register() * 32;
  const unsigned needed = height() * width();
  return held >= needed && held % needed == 0 && held / needed <= 4 && (opaque || held == needed);
}

unsigned Fragment::distinct_lanes() const {
  const unsigned held = static_cast<unsigned>(rows.size()) * per_register() * 32;
  return 32 / (held / (height() * width()));
}

Cell Fragment::cell(unsigned lane, unsigned reg, unsigned part) const {
  const unsigned per = per_register();
  const unsigned group = lane >> 2;
  const unsigned in_group = lane & 3U;
  const bool tiles = role == Operand3::accumulator && shape.m == 16 && shape.n == 16;
  if (opaque && !tiles) {
    const unsigned count = static_cast<unsigned>(rows.size()) * per;
    const unsigned index = lane % distinct_lanes() * count + reg * per + part;
    return {index / width(), index % width()};
  }
  switch (role) {
    case Operand3::a:
      return {group + (shape.m == 16 ? 8 * (reg & 1U) : 0),
              in_group * per + part + (shape.m == 16 ? reg >> 1 : reg) * 4 * per};
    case Operand3::b:
      return {in_group * per + part + reg * 4 * per, group};
    case Operand3::accumulator:
      break;
  }
  // Pairs of neighbours; 8 rows further down every second pair, 8 columns further every fourth.
  const unsigned index = reg * per + part;
  return {group + 8 * (index >> 1 & 1U), in_group * 2 + (index & 1U) + 8 * (index >> 2)};
}

}  // namespace assay::emulator
