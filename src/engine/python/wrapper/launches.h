// What a launch of rewritten host code (engine/source/host_code.h) becomes. Travels as text inside
// the engine and is compiled with torch's headers, once per environment; no part of this build.
//
//   static_cast<void>(::assay::configure(grid, block), k<float>(x, n))
//
// The body that k was given calls Kernel<…>::entry.launch(x, n): by then C++ has deduced the
// template arguments and converted x and n to the kernel's own parameters. Each instance registers
// itself when the library is loaded, by the name that the device's compiler takes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace assay {

class Entry;

struct Configuration {
  dim3 grid{};
  dim3 block{};
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  void** arguments = nullptr;  // of cudaLaunchKernel: instead of those of the call
  bool cooperative = false;
  Entry** asks = nullptr;  // nothing is launched: which kernel is it?
};

// A stack: what computes the arguments of a launch may launch, too.
inline std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> all;
  return all;
}

inline void configure(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                      cudaStream_t stream = nullptr) {
  configurations().push_back({grid, block, shared_bytes, stream});
}

template <class T>
const char* spelling() {
  return __PRETTY_FUNCTION__;
}

// As the device's compiler knows it.
template <class T>
std::string type_name() {
  const std::string whole = spelling<T>();
  const auto begin = whole.find("T = ") + 4;
  std::string name = whole.substr(begin, whole.rfind(']') - begin);
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"c10::Half", "__half"},
                                 {"c10::BFloat16", "__nv_bfloat16"},
                                 {"{anonymous}::", ""},
                                 {"(anonymous namespace)::", ""}}) {
    for (auto at = name.find(from); at != std::string::npos; at = name.find(from, at + to.size())) {
      name.replace(at, from.size(), to);
    }
  }
  return name;
}

template <class V>
std::string value_text(V value) {
  if constexpr (std::is_same_v<V, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<V>) {
    return "(" + type_name<V>() + ")" + std::to_string(static_cast<long long>(value));
  } else {
    static_assert(std::is_integral_v<V>, "a template argument that is neither type nor integer");
    return std::to_string(value);
  }
}

// "reduce<float, 256>", or where others have its name "(void (*)(const float*, int))reduce<float,
// 256>"
class Instance {
 public:
  explicit Instance(std::string name) : name_(std::move(name)) {}
  template <class... T>
  Instance& types() {
    (add(type_name<T>()), ...);
    return open();
  }
  template <auto... V>
  Instance& values() {
    (add(value_text(V)), ...);
    return open();
  }
  template <class... T>
  Instance& parameters() {
    std::string list;
    ((list += (list.empty() ? "" : ", ") + type_name<T>()), ...);
    return parameters(list);
  }
  Instance& parameters(const std::string& list) {
    cast_ = "(void (*)(" + list + "))";
    return *this;
  }
  std::string text() const { return cast_ + (is_open_ ? name_ + "<" + arguments_ + ">" : name_); }

 private:
  void add(const std::string& argument) {
    arguments_ += (arguments_.empty() ? "" : ", ") + argument;
  }
  Instance& open() {
    is_open_ = true;
    return *this;
  }

  std::string name_;
  std::string arguments_{};
  std::string cast_{};
  bool is_open_ = false;
};

inline std::vector<Entry*>& entries() {
  static std::vector<Entry*> all;
  return all;
}

// What a half of the engine does with a launch; defined in on_cpu.h or on_gpu.h.
void start(Entry& entry, const Configuration& configuration, const void* const* arguments,
           const std::size_t* sizes, std::size_t count);

class Entry {
 public:
  explicit Entry(std::string name) : name(std::move(name)) { entries().push_back(this); }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  template <class... Arguments>
  void launch(const Arguments&... arguments) {
    if (configurations().empty()) {
      throw std::runtime_error("kernel " + name + " was called without a configuration");
    }
    const Configuration configuration = configurations().back();
    configurations().pop_back();
    if (configuration.asks != nullptr) {
      *configuration.asks = this;
      return;
    }
    const void* pointers[] = {static_cast<const void*>(&arguments)..., nullptr};
    const std::size_t sizes[] = {sizeof(arguments)..., 0};
    start(*this, configuration,
          configuration.arguments != nullptr ? configuration.arguments : pointers, sizes,
          sizeof...(arguments));
  }

  const std::string name;
  std::string lowered{};
  void* function = nullptr;  // of a GPU
};

template <class Name>
struct Kernel {
  static Entry entry;
};
template <class Name>
Entry Kernel<Name>::entry{Name::text()};

// cudaLaunchKernel and its like name a function by its address: it is called, and looks at none of
// the arguments that it is not given.
inline cudaError_t launch_function(const void* function, dim3 grid, dim3 block, void** arguments,
                                   std::size_t shared_bytes, cudaStream_t stream,
                                   bool cooperative) {
  configurations().push_back({grid, block, shared_bytes, stream, arguments, cooperative});
  reinterpret_cast<void (*)()>(const_cast<void*>(function))();
  return cudaSuccess;
}

template <class Function>
cudaError_t launch_kernel(Function* function, dim3 grid, dim3 block, void** arguments,
                          std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return launch_function(reinterpret_cast<const void*>(function), grid, block, arguments,
                         shared_bytes, stream, false);
}

template <class Function>
cudaError_t launch_cooperative_kernel(Function* function, dim3 grid, dim3 block, void** arguments,
                                      std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return launch_function(reinterpret_cast<const void*>(function), grid, block, arguments,
                         shared_bytes, stream, true);
}

inline Entry& entry_of(const void* function) {
  Entry* entry = nullptr;
  Configuration question;
  question.asks = &entry;
  configurations().push_back(question);
  reinterpret_cast<void (*)()>(const_cast<void*>(function))();
  if (entry == nullptr) throw std::runtime_error("a function that is no kernel");
  return *entry;
}

// What the runtime says of a kernel and is told of it; defined in on_cpu.h or on_gpu.h.
cudaError_t set(Entry& entry, cudaFuncAttribute attribute, int value);
cudaError_t set_cache(Entry& entry, cudaFuncCache preferred);
cudaError_t fit(Entry& entry, int* blocks, int threads, std::size_t shared_bytes);

template <class Function>
cudaError_t set_attribute(Function* function, cudaFuncAttribute attribute, int value) {
  return set(entry_of(reinterpret_cast<const void*>(function)), attribute, value);
}
template <class Function>
cudaError_t set_cache_config(Function* function, cudaFuncCache preferred) {
  return set_cache(entry_of(reinterpret_cast<const void*>(function)), preferred);
}
template <class Function>
cudaError_t active_blocks(int* blocks, Function* function, int threads, std::size_t shared_bytes) {
  return fit(entry_of(reinterpret_cast<const void*>(function)), blocks, threads, shared_bytes);
}

}  // namespace assay

// For whoever loads the library.
#define ASSAY_EXPORTED extern "C" __attribute__((visibility("default"), used))
ASSAY_EXPORTED std::size_t assay_kernel_count() { return assay::entries().size(); }
ASSAY_EXPORTED const char* assay_kernel_name(std::size_t index) {
  return assay::entries().at(index)->name.c_str();
}
