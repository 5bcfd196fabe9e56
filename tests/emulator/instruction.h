// One PTX instruction at a time: a kernel is written around it, run over vectors of inputs on every
// instruction set this processor has, with all lanes on and with some lanes off, and compared with
// a scalar model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::emulator::test {

using Bits = std::uint64_t;

struct Inputs {
  Bits a = 0;
  Bits b = 0;
  Bits c = 0;
};

struct Instruction {
  // Operands %d, %a, %b, %c; predicates %p (and %q) as further results, %pc (bit 0 of c) as a
  // source.
  std::string text{};
  std::string_view d{};  // register types: b16 b32 b64, or pred
  std::string_view a{};
  std::string_view b{};
  std::string_view c{};
};

using Model = std::function<Bits(Bits a, Bits b, Bits c)>;

// The results, one per input; lanes that a guard switches off give `kOff`.
inline constexpr Bits kOff = 0xDEADBEEFCAFEF00D;
std::vector<Bits> run(const Instruction& instruction, const std::vector<Inputs>& inputs,
                      bool masked);

// Fails the running test with the instruction, inputs, result and expectation of the first
// difference.
void check(const Instruction& instruction, const std::vector<Inputs>& inputs, const Model& model);

// Values worth trying, by width or format, and a few hundred combinations of them.
std::vector<Bits> integers(unsigned bits);
std::vector<Bits> floats32();
std::vector<Bits> floats64();
std::vector<Bits> halves();
std::vector<Bits> bfloats();
std::vector<Inputs> combine(const std::vector<Bits>& a, const std::vector<Bits>& b = {0},
                            const std::vector<Bits>& c = {0});

// Shorthands: every operand of the width the type names.
Instruction unary(const std::string& opcode, std::string_view d, std::string_view a);
Instruction binary(const std::string& opcode, std::string_view d, std::string_view a,
                   std::string_view b);
Instruction ternary(const std::string& opcode, std::string_view d, std::string_view a,
                    std::string_view b, std::string_view c);

inline float as_float(Bits v) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(v)); }
inline double as_double(Bits v) { return __builtin_bit_cast(double, v); }
inline Bits bits(float v) { return __builtin_bit_cast(std::uint32_t, v); }
inline Bits bits(double v) { return __builtin_bit_cast(std::uint64_t, v); }

}  // namespace assay::emulator::test
