// The executable form of a PTX module: one array of Ops, functions as ranges of it. Immutable after
// Module::parse(); launches read it from many threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/emulator/emulator.h"
#include "engine/emulator/matrix.h"
#include "engine/emulator/op.h"
#include "engine/emulator/program.h"

namespace assay::emulator {

enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  reserved_begin,
  reserved_end,
  reserved_bytes,
  zero,
  one,
  three,
  grid_workspace_high,
  grid_workspace_low,
};

// A row of a frame that is set when the frame is made (`bits`, or the address of a shared variable)
// or when a block starts (a special register).
struct ConstantRow {
  std::uint32_t offset = 0;
  std::uint8_t lane_bytes = 4;
  std::uint64_t bits = 0;
  std::int32_t shared_variable = -1;  // index into Text::shared; bits is added
};
struct SpecialRow {
  std::uint32_t offset = 0;
  Special special = Special::zero;
  std::uint8_t lane_bytes = 4;
};

// A parameter or result of a .func: rows of 32-bit words in the frame, or one register row.
struct FormalSlot {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;       // per lane
  std::uint32_t lane_bytes = 4;  // of one row
  [[nodiscard]] std::size_t at(unsigned lane, unsigned byte) const {
    return std::size_t{offset} + byte / lane_bytes * 32 * lane_bytes + lane * lane_bytes +
           byte % lane_bytes;
  }
};

// A call site: where the caller keeps arguments and results.
struct CallSite {
  std::int32_t function = -1;  // -1: through a register
  std::vector<FormalSlot> arguments{};
  std::vector<FormalSlot> results{};
};

// A register of a debug build and its row.
struct RegisterRow {
  std::uint32_t offset = 0;
  std::uint8_t lane_bytes = 4;  // 0: a predicate
  std::string_view name{};      // in Text::ptx
};

struct Function {
  std::string name{};
  bool is_entry = false;
  bool compiled = false;
  std::uint32_t index = 0;  // its own
  std::uint32_t entry_pc = 0;
  std::uint32_t end_pc = 0;
  std::uint32_t frame_bytes = 0;
  std::uint32_t local_bytes = 0;  // per thread
  std::vector<ConstantRow> constants{};
  std::vector<SpecialRow> specials{};
  std::vector<FormalSlot> parameters{};
  std::vector<FormalSlot> results{};
  std::vector<RegisterRow> registers{};            // of a debug build
  std::vector<std::uint32_t> references{};         // functions called or named
  std::vector<std::uint32_t> shared_references{};  // indices into Text::shared
  std::string unsupported{};
  int unsupported_ptx_line = 0;
  SourceLine unsupported_where{};
};

struct SharedVariable {
  std::string name{};
  std::size_t size_bytes = 0;
  std::size_t align_bytes = 1;
  bool dynamic = false;
};

struct Location {
  int file = 0;
  int line = 0;
  int column = 0;
  std::int32_t inlined_at = -1;  // index of the caller's location
};

// An Op that an inspection looks at.
enum class SiteKind : std::uint8_t {
  load,
  store,
  atomic,
  other_access,  // finds its addresses itself: copies, matrices, mbarriers
  division,      // of integers
  number,        // makes a float
  product,       // of matrices
  index,         // integer arithmetic that indices are made of
  comparison,    // of floats, ordered: false of a NaN
};
// What it does with its sources.
enum class IndexStep : std::uint8_t {
  none,
  copy,  // mov, cvt; of numbers: mov, selp
  negate,
  add,
  subtract,
  multiply,
  multiply_add,
  shift,
  least,  // of two
  most,
};
struct WatchedSite {
  std::uint32_t pc = 0;
  SiteKind kind = SiteKind::load;
  Space space = Space::generic;
  AddressClass address = AddressClass::table;
  Type type = Type::none;      // of one element, or of the result
  std::uint8_t elements = 1;   // of a vector; sources of a number or an index
  std::uint8_t row_bytes = 4;  // of a lane in the data's register, or in the result's
  bool synchronising = false;  // volatile, relaxed or stronger
  bool orders = false;         // acquire, release: needs no fence
  IndexStep step = IndexStep::none;
  std::uint8_t constants = 0;  // of an index: sources that are, a bit each
  Type from = Type::none;      // of a conversion: its source
  [[nodiscard]] unsigned bytes() const { return bytes_of(type) * elements; }  // of a lane
  // selp of what may be indices.
  [[nodiscard]] bool selects_index() const {
    return kind == SiteKind::number && step == IndexStep::copy && elements == 2 &&
           !is_float(type) && bytes_of(type) == row_bytes && row_bytes >= 4;
  }
};

// Where an Op stands in the PTX text.
struct Site {
  std::uint32_t text_offset = 0;
  std::uint32_t text_bytes = 0;
  std::int32_t ptx_line = 0;
  std::int32_t location = -1;
};

struct Module::Text {
  std::string ptx{};
  Program program{};
  std::vector<Op> code{};
  std::vector<Site> sites{};           // one per Op
  std::vector<WatchedSite> watched{};  // by pc
  std::vector<Function> functions{};   // parallel to program.functions
  std::vector<CallSite> calls{};
  std::vector<MatrixProduct> products{};
  std::vector<MatrixTransfer> transfers{};
  std::vector<std::vector<std::uint32_t>> jump_tables{};
  std::vector<SharedVariable> shared{};
  std::vector<Location> locations{};
  std::vector<KernelInfo> kernels{};
  std::unordered_map<std::string, std::uint32_t> kernel_functions{};

  [[nodiscard]] SourceLine where(std::int32_t location) const;
  [[nodiscard]] SourceLine where_pc(std::uint32_t pc) const;
  // The places the function at `pc` was inlined at, innermost first.
  [[nodiscard]] std::vector<SourceLine> inlined_at(std::uint32_t pc) const;
  // Is any place of that chain in a file below a folder of this name, "/cub/"?
  [[nodiscard]] bool is_below(std::uint32_t pc, std::string_view folder) const;
  [[nodiscard]] std::string instruction_at(std::uint32_t pc) const;
  // By pc: what a thread that stands at `from` may come to within its function.
  [[nodiscard]] std::vector<bool> reached_from(std::uint32_t from) const;
  // Every function that a call from `function` may reach, itself first.
  [[nodiscard]] std::vector<std::uint32_t> reachable(std::uint32_t function) const;
};

// Shared memory of one kernel: offsets of the variables it reaches.
struct SharedLayout {
  std::unordered_map<std::uint32_t, std::uint32_t> offsets{};
  std::size_t static_bytes = 0;
  std::size_t room_bytes = 0;  // of static_bytes: lies between variables, and a device has none
};
enum class Between : std::uint8_t {
  nothing,
  room,  // who leaves one variable does not get into the next unseen
};
[[nodiscard]] SharedLayout shared_layout(const Module::Text& text, std::uint32_t function,
                                         Between between = Between::nothing);

}  // namespace assay::emulator
