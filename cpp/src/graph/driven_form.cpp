#include "armillary/graph/driven_form.hpp"

#include <algorithm>

#include "armillary/graph/driven_link.hpp"

namespace armillary {

namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text = " by";
  for (const std::string& name : names) text += " " + std::to_string(name.size()) + ":" + name;
  return text;
}

bool is_speed(const VariablePtr& variable) { return variable->kind == VariableKind::velocity; }

/// A rotation takes the four parts of one, in order.
bool fits(const JointMotion& motion, const std::vector<VariablePtr>& variables) {
  const std::size_t first = motion.kind == JointKind::ball ? 0 : motion.kind == JointKind::floating ? 3 : variables.size();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const bool is_part = variables[i]->kind == VariableKind::unit_quaternion;
    if (is_part != (i >= first) || is_speed(variables[i])) return false;
    if (is_part && (variables[i]->part != i - first || variables[i]->lead != variables[first].get())) return false;
  }
  return true;
}

Result<std::vector<VariablePtr>> named(const std::vector<std::string>& names, const Variables& variables) {
  std::vector<VariablePtr> found;
  for (const std::string& name : names) {
    const VariableId id = variables.find(name);
    if (id == kNone || variables.is_hidden(id)) return {{}, Evidence{.kind = FailureKind::part_of_rotation, .joint = name}};
    found.push_back(variables.share(id));
  }
  return {std::move(found), {}};
}

}  // namespace

bool DrivenForm::is_whole() const {
  if (motion) return positions.size() == variables_of(motion->kind);
  if (!value || !jacobian || value->outputs() != 12 || jacobian->outputs() != 6 * velocities.size()) return false;
  const auto reads = [this](const Tape& tape) { return tape.inputs() == positions.size(); };
  return reads(*value) && reads(*jacobian) && (!loop || reads(loop->residual()));
}

std::string DrivenForm::description() const {
  if (motion) return motion->description() + listed(positions);
  const std::string tapes = "tapes " + hex(value->digest()) + " " + hex(jacobian->digest());
  return (loop ? loop->description() + " " : "") + tapes + listed(positions) + listed(velocities);
}

Result<std::shared_ptr<DrivenLink>> link_of(const DrivenForm& form, const Variables& variables) {
  Result<std::vector<VariablePtr>> positions = named(form.positions, variables), velocities = named(form.velocities, variables);
  if (!positions) return {nullptr, std::move(positions.failure)};
  if (!velocities) return {nullptr, std::move(velocities.failure)};
  const bool fit =
      form.is_whole() && (form.motion ? fits(*form.motion, positions.value) : std::ranges::none_of(positions.value, is_speed));
  if (!fit) return {nullptr, Evidence{.kind = FailureKind::part_of_rotation}};
  if (form.motion) return {std::make_shared<JointLink>(*form.motion, positions.value), {}};
  if (!form.loop)
    return {std::make_shared<TapeLink>(*form.value, *form.jacobian, std::move(positions.value), std::move(velocities.value)), {}};
  return {std::make_shared<LoopLink>(*form.loop, *form.value, *form.jacobian, std::move(positions.value),
                                     std::move(velocities.value)),
          {}};
}

}  // namespace armillary
