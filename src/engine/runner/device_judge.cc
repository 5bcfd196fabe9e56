#include "engine/runner/device_judge.h"

#include <bit>
#include <cstring>

#include "engine/judge/poison.h"

namespace assay::runner {
namespace {

using judge::on_device::Scan;

constexpr std::size_t kCounters = 4;
// Two tensors' questions each, for contracts of some hundred arguments.
constexpr std::size_t kMostQuestions = 4096;
constexpr std::size_t kResultBytes = kMostQuestions * kCounters * sizeof(std::uint64_t);

template <typename T>
std::span<const std::byte> as_parameters(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// An element that holds nothing but the pattern; types of 16 bytes have no format.
std::uint64_t element_of_pattern(std::uint32_t word, std::size_t size_bytes) {
  const std::uint64_t twice = word | (std::uint64_t{word} << 32);
  return size_bytes == 8 ? twice : twice & ((std::uint64_t{1} << (8 * size_bytes)) - 1);
}

}  // namespace

DeviceJudge::DeviceJudge(DeviceSpace& space) : space_(space), results_(space, kResultBytes) {
  space_.fill_words(results_.address(), 0, kResultBytes / 4);
}

void DeviceJudge::generate(const contract::TensorSpec& spec, const judge::Stream& stream,
                           DeviceAddress out) {
  if (auto plan = judge::on_device::plan_fill(spec, stream)) {
    plan->fill.out = out;
    if (plan->fill.count > 0) {
      space_.launch(plan->kernel, plan->fill.count, as_parameters(plan->fill));
    }
    return;
  }
  std::vector<std::byte> elements(spec.contiguous_bytes());
  judge::generate(spec, stream, elements);
  space_.copy_in(out, elements);
}

void DeviceJudge::fill_pattern(DeviceAddress arena, std::uint64_t offset, std::uint64_t bytes,
                               std::uint32_t word) {
  if (bytes == 0) return;
  if (offset % 4 == 0 && bytes % 4 == 0) {
    space_.fill_words(arena + offset, word, bytes / 4);
    return;
  }
  const Scan scan{.data = arena + offset, .count = bytes, .phase = offset, .word = word};
  space_.launch("assay_pattern", bytes, as_parameters(scan));
}

DeviceJudge::Question DeviceJudge::ask(const char* kernel, Scan scan) {
  if (asked_ == kMostQuestions) throw std::runtime_error("too many questions at once");
  scan.result = results_.address() + asked_ * kCounters * sizeof(std::uint64_t);
  if (scan.count > 0) space_.launch(kernel, scan.count, as_parameters(scan));
  return asked_++;
}

DeviceJudge::Question DeviceJudge::unwritten(DeviceAddress data, std::uint64_t bytes,
                                             contract::DType dtype, std::uint32_t word) {
  const auto unit = judge::unwritten_unit_bytes(dtype);
  return ask("assay_unwritten", {.data = data,
                                 .count = bytes / unit,
                                 .word = word,
                                 .unit_bytes = static_cast<std::uint32_t>(unit)});
}

DeviceJudge::Question DeviceJudge::breached(DeviceAddress arena, std::uint64_t begin,
                                            std::uint64_t end, std::uint32_t word) {
  return ask("assay_breached",
             {.data = arena + begin, .count = end - begin, .phase = begin, .word = word});
}

DeviceJudge::Question DeviceJudge::differing(DeviceAddress data, DeviceAddress other,
                                             std::uint64_t bytes) {
  return ask("assay_differing", {.data = data, .other = other, .count = bytes});
}

DeviceJudge::Question DeviceJudge::compare(DeviceAddress got, DeviceAddress want,
                                           std::uint64_t elements, contract::DType dtype,
                                           const contract::Tolerance& tolerance,
                                           std::optional<std::uint32_t> poison) {
  const std::size_t size = contract::size_bytes(dtype);
  const bool signals = poison && contract::is_floating(dtype);
  return ask("assay_compare", {.data = got,
                               .other = want,
                               .count = elements,
                               .poison = signals ? element_of_pattern(*poison, size) : 0,
                               .atol = tolerance.atol,
                               .rtol = tolerance.rtol,
                               .unit_bytes = static_cast<std::uint32_t>(size),
                               .format = judge::on_device::format_of(dtype).value(),
                               .has_poison = signals ? 1U : 0U});
}

DeviceJudge::Question DeviceJudge::digest(DeviceAddress data, std::uint64_t bytes) {
  return ask("assay_digest", {.data = data, .count = bytes});
}

bool DeviceJudge::has_room_for(std::size_t questions) const {
  return asked_ + questions <= kMostQuestions;
}

std::vector<DeviceJudge::Answer> DeviceJudge::answers() {
  space_.finish();
  std::vector<std::uint64_t> counters(asked_ * kCounters);
  if (asked_ > 0) {
    space_.copy_out(std::as_writable_bytes(std::span(counters)), results_.address());
    space_.fill_words(results_.address(), 0, counters.size() * 2);
  }
  std::vector<Answer> answers(asked_);
  for (std::size_t i = 0; i < asked_; ++i) {
    const std::uint64_t* at = counters.data() + i * kCounters;
    answers[i] = {.count = at[0],
                  .max_abs_error = std::bit_cast<double>(at[1]),
                  .max_rel_error = std::bit_cast<double>(at[2]),
                  .max_ulp_error = at[3]};
  }
  asked_ = 0;
  return answers;
}

}  // namespace assay::runner
