// Variables of the device that host code names (engine/source/host_code.h): each leaves a shadow on
// the host, whose address stands for it, as with CUDA's own compiler.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace assay {

class Variable;
inline std::vector<Variable*>& variables() {
  static std::vector<Variable*> all;
  return all;
}

class Variable {
 public:
  // `number`: of the rewritten source, in order.
  Variable(std::size_t number, const char* name, const void* shadow, std::size_t bytes)
      : number(number), name(name), shadow(shadow), bytes(bytes) {
    variables().push_back(this);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  const std::size_t number;
  const char* const name;
  const void* const shadow;
  const std::size_t bytes;
  char* address = nullptr;  // on the device; nullptr: nobody has asked yet
};

struct Copy {
  void* memory = nullptr;  // the host's or a tensor's
  std::size_t bytes = 0;
  std::size_t offset = 0;  // in the variable
  cudaMemcpyKind kind = cudaMemcpyDefault;
  cudaStream_t stream = nullptr;
  bool is_to_variable = true;
  bool waits = true;
};

// Defined in on_cpu.h or on_gpu.h. REQUIRES that the copy lies in the variable.
cudaError_t copy_variable(Variable& variable, const Copy& copy);

inline cudaError_t copy_symbol(const void* symbol, const Copy& copy) {
  for (Variable* variable : variables()) {
    if (variable->shadow != symbol) continue;
    if (copy.offset > variable->bytes || copy.bytes > variable->bytes - copy.offset) {
      return cudaErrorInvalidValue;
    }
    return copy_variable(*variable, copy);
  }
  return cudaErrorInvalidSymbol;
}

template <class T>
cudaError_t copy_to(const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                    cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return copy_symbol((const void*)&symbol, {const_cast<void*>(from), bytes, offset, kind});
}
template <class T>
cudaError_t copy_to_async(const T& symbol, const void* from, std::size_t bytes,
                          std::size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                          cudaStream_t stream = nullptr) {
  return copy_symbol((const void*)&symbol,
                     {const_cast<void*>(from), bytes, offset, kind, stream, true, false});
}
template <class T>
cudaError_t copy_from(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return copy_symbol((const void*)&symbol, {to, bytes, offset, kind, nullptr, false});
}
template <class T>
cudaError_t copy_from_async(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                            cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                            cudaStream_t stream = nullptr) {
  return copy_symbol((const void*)&symbol, {to, bytes, offset, kind, stream, false, false});
}

}  // namespace assay

// For whoever loads the library: by number.
ASSAY_EXPORTED std::size_t assay_variable_count() { return assay::variables().size(); }
ASSAY_EXPORTED const char* assay_variable_name(std::size_t number) {
  for (const auto* one : assay::variables()) {
    if (one->number == number) return one->name;
  }
  return "";
}
