// Whether a reference's own contract sets the task that the judged kernel's does. Both kernels get
// the judged one's inputs and are compared by its tolerances; what a reference's contract says
// otherwise is refused if no single task could be meant, and else said to be without effect.
//
// A tolerance that the judged contract gives is the task's only where it is not looser than the
// reference's: else a kernel could be handed in with what makes it right.
//
// Tensors and scalars are matched by name.
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/contract/contract.h"
#include "mcp/json.h"

namespace assay::tools {

struct TaskDifferences {
  std::vector<contract::Violation> violations{};
  std::vector<contract::Violation> warnings{};
};

// Why a reference would say nothing of the kernel, whatever it does: no output has an element.
[[nodiscard]] std::vector<contract::Violation> compares_nothing(const contract::Contract& judged,
                                                                const std::string& judged_pointer);

// The pointers are those of the two kernel arguments: "/kernel", "/ref_kernel".
[[nodiscard]] TaskDifferences compare_tasks(const contract::Contract& judged,
                                            const std::string& judged_pointer,
                                            const contract::Contract& reference,
                                            const std::string& reference_pointer);

// The call's `atol` and `rtol`.
[[nodiscard]] contract::ToleranceRequest asked_tolerance(const mcp::Json& arguments);

// Puts the reference's tolerance of an output in place of a looser one of the judged contract, and
// says so. `asked` is the call's own, in force where a contract says nothing.
[[nodiscard]] std::vector<contract::Violation> hold_to_reference(
    contract::Contract& judged, const std::string& judged_pointer,
    const contract::Contract& reference, const contract::ToleranceRequest& asked);

}  // namespace assay::tools
