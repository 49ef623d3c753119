// The fast engine is not there yet: every problem goes to the general one.
#include "grid/cpu/plain.h"

namespace fathom::grid::cpu {

bool plain_serves(const Problem&) { return false; }
std::size_t plain_scratch_bytes(const Problem&, InstructionSet, int) { return 0; }
void plain_transform(const Problem&, InstructionSet, int, std::byte*, const Execution&) {}

}  // namespace fathom::grid::cpu
