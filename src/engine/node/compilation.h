// One source through its compiler: a Triton kernel through Triton's (triton_compiler.h), CUDA C++
// out of the cache or through a compile runner that serves this one source. The result is a program
// or the reason there is none; every way the compiler can end (errors, crash, bomb, hang) is
// decided here.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "engine/node/compile_cache.h"
#include "engine/node/compile_zygote.h"
#include "engine/node/ended.h"
#include "engine/node/kernel_task.h"
#include "engine/node/pythons.h"
#include "engine/node/runners.h"
#include "engine/node/spares.h"

namespace assay::node {

// The virtual architecture the emulator's PTX is made for.
inline constexpr const char* kEmulatorArch = "compute_90";

struct WrapperTools;
class WrapperEnvironment;

struct CompileGoal {
  std::string arch = kEmulatorArch;  // as the compiler's --gpu-architecture takes it
  // Variables keep their registers and places (-G), for looking at what is read unwritten.
  bool debug = false;
  // Also say what each kernel needs and takes, and make the cubin where `arch` is a real one.
  bool examine = false;
  // Facts of the one it is for, where that is known.
  nlohmann::json device = nlohmann::json::object();
  const char* which = "kernel";  // or ref_kernel: what a Triton source is called in its tracebacks
  // The task's: what runs as a Triton source is executed gets no more.
  std::chrono::milliseconds timeout{120'000};
};

struct Program {
  std::string ptx{};
  std::string cubin{};
  std::string log{};  // warnings
  std::string compiler{};
  std::string entry{};  // of the wanted name expression, if there was one
  nlohmann::json lowered = nlohmann::json::object();  // name expression → entry
  double elapsed_ms = 0;
  bool cached = false;                                   // then elapsed_ms is of the first time
  nlohmann::json diagnostics = nlohmann::json::array();  // as the compile runner tells them
  bool diagnostics_truncated = false;
  nlohmann::json kernels = nlohmann::json::array();  // empty unless examined
  bool kernels_truncated = false;
  // Where the compiler decides what is passed and with how many threads (Triton): the contract as
  // this program takes it, what was chosen, and what there is to say of it.
  std::optional<contract::Contract> called{};
  nlohmann::json configuration = nullptr;
  std::string interpreter{};                          // that compiled it, if one did
  nlohmann::json warnings = nlohmann::json::array();  // [{code?, message}]

  [[nodiscard]] const contract::Contract& contract_of(const KernelSource& source) const {
    return called ? *called : source.contract;
  }
  // Whether it has atomics on floating-point numbers, or could have made some from exchanges: their
  // order is the device's to choose, and sums are rounded in that order.
  [[nodiscard]] bool adds_in_any_order() const;
  // Whether it has variables that outlast a launch.
  [[nodiscard]] bool keeps_state() const;
  // Whether launches may find what earlier ones left where no variable is: blocks of the heap,
  // memory that is each thread's own.
  [[nodiscard]] bool leaves_memory() const {
    return takes_heap() || ptx.find(".local") != std::string::npos;
  }
  // Whether its warps may depend on one another.
  [[nodiscard]] bool shares_memory() const { return ptx.find(".shared") != std::string::npos; }
  [[nodiscard]] bool takes_heap() const { return ptx.find("malloc") != std::string::npos; }
  // Whether what leaves one piece of memory may get into another unseen: blocks of the heap,
  // variables of shared memory.
  [[nodiscard]] bool has_neighbours() const;
};

// What the compiler is and makes code for; `missing` says why there is none.
struct CompilerFacts {
  std::string name{};                // "NVRTC 13.0"
  std::vector<int> architectures{};  // 90 for sm_90 and compute_90; ascending
  std::string missing{};
};

// Compile runners made ahead for sources without heavy headers, that have loaded the compiler and
// compiled once. Borrows both.
[[nodiscard]] std::unique_ptr<Spares> compile_spares(const Runners& runners,
                                                     CompileZygotes& zygotes);

// Borrows all of them; immutable, any thread.
class Compiler {
 public:
  Compiler(const Runners& runners, CompileCache& cache, CompileZygotes& zygotes, Spares& spares,
           Pythons& pythons, WrapperEnvironment* wrappers = nullptr)
      : runners_(runners),
        cache_(cache),
        zygotes_(zygotes),
        spares_(spares),
        pythons_(pythons),
        wrappers_(wrappers) {}

  [[nodiscard]] std::variant<Program, Ended> compile(const KernelSource& source,
                                                     const CompileGoal& goal,
                                                     const std::stop_token& stop) const;

  // Fills in what each kernel of a program takes, where its compiler did not say (Triton), and what
  // it needs of the hardware, where there is an assembler. In confined processes: PTX is a user's
  // words.
  [[nodiscard]] std::optional<Ended> list(Program& program, const std::stop_token& stop) const;

  // With what torch_cuda sources are built. REQUIRES that it was given the headers' environment.
  [[nodiscard]] WrapperTools wrapper_tools(PythonZygote& zygote) const;

  // Why nothing in CUDA C++ can be compiled, if nothing can: what is known without asking.
  [[nodiscard]] std::optional<Ended> missing() const;

  // Loads the compiler to ask it; blocks for that long.
  [[nodiscard]] CompilerFacts describe() const;

 private:
  // The answer of one confined compile that `request` asks for.
  [[nodiscard]] Reply ask(const frames::Frame& request, const Warmth& warmth,
                          const std::stop_token& stop) const;
  [[nodiscard]] Ended crashed(const RunnerEnd& end, const frames::Frame& request,
                              const std::stop_token& stop) const;

  const Runners& runners_;
  CompileCache& cache_;
  CompileZygotes& zygotes_;
  Spares& spares_;
  Pythons& pythons_;
  WrapperEnvironment* wrappers_;
};

// The first `__global__` of a source by its place in the text, "" if there is none that a scan can
// see.
[[nodiscard]] std::string first_global(std::string_view source);

}  // namespace assay::node
