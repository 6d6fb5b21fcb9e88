// Compiled with wider vectors; only called where the processor has them.
#include "graph/batch_kernel.inc"

namespace armillary::batch {

const Kernel avx2_kernel{interpolate_block, compose_block};

}  // namespace armillary::batch
