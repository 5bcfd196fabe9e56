// PTX executed on the CPU, for correctness and diagnosis: the device of a machine that has none.
// A library of its own: no CUDA header, no process, no descriptor, no JSON. It must never crash on
// any PTX text or any kernel behaviour; what it cannot execute it names.
//
// Ownership: a Module is immutable after parse() and may be shared by threads. A Device holds one
// module's `.global`/`.const` variables (which keep their values over launches, as on a GPU) and
// borrows the caller's buffers; one thread calls it at a time, and launch() uses its own threads
// inside.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/emulator/texture.h"

namespace assay::emulator {

// Where in the user's source, from `.loc`/`.file` (NVRTC -lineinfo). line 0: unknown.
struct SourceLine {
  std::string file{};
  int line = 0;
  int column = 0;
};

struct ParseError {
  int ptx_line = 0;
  std::string message{};
};

struct Parameter {
  std::string type{};          // as PTX spells it: u64, f32, b8 …
  std::size_t size_bytes = 0;  // whole parameter, arrays (structs by value) included
  std::size_t align_bytes = 0;
  std::size_t offset_bytes = 0;  // in the parameter block
};

struct KernelInfo {
  std::string name{};  // the entry's name, mangled as in the PTX
  std::vector<Parameter> parameters{};
  std::size_t parameter_bytes = 0;
  std::size_t static_shared_bytes = 0;
  // Product of .maxntid, 0 if none.
  unsigned max_threads = 0;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // blocks that come together
  // Rows of 32 bits that hold its registers here: more than an assembler makes of them, mostly.
  unsigned register_rows = 0;
  // Empty: this emulator can execute the kernel. Else the first instruction that stands in the way.
  std::string unsupported_instruction{};
  int unsupported_ptx_line = 0;
  SourceLine unsupported_where{};
};

class Module {
 public:
  // Reads a whole PTX text. Kernels with instructions that cannot be executed still parse; their
  // KernelInfo says so. Bounded memory and time for any input.
  [[nodiscard]] static std::variant<std::shared_ptr<const Module>, ParseError> parse(
      std::string_view ptx);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  [[nodiscard]] const std::vector<KernelInfo>& kernels() const;  // in the text's order

  struct Text;  // the parsed program; private to this folder
  [[nodiscard]] const Text& text() const { return *text_; }

