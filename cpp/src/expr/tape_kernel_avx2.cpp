// Compiled with wider vectors; only called where the processor has them.
#include "expr/tape_kernel.inc"

namespace armillary::tape {

const Kernel avx2_kernel = {run_steps, turn_all};

}  // namespace armillary::tape
