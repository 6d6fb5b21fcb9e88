#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "armillary/tape.hpp"
#include "tape_step.hpp"

namespace armillary {

/// The first thing wrong with `parts`, if any.
[[nodiscard]] std::optional<TapeFault> fault_in(const TapeParts& parts);

/// One more than the highest register named in checked code.
[[nodiscard]] std::size_t registers_of(const std::vector<TapeInstruction>& code);

/// A tape as it is run. Constants, inputs and outputs have places of their own in the working memory, so that no step is
/// spent on fetching them: constants, then inputs, then outputs, then registers.
class TapeProgram {
 public:
  /// `parts` are without fault.
  explicit TapeProgram(TapeParts parts);

  [[nodiscard]] const TapeParts& parts() const { return parts_; }
  [[nodiscard]] std::size_t registers() const { return registers_; }
  [[nodiscard]] const std::vector<TapeStep>& steps() const { return steps_; }
  [[nodiscard]] std::size_t places() const { return places_; }
  [[nodiscard]] std::size_t first_input() const { return parts_.constants.size(); }
  [[nodiscard]] std::size_t first_output() const { return first_input() + parts_.inputs; }
  [[nodiscard]] std::size_t first_register() const { return first_output() + parts_.outputs; }

 private:
  TapeParts parts_;
  std::size_t registers_ = 0;
  std::size_t places_ = 0;
  std::vector<TapeStep> steps_;
};

}  // namespace armillary
