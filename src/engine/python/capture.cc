#include "engine/python/capture.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace assay::python {
namespace {

using nlohmann::json;

constexpr std::size_t kMostSteps = 512;
constexpr std::size_t kMostRegions = 4096;
constexpr std::size_t kMostParameterBytes = 1U << 20;
constexpr std::size_t kMostBlockBytes = 32U << 10;  // that a launch takes on any device
constexpr std::size_t kNamedBytes = 200;
constexpr std::size_t kMostNameBytes = 1U << 20;  // together: names of templates are kilobytes

// CUpointer_attribute, CUmemorytype
constexpr int kMemoryType = 2;
constexpr int kRangeStart = 11;
constexpr int kRangeBytes = 12;
constexpr unsigned kOnDevice = 2;
// Launch attributes that are numbers and that a relaunch can honour: cooperative, cluster
// dimension, cluster scheduling, programmatic serialization.
constexpr std::array<int, 4> kHonoured{2, 4, 5, 6};
// Those that change nothing of what is computed, nor much of its time: none, priority, memory
// synchronisation domains.
constexpr std::array<int, 4> kIgnored{0, 8, 9, 10};

// Calls that leave no mark on what the device computes: questions, room, events, waiting.
constexpr std::array<std::string_view, 24> kHarmless{
    "cuCtx",          "cuDevice",    "cuFunc",        "cuKernel",
    "cuLibrary",      "cuModule",    "cuPointer",     "cuOccupancy",
    "cuEvent",        "cuGetProc",   "cuGetError",    "cuInit",
    "cuDriver",       "cuMemAlloc",  "cuMemFree",     "cuMemGet",
    "cuMemHost",      "cuThread",    "cuGetExport",   "cuTensorMap",
    "cuStreamIsCapt", "cuStreamGet", "cuStreamQuery", "cuStreamSynchronize"};

thread_local bool t_inside = false;  // our own questions to the driver are not the source's

bool is_harmless(std::string_view name) {
  for (const auto& prefix : kHarmless) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// The one that torch brings, if it is there already: two of them in a process disagree.
void* open_cupti() {
  constexpr std::array<const char*, 3> kNames{"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  for (const int how : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW}) {
    for (const char* name : kNames) {
      if (void* library = ::dlopen(name, how); library != nullptr) return library;
    }
  }
  return nullptr;
}

void on_call(void* /*unused*/, int domain, std::uint32_t id, const void* data) {
  Capture::one().called(domain, id, data);
}

json triple(const std::array<unsigned, 3>& of) { return json::array({of[0], of[1], of[2]}); }

}  // namespace

Capture& Capture::one() {
  static Capture capture;
  return capture;
}

std::string Capture::find_driver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  const bool found = library != nullptr && find(library, "cuFuncGetParamInfo", driver_.parameter) &&
                     find(library, "cuKernelGetFunction", driver_.of_kernel) &&
                     find(library, "cuFuncGetModule", driver_.module_of) &&
                     find(library, "cuFuncGetName", driver_.name_of) &&
                     find(library, "cuPointerGetAttribute", driver_.pointer);
  return found ? "" : "the driver is older than CUDA 12.4";
}

std::string Capture::subscribe() {
  void* library = open_cupti();
  int (*subscribe)(void**, void (*)(void*, int, std::uint32_t, const void*), void*) = nullptr;
  if (library == nullptr || !find(library, "cuptiSubscribe", subscribe) ||
      !find(library, "cuptiEnableDomain", enable_domain_) ||
      !find(library, "cuptiEnableCallback", enable_callback_)) {
    return "there is no libcupti";
  }
  int result = subscribe(&subscriber_, on_call, nullptr);
  if (result != 0) return "CUPTI does not show calls (" + std::to_string(result) + ")";
  result = enable_callback_(1, subscriber_, driver::kResourceDomain, driver::kModuleLoaded);
  for (const std::uint32_t load : driver::kModuleLoads) {
    if (result == 0) result = enable_callback_(1, subscriber_, driver::kDriverDomain, load);
  }
  return result == 0 ? "" : "CUPTI shows no programs (" + std::to_string(result) + ")";
}

std::string Capture::open() {
  if (subscriber_ != nullptr) return {};
  std::string failure = find_driver();
  return failure.empty() ? subscribe() : failure;
}

void Capture::begin() {
  const std::lock_guard lock(mutex_);
  steps_ = json::array();
  regions_.clear();
  parameters_.clear();
  name_bytes_ = 0;
  refused_.clear();
  has_stream_ = false;
  recording_ = true;
  if (enable_domain_(1, subscriber_, driver::kDriverDomain) != 0) refuse("CUPTI shows no calls");
}

void Capture::end() {
  enable_domain_(0, subscriber_, driver::kDriverDomain);
  for (const std::uint32_t load : driver::kModuleLoads) {
    enable_callback_(1, subscriber_, driver::kDriverDomain, load);
  }
  const std::lock_guard lock(mutex_);
  recording_ = false;
}

