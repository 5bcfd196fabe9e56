// A compile runner's parent that has loaded NVRTC, compiled once, and perhaps compiled headers:
// what it forks starts where it stands. Trusted code without threads; it reads the engine's words
// only. The engine writes the text that is compiled here (a list of the toolkit's own headers),
// never a user's; what it forks confines itself before it reads a user's byte, serves one source,
// and shares nothing with the next one but what lay in this memory before both.
//
//   → {type: "prepare", nvrtc, options, headers, pch, idle_ms}
//   ← {type: "ready", version, architectures, pch}         pch: "" if it could not be made
//   ← {type: "missing", what}
//   → {type: "fork", environment} + the descriptors of a confinement::Handover
//   ← {type: "forked", pid}                                 a child of the engine's
//
// It ends when its channel does, or after idle_ms without a word, and takes its header file with
// it.
#pragma once

#include <memory>

#include "engine/frames/channel.h"
#include "engine/runner/nvrtc.h"

namespace assay::runner {

inline constexpr const char* kZygoteFlag = "--zygote";

// On descriptor 3. Returns the exit code.
int run_zygote();

// The compile role with a compiler that is loaded already (null: it loads the one it is told).
int serve_compile_with(frames::Channel& channel, std::unique_ptr<Nvrtc> loaded);

}  // namespace assay::runner
