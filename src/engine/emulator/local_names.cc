#include "engine/emulator/local_names.h"

#include <algorithm>

#include "engine/emulator/debug_section.h"

namespace assay::emulator {
namespace {

// DWARF 2 to 4, of which a compiler of kernels uses this much.
constexpr std::uint64_t kTagVariable = 0x34;
constexpr std::uint64_t kTagParameter = 0x05;
constexpr std::uint64_t kTagSubprogram = 0x2E;
constexpr std::uint64_t kLocation = 0x02;
constexpr std::uint64_t kName = 0x03;
constexpr std::uint64_t kLowPc = 0x11;
constexpr std::uint64_t kAbstractOrigin = 0x31;
constexpr std::uint8_t kOpAddress = 0x03;
constexpr std::uint8_t kOpPlus = 0x23;
constexpr std::uint8_t kOpRegister = 0x90;
constexpr std::size_t kUnitHeadBytes = 11;
constexpr std::size_t kEnd = ~std::size_t{0};

struct Abbreviation {
  std::uint64_t tag = 0;
  bool has_children = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> attributes{};  // and their forms
};

// What one entry says, as far as it matters here.
struct Entry {
  std::string name{};
  std::uint64_t origin = 0;  // another entry that has the name
  std::string_view begins_at{};
  bool has_expression = false;
  std::size_t expression = 0;  // where in .debug_info
  std::size_t expression_end = 0;
  bool has_list = false;
  std::uint64_t list = 0;  // where in .debug_loc
};

struct Described {
  std::uint32_t function = 0;
  Entry entry{};
};

std::map<std::uint64_t, Abbreviation> read_abbreviations(const DebugSection& section) {
  std::map<std::uint64_t, Abbreviation> out;
  DebugCursor in(section, 0, kEnd);
  while (!in.ended()) {
    const std::uint64_t code = in.uleb();
    if (code == 0) break;
    Abbreviation& a = out[code];
    a.tag = in.uleb();
    a.has_children = in.number(1) != 0;
    while (!in.ended()) {
      const std::uint64_t attribute = in.uleb();
      const std::uint64_t form = in.uleb();
      if (attribute == 0 && form == 0) break;
      a.attributes.emplace_back(attribute, form);
    }
  }
  return out;
}

// The bytes of a value of this form, whose own length has been read; kEnd: an unknown form.
std::uint64_t length_of(std::uint64_t form, DebugCursor& in) {
  switch (form) {
    case 0x0B:  // data1
    case 0x0C:  // flag
    case 0x11:  // ref1
      return 1;
    case 0x05:  // data2
    case 0x12:  // ref2
      return 2;
    case 0x06:  // data4
    case 0x0E:  // strp
    case 0x13:  // ref4
    case 0x17:  // sec_offset
      return 4;
    case 0x01:  // addr
    case 0x07:  // data8
    case 0x14:  // ref8
      return 8;
    case 0x19:  // flag_present
      return 0;
    case 0x0A:  // block1
      return in.number(1);
    case 0x03:  // block2
      return in.number(2);
    case 0x04:  // block4
      return in.number(4);
    case 0x09:  // block
    case 0x18:  // exprloc
      return in.uleb();
    default:
      return kEnd;
  }
}

bool is_block(std::uint64_t form) {
  return form == 0x0A || form == 0x03 || form == 0x04 || form == 0x09 || form == 0x18;
}

// False: a form that is not known, so that the rest cannot be read.
bool read_attribute(std::uint64_t attribute, std::uint64_t form, DebugCursor& in, Entry& out) {
  if (form == 0x08) {  // string
    std::string text = in.text();
    if (attribute == kName) out.name = std::move(text);
    return true;
  }
  if (form == 0x0D || form == 0x0F || form == 0x15) {  // sdata, udata, ref_udata
    in.uleb();
    return true;
  }
  const std::uint64_t bytes = length_of(form, in);
  if (bytes == kEnd) return false;
  const DebugLabel* const label = in.label();
  if (attribute == kLowPc && label != nullptr) out.begins_at = label->text;
  if (attribute == kLocation && is_block(form)) {
    out.has_expression = true;
    out.expression = in.at();
    out.expression_end = in.at() + bytes;
  } else if (attribute == kLocation && label != nullptr) {
    out.has_list = true;
    out.list = label->addend;
  }
  if (attribute == kAbstractOrigin && bytes <= 8) {
    out.origin = in.number(static_cast<unsigned>(bytes));
  } else {
    in.skip(bytes);
  }
  return true;
}

// A register's number is its name, a letter a byte.
std::string register_name(std::uint64_t number) {
  std::string name;
  for (; number != 0; number >>= 8) name.insert(name.begin(), static_cast<char>(number & 0xFF));
  return name;
}

}  // namespace

// Walks the entries; what belongs to a function is between its entry and the next one's.
struct LocalNames::Reader {
  explicit Reader(LocalNames& names) : out(names) {}

