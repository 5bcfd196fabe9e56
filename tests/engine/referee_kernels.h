// The kernels that a GPU's referee runs, compiled once for the emulator.
#pragma once

#include "engine/emulator/emulator.h"
#include "engine/judge/on_device.h"
#include "engine/node/toolkit.h"
#include "engine/runner/nvrtc.h"
#include "tests/catch.h"

namespace assay::runner {

inline std::shared_ptr<const emulator::Module> referee_kernels() {
  static const auto module = [] {
    const auto toolkit = node::find_toolkit(ASSAY_BINARY_FOLDER);
    REQUIRE(toolkit.has_compiler());
    auto options = judge::on_device::compiler_options();
    options.emplace_back("--gpu-architecture=compute_90");
    const auto compiled = runner::Nvrtc(toolkit.nvrtc.string())
                              .compile({.source = judge::on_device::source(),
                                        .file_name = "on_device.cu",
                                        .options = options});
    INFO(compiled.log);
    REQUIRE(compiled.ok);
    auto parsed = emulator::Module::parse(compiled.ptx);
    if (const auto* error = std::get_if<emulator::ParseError>(&parsed)) FAIL(error->message);
    return std::get<std::shared_ptr<const emulator::Module>>(parsed);
  }();
  return module;
}

}  // namespace assay::runner
