#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "armillary/expr/tape.hpp"
#include "expr/tape_step.hpp"

namespace armillary {

/// The first thing wrong with `parts`, if any.
[[nodiscard]] std::optional<TapeFault> fault_in(const TapeParts& parts);

/// One more than the highest register named in checked code.
[[nodiscard]] std::size_t registers_of(const std::vector<TapeInstruction>& code);

/// A tape as it is run. Constants, inputs and outputs have places of their own in the working memory, so that no step is
/// spent on fetching them: constants, then inputs, then outputs, then the sines and the cosines of inputs, then registers.
class TapeProgram {
 public:
  /// `parts` are without fault.
  explicit TapeProgram(TapeParts parts);

  [[nodiscard]] const TapeParts& parts() const { return parts_; }
  [[nodiscard]] std::size_t registers() const { return registers_; }
  /// First those that turn inputs, if there are enough of them.
  [[nodiscard]] std::span<const TapeStep> steps() const { return steps_; }
  [[nodiscard]] std::span<const TapeStep> steps_behind_turns() const { return steps().subspan(turned_inputs_.size()); }
  /// Of which a sine or a cosine is asked; none where they are too few to be computed side by side.
  [[nodiscard]] std::span<const std::uint32_t> turned_inputs() const { return turned_inputs_; }
  /// How many places there are for sines: as many as can be computed at once, and again as many.
  [[nodiscard]] std::size_t turns() const;
  [[nodiscard]] std::size_t places() const { return places_; }
  [[nodiscard]] std::size_t first_input() const { return parts_.constants.size(); }
  [[nodiscard]] std::size_t first_output() const { return first_input() + parts_.inputs; }
  [[nodiscard]] std::size_t first_sine() const { return first_output() + parts_.outputs; }
  [[nodiscard]] std::size_t first_cosine() const { return first_sine() + turns(); }
  [[nodiscard]] std::size_t first_register() const { return first_cosine() + turns(); }

 private:
  TapeParts parts_;
  std::size_t registers_ = 0;
  std::size_t places_ = 0;
  std::vector<std::uint32_t> turned_inputs_;
  std::vector<TapeStep> steps_;
};

}  // namespace armillary
