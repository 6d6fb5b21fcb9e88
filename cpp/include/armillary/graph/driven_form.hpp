#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "armillary/expr/loop.hpp"
#include "armillary/expr/tape.hpp"
#include "armillary/graph/errors.hpp"
#include "armillary/graph/joint_motion.hpp"

namespace armillary {

class DrivenLink;
class Variables;

/// How joints drive a pose, in the form that is asserted and sent: with the joints by name.
struct DrivenForm {
  std::optional<JointMotion> motion{};      ///< a joint with a closed form: see `JointLink`
  std::optional<Tape> value{}, jacobian{};  ///< otherwise: see `TapeLink`
  std::optional<Loop> loop{};               ///< and where the last positions follow from the others: see `LoopLink`
  std::vector<std::string> positions{}, velocities{};

  /// Whether it has as many joints as it needs, and a pose comes out.
  [[nodiscard]] bool is_whole() const;
  /// A text that is equal for equal ones alone, to the last bit.
  [[nodiscard]] std::string description() const;
};

/// Driven by the variables of these names. `part_of_rotation` where one is not there, or hidden, or is of a kind that does not
/// fit.
[[nodiscard]] Result<std::shared_ptr<DrivenLink>> link_of(const DrivenForm& form, const Variables& variables);

}  // namespace armillary