std::string Capture::told() const {
  json regions = json::array();
  // What cannot be repeated needs no list of what was done.
  if (!refused_.empty()) {
    return json({{"refused", refused_}, {"regions", regions}, {"steps", regions}})
        .dump(-1, ' ', false, json::error_handler_t::replace);
  }
  for (const auto& [address, bytes] : regions_) regions.push_back({address, bytes});
  return json({{"refused", refused_}, {"regions", std::move(regions)}, {"steps", steps_}})
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

void Capture::refuse(const std::string& why) {
  if (refused_.empty()) refused_ = why;
}

void Capture::called(int domain, std::uint32_t id, const void* data) {
  if (t_inside) return;
  t_inside = true;
  const std::lock_guard lock(mutex_);
  if (domain == driver::kResourceDomain && id == driver::kModuleLoaded) {
    const auto& resource = *static_cast<const driver::Resource*>(data);
    const auto& module = *static_cast<const driver::LoadedModule*>(resource.descriptor);
    if (module.cubin != nullptr) programs_.add({module.cubin, module.bytes});
  } else if (domain == driver::kDriverDomain) {
    const auto& call = *static_cast<const driver::Call*>(data);
    if (std::string_view(call.function).starts_with("cuModuleLoad")) loaded(call);
    if (recording_ && call.site == driver::kEnter) record(call);
  }
  t_inside = false;
}

// The image that was given says which module it became, whenever the driver gets to load it.
void Capture::loaded(const driver::Call& call) {
  const auto& load = *static_cast<const driver::ModuleLoad*>(call.parameters);
  const bool is_done = call.site == driver::kExit && call.result != nullptr && *call.result == 0;
  if (!is_done || load.module == nullptr) return;
  const std::size_t bytes = ProgramsSeen::image_bytes(load.image);
  if (bytes > 0) programs_.add(*load.module, {static_cast<const char*>(load.image), bytes});
}

void Capture::record(const driver::Call& call) {
  const std::string name = call.function;
  if (record_launch(name, call) || record_move(name, call) || is_harmless(name)) return;
  refuse(name + " between its launches");
}

bool Capture::record_launch(const std::string& name, const driver::Call& call) {
  const bool cooperative = name.starts_with("cuLaunchCooperativeKernel");
  if (name == "cuLaunchKernelEx" || name == "cuLaunchKernelEx_ptsz") {
    const auto& ex = *static_cast<const driver::LaunchEx*>(call.parameters);
    launch(*ex.config, ex.function, ex.parameters, ex.extra, call.symbol, false);
    return true;
  }
  const bool plain = name == "cuLaunchKernel" || name == "cuLaunchKernel_ptsz";
  if (!plain && (!cooperative || name.find("MultiDevice") != std::string::npos)) return false;
  const auto& of = *static_cast<const driver::Launch*>(call.parameters);
  launch({.grid = of.grid, .block = of.block, .shared_bytes = of.shared_bytes, .stream = of.stream},
         of.function, of.parameters, cooperative ? nullptr : of.extra, call.symbol, cooperative);
  return true;
}

template <typename Value>
void Capture::fill(const driver::Call& call) {
  const auto& of = *static_cast<const driver::Fill<Value>*>(call.parameters);
  note_region(of.to);
  add({{"do", "fill"},
       {"to", of.to},
       {"value", of.value},
       {"width", sizeof(Value)},
       {"bytes", of.count * sizeof(Value)}},
      of.stream);
}

bool Capture::record_move(const std::string& name, const driver::Call& call) {
  const auto is = [&](std::string_view what) { return name.starts_with(what); };
  if (is("cuMemcpyDtoDAsync") || is("cuMemcpyAsync")) {
    const auto& of = *static_cast<const driver::Copy*>(call.parameters);
    note_region(of.to);
    note_region(of.from);
    add({{"do", "copy"}, {"to", of.to}, {"from", of.from}, {"bytes", of.bytes}}, of.stream);
  } else if (is("cuMemsetD8Async")) {
    fill<std::uint8_t>(call);
  } else if (is("cuMemsetD16Async")) {
    fill<std::uint16_t>(call);
  } else if (is("cuMemsetD32Async")) {
    fill<std::uint32_t>(call);
  } else {
    return false;
  }
  return true;
}

void Capture::note_region(driver::Address address) {
  unsigned type = 0;
  driver::Address start = 0;
  std::size_t bytes = 0;
  if (driver_.pointer(&type, kMemoryType, address) != 0 || type != kOnDevice) return;
  if (driver_.pointer(&start, kRangeStart, address) != 0) return;
  if (driver_.pointer(&bytes, kRangeBytes, address) != 0) return;
  regions_[start] = bytes;
  if (regions_.size() > kMostRegions) refuse("more than 4096 buffers");
}

// The whole parameter block, however it is handed over.
std::string Capture::block(driver::Handle function, void** parameters, void** extra) const {
  std::string block;
  for (std::size_t i = 0; parameters != nullptr; ++i) {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    if (driver_.parameter(function, i, &offset, &bytes) != 0) return block;
    if (offset + bytes > kMostBlockBytes) return block;
    if (block.size() < offset + bytes) block.resize(offset + bytes);
    std::memcpy(block.data() + offset, parameters[i], bytes);
  }
  const void* packed = nullptr;
  std::size_t bytes = 0;
  for (std::size_t i = 0; extra != nullptr && extra[i] != nullptr; i += 2) {
    const auto what = reinterpret_cast<std::uintptr_t>(extra[i]);
    if (what == 1) packed = extra[i + 1];
    if (what == 2) std::memcpy(&bytes, extra[i + 1], sizeof bytes);
    if (what > 2) return block;
  }
  if (packed != nullptr && bytes <= kMostBlockBytes) {
    block.assign(static_cast<const char*>(packed), bytes);
  }
  return block;
}

void Capture::launch(const driver::LaunchConfig& config, driver::Handle function, void** parameters,
                     void** extra, const char* symbol, bool cooperative) {
  if (steps_.size() >= kMostSteps) return refuse("more than 512 steps in a call");
  driver::Handle real = function;
  const char* named = nullptr;
  // A kernel of a library stands where a function is meant.
  if (driver_.name_of(&named, real) != 0) {
    named = nullptr;
    if (driver_.of_kernel(&real, function) != 0) return refuse("a launch of no function");
    if (driver_.name_of(&named, real) != 0) named = symbol;
  }
  if (named == nullptr) return refuse("a kernel without a name");
  const std::string name = named;
  driver::Handle module = nullptr;
  (void)driver_.module_of(&module, real);
  const auto program = programs_.find(module, name);
  if (!program) return refuse("the program of " + name.substr(0, kNamedBytes) + " was not seen");
  json traits = json::array();
  if (cooperative) traits.push_back({2, 1, 0, 0});
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const driver::Attribute& attribute = config.attributes[i];
    const auto among = [&](const auto& ids) {
      return std::find(ids.begin(), ids.end(), attribute.id) != ids.end();
    };
    if (among(kIgnored)) continue;
    if (!among(kHonoured)) {
      return refuse("launch attribute " + std::to_string(attribute.id) + " of " +
                    name.substr(0, kNamedBytes));
    }
    traits.push_back({attribute.id, attribute.value[0], attribute.value[1], attribute.value[2]});
  }
  const std::string bytes = block(real, parameters, extra);
  if (parameters_.size() + bytes.size() > kMostParameterBytes) {
    return refuse("more than a MiB of parameters");
  }
  for (std::size_t at = 0; at + sizeof(driver::Address) <= bytes.size(); at += 8) {
    driver::Address word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    note_region(word);
  }
  name_bytes_ += name.size();
  if (name_bytes_ > kMostNameBytes) return refuse("more than a MiB of kernels' names");
  parameters_ += bytes;
  add({{"do", "launch"},
       {"program", *program},
       {"entry", name},
       {"grid", triple(config.grid)},
       {"block", triple(config.block)},
       {"shared_bytes", config.shared_bytes},
       {"parameter_bytes", bytes.size()},
       {"traits", std::move(traits)}},
      config.stream);
}

