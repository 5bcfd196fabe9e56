// A run of an `assay` backend: the plan's kernel with the plan's tensors, judged by the engine
// itself against the golden. There is no runner program: inputs go as literal data of the contract,
// the golden goes to the referee. One thread.
#pragma once

#include <filesystem>

#include "plans/optest/case_runner.h"
#include "plans/optest/judgement.h"

namespace assay::optest {

// Tensors travel inside the order, whose frames are bounded.
inline constexpr std::uint64_t kMaxKernelBytes = 2U << 20;

class KernelCase {
 public:
  KernelCase(const Backend& backend, const Case& one, const ShapeEntry& shapes,
             const Resolved& resolved, const std::filesystem::path& plan_folder);

  // `checked` false with `ok` false: the engine cannot run this here, `details` says why. `more`
  // gets the engine's verdict and the order's shape.
  [[nodiscard]] Judged judge(const KernelJudge& kernels, const std::stop_token& stop,
                             nlohmann::json& more) const;

 private:
  [[nodiscard]] nlohmann::json request() const;
  [[nodiscard]] nlohmann::json contract() const;
  [[nodiscard]] nlohmann::json sizes() const;
  void put_tensor(nlohmann::json& argument, std::size_t& inputs, std::size_t& outputs) const;

  const Backend& backend_;
  const Case& case_;
  const ShapeEntry& shapes_;
  const Resolved& resolved_;
  const std::filesystem::path& plan_folder_;
};

}  // namespace assay::optest
