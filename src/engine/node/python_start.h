// A confined process for one Python source, forked from the zygote of an interpreter, or why there
// is none. Any thread; blocks while the zygote imports torch for the first time.
#pragma once

#include <memory>
#include <stop_token>
#include <variant>

#include "engine/node/ended.h"
#include "engine/node/gpus.h"
#include "engine/node/python_zygote.h"
#include "engine/node/runners.h"

namespace assay::node {

// `gpu`: the one it is shown; null for none.
[[nodiscard]] std::variant<std::unique_ptr<RunnerProcess>, Ended> start_python_runner(
    const Runners& runners, PythonZygote& zygote, const Gpu* gpu, const std::stop_token& stop);

// One that compiles C++ and runs nothing of the user's: it reads `readable` and may write in
// `writable`; either may be empty.
[[nodiscard]] std::variant<std::unique_ptr<RunnerProcess>, Ended> start_host_compiler(
    const Runners& runners, PythonZygote& zygote, const std::filesystem::path& readable,
    const std::filesystem::path& writable, const std::stop_token& stop);

}  // namespace assay::node
