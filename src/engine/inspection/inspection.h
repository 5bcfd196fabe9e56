// An inspection on the wire: what the engine asks for, and what the emulator found, as JSON. Pure;
// any thread.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/emulator/emulator.h"

namespace assay::inspection {

// {inspect: ["memory", "races", "initialised", "locals", "barriers", "numbers", "counters"],
// checked_blocks}; throws on another word.
[[nodiscard]] emulator::Inspection decode_inspection(const nlohmann::json& order);

[[nodiscard]] nlohmann::json describe_place(const emulator::SourceLine& where);
[[nodiscard]] nlohmann::json describe_triple(const emulator::Dim3& dim);
[[nodiscard]] nlohmann::json describe_fault(const emulator::Fault& fault);
[[nodiscard]] nlohmann::json describe_findings(const std::vector<emulator::Finding>& findings);
[[nodiscard]] nlohmann::json describe_profile(const emulator::Profile& profile);

}  // namespace assay::inspection
