#include <algorithm>

#include "expr/tape_functions.hpp"
#include "expr/tape_kernel.hpp"
#include "expr/tape_program.hpp"

namespace armillary {

namespace {

void run_step(const TapeStep& step, double* scratch) {
  with_function(step.op, [&](auto f) {
    if constexpr (std::is_same_v<decltype(f), SineCosine>) {
      const double angle = scratch[step.of[0]];
      scratch[step.target] = std::sin(angle);
      scratch[step.of[1]] = std::cos(angle);
    } else {
      scratch[step.target] = applied(f, [&](std::size_t k) { return scratch[step.of[k]]; });
    }
  });
}

/// The inputs that turn something, side by side.
void turn(const TapeProgram& program, const double* in, double* scratch) {
  double* const angles = scratch + program.first_sine();
  const auto turned = program.turned_inputs();
  for (std::size_t i = 0; i < turned.size(); ++i) angles[i] = in[turned[i]];
  std::fill(angles + turned.size(), angles + program.turns(), 0.0);
  tape::fastest_kernel().turn(program.turns(), angles, scratch + program.first_cosine());
}

}  // namespace

void Tape::evaluate(const double* in, double* out, double* scratch) const noexcept {
  const TapeProgram& program = *program_;
  const TapeParts& parts = program.parts();
  std::copy_n(parts.constants.data(), parts.constants.size(), scratch);
  std::copy_n(in, parts.inputs, scratch + program.first_input());
  if (!program.turned_inputs().empty()) turn(program, in, scratch);
  for (const TapeStep& step : program.steps_behind_turns()) run_step(step, scratch);
  std::copy_n(scratch + program.first_output(), parts.outputs, out);
}

}  // namespace armillary