void Capture::add(json step, driver::Handle stream) {
  if (steps_.size() >= kMostSteps) return refuse("more than 512 steps in a call");
  if (has_stream_ && stream != stream_) refuse("work on several streams");
  has_stream_ = true;
  stream_ = stream;
  steps_.push_back(std::move(step));
}

}  // namespace assay::python

#define ASSAY_EXPORTED extern "C" __attribute__((visibility("default")))

using assay::python::Capture;

ASSAY_EXPORTED const char* assay_capture_open() {
  static std::string failure;
  failure = Capture::one().open();
  return failure.c_str();
}
ASSAY_EXPORTED void assay_capture_begin() { Capture::one().begin(); }
// What was written down, as JSON.
ASSAY_EXPORTED const char* assay_capture_end() {
  static std::string told;
  Capture::one().end();
  told = Capture::one().told();
  return told.c_str();
}
ASSAY_EXPORTED const char* assay_capture_parameters(std::size_t* bytes) {
  *bytes = Capture::one().parameters().size();
  return Capture::one().parameters().data();
}
// Null: there is no such program.
ASSAY_EXPORTED const char* assay_capture_program(std::size_t program, std::size_t* bytes) {
  const auto& programs = Capture::one().programs();
  if (program >= programs.size()) return nullptr;
  *bytes = programs.bytes(program).size();
  return programs.bytes(program).data();
}
