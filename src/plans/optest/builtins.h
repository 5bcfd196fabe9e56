// The builtin assertions: what an operator should give for its inputs. docs/plans.md says what each
// computes. Sums are wider than their elements: integers modulo 2^64, floats in double, float64 in
// long double. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plans/optest/numbers.h"

namespace assay::optest {

// "builtin.gemm" and so on, identity among them.
[[nodiscard]] std::vector<std::string> builtin_names();

// "elementwise_add" for "Builtin.Elementwise_Add", "elementwise_add", …; nothing if there is none.
[[nodiscard]] std::optional<std::string> builtin_named(const std::string& text);

// Throws ReferenceFault. REQUIRES a builtin's name, with or without "builtin.", but identity.
[[nodiscard]] Numbers compute_builtin(const std::string& name, std::span<const Numbers> inputs,
                                      const nlohmann::json& params);

}  // namespace assay::optest
