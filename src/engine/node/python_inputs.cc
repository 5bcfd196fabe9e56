#include "engine/node/python_inputs.h"

#include <sys/random.h>

#include <algorithm>
#include <system_error>

namespace assay::node {
namespace {

// The manual's: weights and first inputs are the same for everybody who asks.
constexpr std::uint64_t kFirstSeed = 42;

// Whether each trial draws its elements anew.
bool is_drawn(const contract::Arg& arg) {
  if (!arg.is_tensor() || !arg.is_read() || arg.tensor_spec->elements() == 0) return false;
  const auto& spec = *arg.tensor_spec;
  if (!spec.init) return !spec.data;
  return spec.init->kind == contract::InitKind::randn ||
         spec.init->kind == contract::InitKind::uniform;
}

// A bijection that spreads: seeds seen tell nothing of the next without the secret.
std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 30;
  value *= 0xBF58476D1CE4E5B9;
  value ^= value >> 27;
  value *= 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

}  // namespace

PythonInputs::PythonInputs(RefereeSession& referee, PythonSession* provider,
                           const contract::Contract& contract)
    : referee_(referee), provider_(provider), contract_(contract) {
  if (::getrandom(&secret_, sizeof secret_, 0) != static_cast<ssize_t>(sizeof secret_)) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
}

std::uint64_t PythonInputs::seed(std::uint32_t trial) const {
  if (trial == 0) return kFirstSeed;
  return mix(mix(secret_ ^ trial) + secret_) >> 1;  // torch takes 63 bits everywhere
}

std::variant<const posix::Descriptor*, Ended> PythonInputs::made_for(std::uint32_t trial) {
  const auto known = made_.find(trial);
  if (known != made_.end()) return &known->second.descriptor();
  auto made = varied_ && trial > 0 ? make_varied(trial) : make(trial);
  if (auto* ended = std::get_if<Ended>(&made)) return std::move(*ended);
  auto& memory = std::get<posix::SharedMemory>(made);
  return &made_.insert_or_assign(trial, std::move(memory)).first->second.descriptor();
}

std::variant<posix::SharedMemory, Ended> PythonInputs::make(std::uint32_t trial) {
  const std::uint64_t bytes = referee_.arena_bytes();
  const auto lent = posix::SharedMemory::create("assay-inputs", bytes);
  auto ended = provider_->make_inputs(contract_, referee_.places(),
                                      {.descriptor = lent.descriptor().duplicate(), .bytes = bytes},
                                      seed(trial));
  if (ended) return std::move(*ended);
  // The process that made them could change them still: what both sides get is a copy.
  auto copy = posix::SharedMemory::create("assay-inputs", bytes);
  std::copy(lent.bytes().begin(), lent.bytes().end(), copy.bytes().begin());
  return copy;
}

std::variant<posix::SharedMemory, Ended> PythonInputs::make_varied(std::uint32_t trial) {
  if (auto made = made_for(0); auto* ended = std::get_if<Ended>(&made)) return std::move(*ended);
  const auto from = made_.at(0).bytes();
  auto copy = posix::SharedMemory::create("assay-inputs", from.size());
  std::copy(from.begin(), from.end(), copy.bytes().begin());
  if (auto ended = referee_.vary(contract_, copy.descriptor(), seed(trial))) {
    return std::move(*ended);
  }
  return copy;
}

void PythonInputs::vary(bool on) {
  varied_ = on;
  made_.clear();
}

bool PythonInputs::are_constant() {
  if (provider_ != nullptr) return !varied_ && !differ(0, 1);
  return std::none_of(contract_.args.begin(), contract_.args.end(), is_drawn);
}

bool PythonInputs::differ(std::uint32_t one, std::uint32_t other) {
  for (const std::uint32_t trial : {one, other}) {
    if (std::holds_alternative<Ended>(made_for(trial))) return true;
  }
  const auto first = made_.at(one).bytes();
  const auto second = made_.at(other).bytes();
  return !std::equal(first.begin(), first.end(), second.begin(), second.end());
}

std::variant<LentArena, Ended> PythonInputs::fill(std::uint32_t trial, std::uint32_t slot) {
  if (provider_ == nullptr) return referee_.fill(trial, slot);
  auto made = made_for(trial);
  if (auto* ended = std::get_if<Ended>(&made)) return std::move(*ended);
  return referee_.fill(trial, slot, std::get<const posix::Descriptor*>(made));
}

}  // namespace assay::node
