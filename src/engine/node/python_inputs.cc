#include "engine/node/python_inputs.h"

#include <sys/random.h>

#include <algorithm>
#include <system_error>

#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

// The manual's: weights and first inputs are the same for everybody who asks.
constexpr std::uint64_t kFirstSeed = 42;

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
                           const contract::Contract& contract, InputTime& time)
    : referee_(referee), provider_(provider), contract_(contract), time_(time) {
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
  auto made = is_varied() && trial > 0 ? make_varied(trial) : make(trial);
  if (auto* ended = std::get_if<Ended>(&made)) return std::move(*ended);
  auto& memory = std::get<posix::SharedMemory>(made);
  return &made_.insert_or_assign(trial, std::move(memory)).first->second.descriptor();
}

std::variant<posix::SharedMemory, Ended> PythonInputs::make(std::uint32_t trial) {
  const std::uint64_t bytes = referee_.arena_bytes();
  const auto lent = posix::SharedMemory::create("assay-inputs", bytes);
  auto ended = provider_->make_inputs(contract_, referee_.places(),
                                      {.descriptor = lent.descriptor().duplicate(), .bytes = bytes},
                                      seed(trial), time_);
  if (ended) return std::move(*ended);
  // The process that made them could change them still: what both sides get is a copy.
  auto copy = posix::SharedMemory::create("assay-inputs", bytes);
  std::copy(lent.bytes().begin(), lent.bytes().end(), copy.bytes().begin());
  return copy;
}

// Where all are varied those of trial 0 do for every trial: what makes them need not be asked.
std::variant<posix::SharedMemory, Ended> PythonInputs::make_varied(std::uint32_t trial) {
  const auto is_read = [this](const TensorPlace& place) {
    return contract_.args[place.argument].is_read() && place.bytes > 0;
  };
  const auto& places = referee_.places();
  const bool all = static_cast<std::size_t>(std::count_if(places.begin(), places.end(), is_read)) ==
                   variation_.arguments.size();
  std::optional<posix::SharedMemory> memory;
  if (all) {
    if (auto made = made_for(0); auto* ended = std::get_if<Ended>(&made)) return std::move(*ended);
    const auto from = made_.at(0).bytes();
    memory = posix::SharedMemory::create("assay-inputs", from.size());
    std::copy(from.begin(), from.end(), memory->bytes().begin());
  } else {
    auto made = make(trial);
    if (std::holds_alternative<Ended>(made)) return made;
    memory = std::get<posix::SharedMemory>(std::move(made));
  }
  if (auto ended = referee_.vary(contract_, variation_, memory->descriptor(), seed(trial))) {
    return std::move(*ended);
  }
  return *std::move(memory);
}

void PythonInputs::vary(RefereeSession::Variation variation) {
  variation_ = std::move(variation);
  made_.clear();
}

std::vector<std::size_t> PythonInputs::constant() {
  for (const std::uint32_t trial : {0U, 1U}) {
    if (std::holds_alternative<Ended>(made_for(trial))) return {};
  }
  std::vector<std::size_t> same;
  const auto first = made_.at(0).bytes();
  for (const TensorPlace& place : referee_.places()) {
    if (!contract_.args[place.argument].is_read() || place.bytes == 0) continue;
    const auto there = first.subspan(place.offset, place.bytes);
    const bool is_same = std::all_of(made_.begin(), made_.end(), [&](const auto& made) {
      const auto other = made.second.bytes().subspan(place.offset, place.bytes);
      return std::equal(there.begin(), there.end(), other.begin());
    });
    if (is_same) same.push_back(place.argument);
  }
  return same;
}

bool PythonInputs::are_constant() {
  if (provider_ != nullptr) return !is_varied() && !differ(0, 1);
  return !draws_inputs(contract_);
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
  return fill(referee_, trial, slot);
}

std::variant<LentArena, Ended> PythonInputs::fill(RefereeSession& other, std::uint32_t trial) {
  return fill(other, trial, kJudgedSlot);
}

std::variant<LentArena, Ended> PythonInputs::fill(RefereeSession& referee, std::uint32_t trial,
                                                  std::uint32_t slot) {
  if (provider_ == nullptr) return referee.fill(trial, slot);
  auto made = made_for(trial);
  if (auto* ended = std::get_if<Ended>(&made)) return std::move(*ended);
  return referee.fill(trial, slot, std::get<const posix::Descriptor*>(made));
}

}  // namespace assay::node
