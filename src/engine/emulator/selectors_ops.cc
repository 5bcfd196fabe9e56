// The table of this instruction set's selectors.
#include "engine/emulator/lanes.h"

#define ASSAY_TEXT_OF(x) #x
#define ASSAY_TEXT(x) ASSAY_TEXT_OF(x)

namespace assay::emulator::ASSAY_EMULATOR_ISA {

const InstructionSet kInstructionSet{
    .name = ASSAY_TEXT(ASSAY_EMULATOR_ISA),
    .integer = &select_integer,
    .floating = &select_floating,
    .math = &select_math,
    .half = &select_half,
    .logic = &select_logic,
    .compare = &select_compare,
    .convert = &select_convert,
    .move = &select_move,
    .load = &select_load,
    .store = &select_store,
    .inspection = &kInspectionSet,
};

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
