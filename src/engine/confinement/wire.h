// What the engine, the keeper, the init and the worker of one child say to each other, and over
// which descriptors. All of them are the same build on one machine, so these are plain structs. The
// worker holds none of these descriptors once its confinement is in force.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::confinement {

// Descriptors of the spawned keeper, beside 0–2 and the channel (3).
inline constexpr int kLeashDescriptor = 4;
inline constexpr int kStatusDescriptor = 5;
inline constexpr int kPlanDescriptor = 6;

// The plan: this header, the encoded Confinement, the system call filter.
struct PlanHeader {
  static constexpr std::uint32_t kMagic = 0x314e4c50;
  static constexpr std::uint32_t kMaxBytes = 1U << 20;
  std::uint32_t magic = kMagic;
  std::uint32_t confinement_bytes = 0;
  std::uint32_t filter_bytes = 0;
};

// Why a confinement is not in force: the layer, what of it, and the errno.
struct FailureRecord {
  std::int32_t error = 0;
  char layer[28] = {};
  char detail[160] = {};
};

// Keeper to engine, over the status pipe; smaller than PIPE_BUF, so it arrives whole.
struct StatusRecord {
  static constexpr std::uint32_t kMagic = 0x31545353;
  enum class Kind : std::uint32_t { started = 1, ended = 2 };
  std::uint32_t magic = kMagic;
  Kind kind = Kind::started;
  std::int32_t worker_pid = 0;
  std::int32_t wait_status = 0;
  std::uint32_t killed = 0;
  std::uint32_t failed = 0;
  std::uint64_t user_us = 0;
  std::uint64_t system_us = 0;
  std::uint64_t max_resident_bytes = 0;
  FailureRecord failure{};
};

// Init and worker to keeper, over a SOCK_SEQPACKET pair; the kernel adds the sender's pid. The
// keeper sends one `proceed` when the identity maps of a new user namespace are written.
struct Notice {
  enum class Kind : std::uint32_t { proceed = 1, confined = 2, failed = 3, worker_ended = 4 };
  Kind kind = Kind::proceed;
  std::int32_t wait_status = 0;
  FailureRecord failure{};
};

// Thrown in the child by a layer that cannot be put in force; never leaves enter_confinement().
class SetupFailure {
 public:
  SetupFailure(std::string_view layer, std::string_view detail, int error);
  [[nodiscard]] const FailureRecord& record() const { return record_; }

 private:
  FailureRecord record_{};
};

[[nodiscard]] std::string describe(const FailureRecord& failure);

}  // namespace assay::confinement