 private:
  explicit Module(std::unique_ptr<Text> text);
  std::unique_ptr<Text> text_;
};

// One tensor in device memory. The kernel sees [address, address + bytes.size()); anything else
// that is not the module's own variable, shared or local memory faults, but for loads from what
// surrounds it (Surroundings).
struct Buffer {
  std::uint64_t address = 0;
  std::span<std::byte> bytes{};
  std::string name{};       // for diagnosis: the contract's argument name
  bool initialised = true;  // false: whoever reads a byte before writing it makes a mistake
};

// Memory that a device has mapped around the buffers: a load that leaves its buffer and stays in
// there is a mistake that no device shows. It reads what is there, and a finding says so. Empty:
// every access outside a buffer faults.
struct Surroundings {
  std::uint64_t address = 0;
  std::span<const std::byte> bytes{};
  std::uint64_t mapped_bytes = 0;  // what is mapped beyond `bytes` reads as zeros
};

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

// What is looked at beside running: each costs time, and all blocks then run on one host thread, in
// the same order every time. Accesses to memory are checked always.
struct Inspection {
  bool races = false;        // unordered accesses to shared and global memory
  bool initialised = false;  // reads of memory that nobody wrote
  bool heap = false;         // accesses to the device's heap; all others are looked at in every run
  bool barriers = false;     // divergent and mismatched ones; shuffles from lanes that are off
  // Locals read before they are written: of a debug build, and nothing beside it.
  bool locals = false;
  bool numbers = false;   // integer division by zero, wrapped indices, the first NaN and infinity
  bool counters = false;  // Outcome::profile
  // Checks look at so many blocks (the first, the last, others by chance); 0: at all of them. What
  // is between a block that is looked at and one that is not cannot be seen.
  std::uint32_t checked_blocks = 0;
  std::uint64_t seed = 0;  // which blocks
  [[nodiscard]] bool memory() const { return races || initialised || heap; }
  [[nodiscard]] bool checks() const { return memory() || barriers || numbers; }
  [[nodiscard]] bool any() const { return checks() || counters || locals; }
};

struct Launch {
  std::string kernel{};  // KernelInfo::name
  Dim3 grid{};
  Dim3 block{};
  std::size_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters{};  // KernelInfo::parameter_bytes long
  std::vector<Texture> textures{};      // parameters that are texture objects
  Surroundings surroundings{};
  // Its blocks wait for one another: a device must be told. The emulator runs every grid so.
  bool cooperative = false;
  // Each warp runs on to its next barrier before another does. Else warps leave a barrier nearly
  // together, as on a device, where what lacks a barrier is often right by that.
  bool to_the_barrier = false;
  // Asynchronous copies arrive when they are asked for, not when they are waited for: a device may
  // do either, and only one of the two shows a buffer that is filled again too early.
  bool copies_at_once = false;
  Inspection inspection{};
};

// What one launch may cost. Zero means no limit.
struct Budget {
  std::uint64_t thread_instructions = 0;
  std::chrono::nanoseconds wall{0};
  std::size_t printf_bytes = 1U << 20;  // device printf beyond this is dropped and said so
  std::size_t local_bytes_per_thread = 512U << 10;
  std::size_t memory_bytes = 4ULL << 30;  // host memory for registers, local and shared memory
  unsigned threads = 0;                   // host threads; 0: all cores
};

enum class FaultKind {
  out_of_bounds,  // global, shared, local, const or param access outside any object
  misaligned,
  barrier_divergence,  // a barrier that some threads of the block can never reach
  deadlock,            // nothing can make progress
  invalid_barrier,     // of a number or a count that no barrier has
  trap,                // trap, brkpt
  assertion,           // device assert
  stack_overflow,      // recursion or local memory beyond the budget
  invalid_call,        // jump or call to something that is no function
  invalid_shuffle,     // sync-type warp operation whose member mask excludes the caller
  invalid_texture,     // a fetch through something that is no texture, or not one of that kind
};
[[nodiscard]] std::string_view name(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::trap;
  std::string message{};  // one line, in compute-sanitizer's vocabulary, with block and thread
  std::string instruction{};
  SourceLine where{};
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  std::uint64_t address = 0;
  std::size_t access_bytes = 0;
  // Nearest buffer and the offset of the access from its start, when there is one.
  std::string buffer{};
  std::int64_t buffer_offset_bytes = 0;
};

enum class Ending {
  completed,
  faulted,              // `fault` says what
  budget_instructions,  // an endless loop, most likely: `fault.where` is where it turned
  budget_wall,
  out_of_memory,   // registers, shared or local memory beyond the budget
  stopped,         // the caller's stop token
  unsupported,     // `fault.instruction` and `fault.where` name the instruction
  invalid_launch,  // grid, block, shared memory or parameters no device accepts; `message` says
};
[[nodiscard]] std::string_view name(Ending ending);

struct Counters {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t blocks = 0;
};

enum class FindingKind {
  out_of_bounds,         // a load outside every buffer, where a device has memory (Surroundings)
  shared_race,           // threads of different warps, no barrier in between
  global_race,           // of different warps or blocks
  warp_race,             // lanes of one warp, no __syncwarp in between
  uninitialised_shared,  // read before any thread of the block wrote it
  uninitialised_global,
  uninitialised_local,
  divergent_barrier,   // __syncthreads in code that only part of a warp executes
  mismatched_barrier,  // threads of a block met at different __syncthreads
  barrier_after_exit,  // threads had returned before others waited
  inactive_shuffle,    // a value from a lane that does not take part
  partial_mask,        // lanes that the mask of a warp-wide operation names are at another one
  heap_misuse,         // beyond what malloc() returned, or after free()
  division_by_zero,    // of integers
  not_a_number,        // the first NaN made of numbers
  infinity,            // the first infinity made of finite numbers
  index_wrapped,       // 32-bit arithmetic that wrapped before it addressed memory
};
[[nodiscard]] std::string_view name(FindingKind kind);

// What an inspection found; the same mistake at the same place stands once, with a count.
struct Finding {
  FindingKind kind = FindingKind::shared_race;
  bool is_warning = false;  // works on devices of today, by luck or by habit
  std::string message{};    // one line, with block, thread and the element it is about
  std::string instruction{};
  SourceLine where{};
  std::vector<SourceLine> inlined_at{};  // the callers, innermost first
  SourceLine other_where{};              // of a race or mismatch: the other side
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  Dim3 other_block{0, 0, 0};
  Dim3 other_thread{0, 0, 0};
  std::string buffer{};  // tensor or shared variable
  std::int64_t buffer_offset_bytes = 0;
  unsigned access_bytes = 0;
  std::uint64_t count = 1;
};

// Counts of one source line. Requests are those of warps.
struct LineCounts {
  SourceLine where{};
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t global_requests = 0;
  std::uint64_t global_sectors = 0;
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_wavefronts = 0;
  // How far apart neighbouring lanes' addresses lie, of each instruction with requests whose all
  // lie alike; each distance once.
  std::vector<std::int64_t> global_strides_bytes{};
  std::vector<std::int64_t> shared_strides_bytes{};
  bool is_irregular = false;  // an instruction's do not
};

struct Metric {
  std::string name{};  // as Nsight Compute names it
  double value = 0;
};

// All of it counts PTX: machine code has other instructions and may merge or split accesses.
struct Profile {
  std::vector<Metric> metrics{};
  std::vector<LineCounts> lines{};  // by instructions, most first
  double flops = 0;
  std::uint64_t global_bytes_requested = 0;  // by threads
  std::uint64_t global_bytes_unique = 0;     // of sectors of 32 bytes that were touched at all
};

struct Outcome {
  Ending ending = Ending::completed;
  std::string message{};
  Fault fault{};
  Counters counters{};
  std::uint64_t grid_blocks = 0;
  // A budget ended it, and no block had run for longer than others took to end.
  bool was_progressing = false;
  std::uint64_t times_as_long = 0;  // else: how much longer, where others had ended
  std::string printf_output{};
  bool printf_truncated = false;
  std::chrono::nanoseconds wall{0};
  std::vector<Finding> findings{};  // without an inspection those of loads out of bounds alone
  std::vector<std::string> inspection_notes{};  // what was not looked at, and why
  std::uint64_t checked_blocks = 0;             // of the grid
  Profile profile{};
};

class LocalTrial;

class Device {
 public:
  explicit Device(std::shared_ptr<const Module> module);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Runs one launch to its end. `buffers` must not overlap and must outlive the call.
  [[nodiscard]] Outcome launch(const Launch& launch, std::span<const Buffer> buffers,
                               const Budget& budget, const std::stop_token& stop);

  // Sets the module's variables back to their initialisers, as loading the module anew would.
  void reload();

 private:
  struct State;
  struct Run;
  [[nodiscard]] Outcome run(const Run& run);
  [[nodiscard]] Outcome look_at_locals(const Run& run, std::uint32_t entry);
  std::unique_ptr<State> state_;
};

// Limits of the device this emulator pretends to be (an H200, compute capability 9.0; CUDA C++
// Programming Guide, "Technical Specifications per Compute Capability").
struct Limits {
  std::uint32_t max_threads_per_block = 1024;
  std::array<std::uint32_t, 3> max_block{1024, 1024, 64};
  std::array<std::uint32_t, 3> max_grid{2147483647, 65535, 65535};
  // Of a block, static and dynamic together: ptxas 13.0 takes as much of it static for sm_90, and
  // an H200 launches it.
  std::size_t max_shared_bytes = 227U << 10;
  // Of an H200 as of an H100 SXM5 ("NVIDIA H100 Tensor Core GPU Architecture").
  std::uint32_t multiprocessors = 132;
  std::uint32_t resident_warps = 64;  // of one multiprocessor
};
[[nodiscard]] constexpr Limits limits() { return {}; }

}  // namespace assay::emulator
