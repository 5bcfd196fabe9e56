// Frame types between server and engine, in one place for both ends. Bytes only: no descriptors, so
// that the same stream can later be a remote node's standard input and output.
//
//   server → engine  run {job_id, attempt, kind, request, client}
//                    ack {job_id, seq}
//                    cancel {job_id}
//                    capabilities {}
//   engine → server  stage {job_id, attempt, seq, record, artifacts, is_last}
//                      + bytes of all artifacts in order
//                    conclusion {job_id, attempt, verdict, interrupted, body}
//                    capabilities {body} or {failed}, a text
//                    heartbeat {}, every kHeartbeat
//
// What decides is a well-formed conclusion; an end of the stream or an exit status decides nothing.
#pragma once

#include <chrono>

#include "engine/frames/frame.h"
#include "engine/node/engine.h"

namespace assay::node::link {

inline constexpr std::chrono::milliseconds kHeartbeat{1000};
// An engine that is silent this long with work in flight is taken for dead and killed.
inline constexpr std::chrono::seconds kSilence{20};
// A report's PTX and logs travel through this link: more than any of them may hold.
inline constexpr frames::Caps kCaps{
    .body_bytes = 32U << 20, .blob_bytes = 512U << 20, .descriptors = 0};

[[nodiscard]] frames::Frame run(const Order& order, int attempt);
[[nodiscard]] Order decode_run(const frames::Frame& frame);

[[nodiscard]] frames::Frame stage(const std::string& job_id, int attempt, std::uint64_t seq,
                                  const StageEvent& event);
[[nodiscard]] StageEvent decode_stage(const frames::Frame& frame);

[[nodiscard]] frames::Frame conclusion(const std::string& job_id, int attempt,
                                       const Conclusion& conclusion);
[[nodiscard]] Conclusion decode_conclusion(const frames::Frame& frame);

[[nodiscard]] frames::Frame ack(const std::string& job_id, std::uint64_t seq);
[[nodiscard]] frames::Frame cancel(const std::string& job_id);
[[nodiscard]] frames::Frame plain(const char* type);

}  // namespace assay::node::link
