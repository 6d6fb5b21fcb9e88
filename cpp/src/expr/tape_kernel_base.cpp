#include "expr/tape_kernel.inc"

namespace armillary::tape {

const Kernel base_kernel = {run_steps, turn_all};

}  // namespace armillary::tape
