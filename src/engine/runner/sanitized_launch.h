// The one launch that compute-sanitizer looks at, or all those of a sequence: started by it,
// between the walls that the role `sanitizer` (sanitizer_role.cc) stands in, from the files that
// the role wrote. Each tensor is an allocation of its own, exactly as large as it is, so that what
// leaves one is seen.
//
//   FOLDER/launch.json   the fields of `load` and `run` (kernel_role.cc); or those of
//                        `load_sequence`, with arguments {name, type: "tensor", offset, bytes,
//                        from, uninitialised}, `from` in the arena, and scratch [[begin, bytes]]
//   FOLDER/program       PTX, then machine code; or a sequence's programs and parameters
//   FOLDER/arena         the tensors' contents
//   FOLDER/places.json   written here, before the launch: [{name, address, bytes}]
#pragma once

namespace assay::runner {

inline constexpr const char* kSanitizedFlag = "--sanitized-launch";

// The exit code: 0 for a launch that was made, however it ended. What goes wrong before is told on
// stderr.
[[nodiscard]] int launch_sanitized(const char* folder);

}  // namespace assay::runner
