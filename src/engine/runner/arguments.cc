#include "engine/runner/arguments.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "engine/contract/dtype.h"
#include "engine/judge/scalar_conversion.h"

namespace assay::runner {
namespace {

using contract::DType;
using emulator::Parameter;

enum class Shape { pointer_or_integer, real, opaque };

Shape shape_of(const Parameter& parameter) {
  if (parameter.type == "f32" || parameter.type == "f64") return Shape::real;
  if (parameter.type == "b8" && parameter.size_bytes > 1) return Shape::opaque;
  return Shape::pointer_or_integer;
}

std::string spelled(const Parameter& parameter) {
  return "." + parameter.type + " (" + std::to_string(parameter.size_bytes) + " bytes)";
}

bool fits(const Argument& argument, std::size_t bytes) {
  if (bytes >= 8) return true;
  if (argument.is_unsigned) return false;
  const auto bits = static_cast<int>(bytes * 8);
  const std::int64_t low = -(std::int64_t{1} << (bits - 1));
  const std::int64_t high = (std::int64_t{1} << bits) - 1;  // as signed or as unsigned
  return argument.integer >= low && argument.integer <= high;
}

// A 2-byte parameter is a half or bfloat16 passed by value: a struct of its bits.
std::optional<std::uint16_t> sixteen_bit_float(const Argument& argument) {
  const DType dtype = argument.c_type.value_or(DType::float16);
  if (dtype != DType::float16 && dtype != DType::bfloat16) return std::nullopt;
  return static_cast<std::uint16_t>(judge::to_bits(argument.real, dtype));
}

class Writer {
 public:
  Writer(std::vector<std::byte>& block, const Parameter& parameter)
      : to_(block.data() + parameter.offset_bytes), bytes_(parameter.size_bytes) {}
  template <typename T>
  void put(T value) {
    std::memcpy(to_, &value, std::min(sizeof value, bytes_));
  }

 private:
  std::byte* to_;
  std::size_t bytes_;
};

std::optional<std::string> write_integer(const Argument& argument, const Parameter& parameter,
                                         Writer writer) {
  if (shape_of(parameter) != Shape::pointer_or_integer) {
    return "argument '" + argument.name + "' is declared as " + argument.type +
           ", but the kernel takes " + spelled(parameter) +
           (shape_of(parameter) == Shape::real ? ": declare it as type \"float\"" : "");
  }
  if (!fits(argument, parameter.size_bytes)) {
    return "value of '" + argument.name + "' does not fit the kernel's " + spelled(parameter);
  }
  writer.put(argument.integer);
  return std::nullopt;
}

std::optional<std::string> write_real(const Argument& argument, const Parameter& parameter,
                                      Writer writer) {
  if (parameter.type == "f32") {
    if (std::isfinite(argument.real) &&
        std::abs(argument.real) > std::numeric_limits<float>::max()) {
      return "value of '" + argument.name + "' does not fit a float";
    }
    writer.put(static_cast<float>(argument.real));
    return std::nullopt;
  }
  if (parameter.type == "f64") {
    writer.put(argument.real);
    return std::nullopt;
  }
  if (parameter.size_bytes == 2) {
    if (const auto bits = sixteen_bit_float(argument)) {
      writer.put(*bits);
      return std::nullopt;
    }
  }
  return "argument '" + argument.name + "' is declared as float, but the kernel takes " +
         spelled(parameter) +
         (shape_of(parameter) == Shape::pointer_or_integer ? ": declare it as type \"int\"" : "");
}

std::optional<std::string> write_pointer(const Argument& argument, const Parameter& parameter,
                                         Writer writer) {
  if (shape_of(parameter) != Shape::pointer_or_integer || parameter.size_bytes != 8) {
    return "argument '" + argument.name +
           (argument.is_texture ? "' is a texture, but the kernel takes " + spelled(parameter) +
                                      " there, not a cudaTextureObject_t"
                                : "' is a tensor, but the kernel takes " + spelled(parameter) +
                                      " there, not a pointer");
  }
  writer.put(argument.address);
  return std::nullopt;
}

// A declared C type that disagrees with the kernel's own is a contract error even if the bytes
// would fit.
std::optional<std::string> declared_type_misfit(const Argument& argument,
                                                const Parameter& parameter) {
  if (!argument.c_type) return std::nullopt;
  const DType declared = *argument.c_type;
  bool agrees = contract::size_bytes(declared) == parameter.size_bytes;
  if (declared == DType::float32) agrees = parameter.type == "f32";
  if (declared == DType::float64) agrees = parameter.type == "f64";
  if (agrees) return std::nullopt;
  return "argument '" + argument.name + "' declares c_type \"" +
         std::string(contract::name(declared)) + "\", but the kernel takes " + spelled(parameter);
}

std::optional<std::string> write(const Argument& argument, const Parameter& parameter,
                                 std::vector<std::byte>& block) {
  const Writer writer(block, parameter);
  if (argument.type == "tensor") return write_pointer(argument, parameter, writer);
  if (auto misfit = declared_type_misfit(argument, parameter)) return misfit;
  if (argument.type == "float") return write_real(argument, parameter, writer);
  if (argument.type == "int" || argument.type == "bool") {
    return write_integer(argument, parameter, writer);
  }
  return "argument '" + argument.name + "' of type \"" + argument.type +
         "\" cannot be passed to a CUDA kernel";
}

std::string arity_message(const emulator::KernelInfo& kernel, std::size_t given) {
  std::string types;
  for (const auto& parameter : kernel.parameters) {
    types += (types.empty() ? "" : ", ") + spelled(parameter);
  }
  return "kernel '" + kernel.name + "' takes " + std::to_string(kernel.parameters.size()) +
         " parameters [" + types + "], the contract gives " + std::to_string(given) + " arguments";
}

}  // namespace

Packed pack(const emulator::KernelInfo& kernel, const std::vector<Argument>& arguments) {
  std::vector<Misfit> misfits;
  if (kernel.parameters.size() != arguments.size()) {
    misfits.push_back(
        {.argument = arguments.size(), .message = arity_message(kernel, arguments.size())});
    return misfits;
  }
  std::vector<std::byte> block(kernel.parameter_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (auto message = write(arguments[i], kernel.parameters[i], block)) {
      misfits.push_back({.argument = i, .message = std::move(*message)});
    }
  }
  if (!misfits.empty()) return misfits;
  return block;
}

}  // namespace assay::runner
