#include "armillary/driven_link.hpp"

#include <algorithm>
#include <array>

namespace armillary {

DrivenLink::DrivenLink(std::vector<VariablePtr> variables) : kept_(std::move(variables)) {
  for (const VariablePtr& variable : kept_) read_.push_back(variable.get());
}

Coverage DrivenLink::coverage() const {
  Coverage common{Stamp::always(), Stamp::never()};
  for (const Variable* variable : read_) {
    const Coverage one = variable->coverage();
    common = {std::max(common.first, one.first), std::min(common.last, one.last)};
  }
  return common;
}

/// Each has samples, and no instant has all of them: the one that begins last.
static void explain_apart(std::span<const Variable* const> variables, Evidence& failure) {
  for (const Variable* variable : variables)
    if (variable->coverage().empty()) return;
  failure.kind = FailureKind::before_history;
  failure.requested = Stamp::never();
  for (const Variable* variable : variables) {
    const Coverage held = variable->coverage();
    failure.requested = std::min(failure.requested, held.last);
    if (!failure.joint.empty() && held.first <= failure.first) continue;
    failure.joint = variable->name;
    failure.first = held.first;
    failure.last = held.last;
  }
}

static bool is_at_fault(const Variable& variable, const Coverage& held, const Evidence& failure) {
  const Voices& voices = variable.lead->voices();
  if (failure.kind == FailureKind::ambiguous_path) return voices.all.size() > 1 && voices.voice_at(failure.requested) == nullptr;
  if (failure.kind == FailureKind::no_samples) return held.empty();
  return failure.requested < held.first || failure.requested > held.last;
}

void DrivenLink::explain(Evidence& failure) const {
  if (failure.kind == FailureKind::no_samples) explain_apart(read_, failure);
  if (!failure.joint.empty()) return;
  for (const Variable* variable : read_) {
    const Coverage held = variable->coverage();
    if (!is_at_fault(*variable, held, failure)) continue;
    failure.joint = variable->name;
    failure.first = held.first;
    failure.last = held.last;
    return;
  }
}

bool DrivenLink::has_forgotten(Stamp at) const {
  return std::ranges::any_of(read_, [at](const Variable* variable) { return variable->has_forgotten(at); });
}

std::vector<VariablePtr> DrivenLink::counterparts(const Variables& variables) const {
  std::vector<VariablePtr> found;
  for (const Variable* variable : read_) found.push_back(variables.share(variables.find(variable->name)));
  return found;
}

std::string DrivenLink::variable_names() const {
  std::string names;
  for (const Variable* variable : read_) names += " '" + variable->name + "'";
  return names;
}

JointLink::JointLink(const JointMotion& motion, std::vector<VariablePtr> variables)
    : DrivenLink(std::move(variables)), motion_(motion) {}

FailureKind JointLink::evaluate(Stamp at, const QueryContext& context, Evaluation& out) const {
  std::array<double, JointMotion::kMostVariables> positions;
  VariableReader reader(at, context);
  if (const FailureKind kind = reader.positions(read(), positions.data()); kind != FailureKind::none) return kind;
  out.value = motion_.pose(positions.data());
  out.held = reader.held();
  out.predicted = reader.predicted();
  out.certainty = Certainty::unknown;
  return FailureKind::none;
}

FailureKind JointLink::velocity(Stamp at, const QueryContext& context, Velocity& out) const {
  std::array<double, JointMotion::kMostVariables> positions, velocities;
  VariableReader reader(at, context);
  if (const FailureKind kind = reader.positions(read(), positions.data()); kind != FailureKind::none) return kind;
  if (const FailureKind kind = reader.velocities(read(), velocities.data()); kind != FailureKind::none) return kind;
  out = motion_.body_velocity(positions.data(), velocities.data());
  return FailureKind::none;
}

std::shared_ptr<DrivenProvider> JointLink::driven_by(const Variables& variables) const {
  return std::make_shared<JointLink>(motion_, counterparts(variables));
}

std::string JointLink::description() const { return motion_.description() + variable_names(); }

}  // namespace armillary
