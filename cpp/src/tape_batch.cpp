#include <vector>

#include "tape_program.hpp"

namespace armillary {

void Tape::evaluate_batch(std::size_t n, const double* in, std::size_t in_stride, double* out, std::size_t out_stride) const {
  std::vector<double> work(scratch());
  for (std::size_t row = 0; row < n; ++row) evaluate(in + row * in_stride, out + row * out_stride, work.data());
}

}  // namespace armillary
