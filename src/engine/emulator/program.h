// A PTX module as declared: variables, functions (bodies by position in the text), files. The
// parser fills it, the decoder reads it. Plain values, owned by Module::Text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/emulator/types.h"

namespace assay::emulator {

enum class Space : std::uint8_t { generic, global, shared, local, constant, param };

// An address written into a variable's initial bytes.
struct AddressInitialiser {
  std::size_t offset_bytes = 0;
  unsigned width_bytes = 8;
  std::string symbol{};
  std::int64_t addend = 0;
};

struct Variable {
  std::string name{};
  Space space = Space::global;
  Type type = Type::b8;
  std::size_t align_bytes = 1;
  std::size_t size_bytes = 0;
  bool unsized = false;              // extern __shared__ T x[]
  std::vector<std::byte> initial{};  // shorter than size_bytes: the rest is zero
  std::vector<AddressInitialiser> addresses{};
  std::uint64_t address = 0;  // .global and .const: assigned by the parser
};

struct Formal {
  std::string name{};
  Type type = Type::b32;
  std::size_t align_bytes = 1;
  std::size_t size_bytes = 0;
  bool is_register = false;
};

struct FunctionSource {
  std::string name{};
  bool is_entry = false;
  bool has_body = false;
  std::size_t body_offset = 0;  // of the opening brace
  int body_line = 0;
  unsigned max_threads = 0;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::vector<Formal> parameters{};
  std::vector<Formal> results{};
};

struct Program {
  std::vector<Variable> variables{};  // module scope: global, const and shared
  std::vector<FunctionSource> functions{};
  std::unordered_map<std::string, std::size_t> variable_index{};
  std::unordered_map<std::string, std::size_t> function_index{};
  std::map<int, std::string> files{};
  bool has_clusters = false;       // of more than one block: an entry asks for them
  bool asks_for_reserved = false;  // where the system's own shared memory lies
  bool is_debug = false;           // made by a compiler that was asked to keep variables (-G)
  std::size_t global_bytes = 0;    // of all .global and .const variables, laid out
};

// Where .global and .const variables lie, and the windows of the other spaces in the generic
// address space. Far from anything a host pointer or a device allocator returns.
inline constexpr std::uint64_t kGlobalsBase = 0x00A0'0000'0000'0000;
inline constexpr std::uint64_t kSharedWindow = 0x00B0'0000'0000'0000;
inline constexpr std::uint64_t kLocalWindow = 0x00C0'0000'0000'0000;
inline constexpr std::uint64_t kParamWindow = 0x00D0'0000'0000'0000;
// Where the blocks of a cooperative grid count one another.
inline constexpr std::uint64_t kGridWorkspace = 0x00A4'0000'0000'0000;
inline constexpr std::size_t kGridWorkspaceBytes = 256;
// "Addresses" of functions: kFunctionBase + 16 * index.
inline constexpr std::uint64_t kFunctionBase = 0x00E0'0000'0000'0000;
inline constexpr std::uint64_t kWindowBytes = 1ULL << 32;

}  // namespace assay::emulator
