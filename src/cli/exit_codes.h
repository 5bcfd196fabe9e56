// What the commands end with. The table of docs/api.md ("Exit codes of `assay call`") is the source
// of these numbers: scripts read them.
#pragma once

namespace assay::cli {

enum ExitCode {
  kOk = 0,
  kNotPassed = 1,  // with --check: another verdict than passed, or none yet
  kUsage = 2,
  kRefused = 3,
  kFault = 4,  // ours: the engine's, or a state directory that cannot be used
  kCancelled = 5,
  kInternalFault = 70  // or the result could not be written: whoever reads the code has none
};

}  // namespace assay::cli
