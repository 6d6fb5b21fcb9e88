#include "armillary/expr/loop_rows.hpp"

#include <vector>

#include "expr/continuation.hpp"

namespace armillary {

FollowedRows follow_rows(const Tape& closure, std::size_t equations, std::size_t count, double* rows, std::uint8_t* uncertain) {
  const std::size_t width = closure.inputs(), dependents = closure.outputs() / equations - 1, drivers = width - dependents;
  Continuation continuation(equations, dependents);
  std::vector<double> scratch(closure.scratch()), at(width);
  for (std::size_t row = 1; row < count; ++row) {
    const double* const before = rows + (row - 1) * width;
    double* const now = rows + row * width;
    const auto evaluate = [&](double part, const double* unknowns, double* out) {
      for (std::size_t i = 0; i < drivers; ++i) at[i] = before[i] + part * (now[i] - before[i]);
      std::copy_n(unknowns, dependents, at.data() + drivers);
      closure.evaluate(at.data(), out, scratch.data());
    };
    std::copy_n(before + drivers, dependents, now + drivers);
    const Continued way = continuation.follow(now + drivers, evaluate);
    uncertain[row] = way.is_uncertain ? 1 : 0;
    if (way.reached < 1.0) return {row, way.reached};
  }
  return {count, 1.0};
}

}  // namespace armillary