  void read() {
    const auto abbreviations = read_abbreviations(debug_section(ptx, ".debug_abbrev"));
    DebugCursor in(info, kUnitHeadBytes, kEnd);
    while (!in.ended()) {
      const std::size_t at = in.at();
      const auto known = abbreviations.find(in.uleb());
      if (known == abbreviations.end()) continue;  // 0: the end of some children
      Entry entry;
      for (const auto& [attribute, form] : known->second.attributes) {
        if (!read_attribute(attribute, form, in, entry)) return;
      }
      if (!entry.name.empty()) names_at[at] = entry.name;
      const std::uint64_t tag = known->second.tag;
      if (tag == kTagSubprogram) function = function_at(entry.begins_at);
      if ((tag == kTagVariable || tag == kTagParameter) && function) {
        described.push_back({*function, std::move(entry)});
      }
    }
  }

  // The function whose body holds the label.
  [[nodiscard]] std::optional<std::uint32_t> function_at(std::string_view label) const {
    if (label.empty()) return std::nullopt;
    const std::size_t at = ptx.find("\n" + std::string(label) + ":");
    std::optional<std::uint32_t> found;
    if (at == std::string_view::npos) return found;
    const auto& functions = out.text_.program.functions;
    for (std::uint32_t i = 0; i < functions.size(); ++i) {
      if (!functions[i].has_body || functions[i].body_offset > at) continue;
      if (!found || functions[i].body_offset > functions[*found].body_offset) found = i;
    }
    return found;
  }

  void settle() {
    for (const Described& d : described) {
      std::string name = d.entry.name;
      if (name.empty()) name = names_at[d.entry.origin];
      if (name.empty()) continue;
      if (d.entry.has_expression) {
        note(info, d.entry.expression, d.entry.expression_end, d.function, name);
      }
      if (d.entry.has_list) note_list(d.entry.list, d.function, name);
    }
  }

  void note_list(std::uint64_t at, std::uint32_t of, const std::string& name) {
    DebugCursor in(locations, static_cast<std::size_t>(at), kEnd);
    while (!in.ended()) {
      const bool begins = in.label() != nullptr;
      in.skip(8);
      const bool ends = in.label() != nullptr;
      in.skip(8);
      if (!begins && !ends) return;
      const std::uint64_t bytes = in.number(2);
      note(locations, in.at(), in.at() + bytes, of, name);
      in.skip(bytes);
    }
  }

  void note(const DebugSection& section, std::size_t at, std::size_t end, std::uint32_t of,
            const std::string& name) {
    DebugCursor in(section, at, end);
    const std::uint64_t op = in.number(1);
    if (op == kOpRegister) {
      out.in_register_.try_emplace({of, register_name(in.uleb())}, name);
    } else if (op == kOpAddress && in.label() != nullptr) {
      std::uint64_t offset = in.label()->addend;
      if (in.label()->text.find("local_depot") == std::string_view::npos) return;
      in.skip(8);
      if (!in.ended() && in.number(1) == kOpPlus) offset += in.uleb();
      out.in_memory_[of].push_back({static_cast<std::uint32_t>(offset), name});
    }
  }

  LocalNames& out;
  std::string_view ptx = out.text_.ptx;
  DebugSection info = debug_section(ptx, ".debug_info");
  DebugSection locations = debug_section(ptx, ".debug_loc");
  std::optional<std::uint32_t> function{};
  std::map<std::uint64_t, std::string> names_at{};  // of entries, by where they stand
  std::vector<Described> described{};
};

LocalNames::LocalNames(const Module::Text& text) : text_(text) {
  if (!text.program.is_debug) return;
  Reader reader(*this);
  reader.read();
  reader.settle();
  for (auto& [function, variables] : in_memory_) {
    std::sort(variables.begin(), variables.end(),
              [](const InMemory& a, const InMemory& b) { return a.offset < b.offset; });
  }
}

std::optional<LocalName> LocalNames::of(const LocalPlace& place) const {
  if (place.kind == LocalPlace::Kind::reg) {
    const auto& registers = text_.functions[place.function].registers;
    const auto found =
        in_register_.find({place.function, std::string(registers[place.index].name)});
    if (found == in_register_.end()) return std::nullopt;
    return LocalName{.variable = found->second};
  }
  const auto function = in_memory_.find(place.function);
  if (place.kind != LocalPlace::Kind::memory || function == in_memory_.end()) return std::nullopt;
  const InMemory* holder = nullptr;
  for (const InMemory& v : function->second) {
    if (v.offset <= place.offset) holder = &v;
  }
  if (holder == nullptr) return std::nullopt;
  return LocalName{.variable = holder->variable, .offset_bytes = place.offset - holder->offset};
}

}  // namespace assay::emulator
