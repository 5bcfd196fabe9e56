// The memory of a Python job's runs: filled by the referee from the contract, or, where the task
// has none, with what the reference's own get_inputs() made of a seed it could not foresee. The
// same trial gives both sides the same bytes.
//
// Owned by the job's thread; borrows what it is given.
#pragma once

#include <map>
#include <variant>

#include "engine/node/python_session.h"
#include "engine/node/referee_session.h"
#include "engine/posix/descriptor.h"

namespace assay::node {

class PythonInputs {
 public:
  // `provider`: whose get_inputs() it is; null where the contract says it all.
  // `time`: what those calls may still take.
  PythonInputs(RefereeSession& referee, PythonSession* provider, const contract::Contract& contract,
               InputTime& time);

  [[nodiscard]] std::variant<LentArena, Ended> fill(std::uint32_t trial, std::uint32_t slot);
  // Likewise, by another referee that has opened the same contract.
  [[nodiscard]] std::variant<LentArena, Ended> fill(RefereeSession& other, std::uint32_t trial);
  // Of random numbers, for inputs and for calls: trial 0's is everybody's, the others are drawn.
  [[nodiscard]] std::uint64_t seed(std::uint32_t trial) const;
  // Whether two trials of inputs that a source makes itself have other bytes: the engine knows no
  // more of them. True if they could not be made.
  [[nodiscard]] bool differ(std::uint32_t one, std::uint32_t other);
  // Whether they are the same for every trial: a source that makes them is asked for two, else the
  // contract says so.
  [[nodiscard]] bool are_constant();
  // Of inputs that a source makes itself: which arguments have had the same bytes in all trials so
  // far, two at least. None if they could not be made.
  [[nodiscard]] std::vector<std::size_t> constant();
  // From here on trials other than 0 have these varied (judge/varied.h); without any, as they were
  // made again.
  void vary(RefereeSession::Variation variation);
  // Another process makes them from here on, of the same source.
  void provided_by(PythonSession& provider) { provider_ = &provider; }
  // What those of one more trial take at least, and what is left for all; 0 and all there is where
  // no source makes them.
  [[nodiscard]] InputTime time() const {
    return provider_ != nullptr ? time_ : InputTime{.left = time_.left, .fastest = {}};
  }
  // What was made for trials so far is not needed again.
  void forget() { made_.clear(); }

 private:
  [[nodiscard]] std::variant<LentArena, Ended> fill(RefereeSession& referee, std::uint32_t trial,
                                                    std::uint32_t slot);
  [[nodiscard]] std::variant<const posix::Descriptor*, Ended> made_for(std::uint32_t trial);
  [[nodiscard]] std::variant<posix::SharedMemory, Ended> make(std::uint32_t trial);
  [[nodiscard]] bool is_varied() const { return !variation_.arguments.empty(); }
  [[nodiscard]] std::variant<posix::SharedMemory, Ended> make_varied(std::uint32_t trial);

  RefereeSession& referee_;
  PythonSession* provider_;
  const contract::Contract& contract_;
  InputTime& time_;
  std::uint64_t secret_ = 0;
  RefereeSession::Variation variation_{};
  std::map<std::uint32_t, posix::SharedMemory> made_{};  // by trial; ours alone
};

}  // namespace assay::node
