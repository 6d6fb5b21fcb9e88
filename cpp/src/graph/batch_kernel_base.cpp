#include "graph/batch_kernel.inc"

namespace armillary::batch {

const Kernel base_kernel{interpolate_block, compose_block};

}  // namespace armillary::batch
