#include <algorithm>

#include "tape_functions.hpp"
#include "tape_program.hpp"

namespace armillary {

void Tape::evaluate(const double* in, double* out, double* scratch) const noexcept {
  const TapeProgram& program = *program_;
  const TapeParts& parts = program.parts();
  std::copy_n(parts.constants.data(), parts.constants.size(), scratch);
  std::copy_n(in, parts.inputs, scratch + program.first_input());
  for (const TapeStep& step : program.steps())
    with_function(step.op, [&](auto f) {
      if constexpr (std::is_same_v<decltype(f), SineCosine>) {
        scratch[step.target] = std::sin(scratch[step.a]);
        scratch[step.c] = std::cos(scratch[step.a]);
      } else if constexpr (takes_three<decltype(f)>) {
        scratch[step.target] = f(scratch[step.a], scratch[step.b], scratch[step.c]);
      } else {
        scratch[step.target] = f(scratch[step.a], scratch[step.b]);
      }
    });
  std::copy_n(scratch + program.first_output(), parts.outputs, out);
}

}  // namespace armillary
