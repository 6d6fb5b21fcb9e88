// Joints: the variables of a forest, what is said of them, and the poses they drive.

#include <algorithm>

#include "armillary/driven_link.hpp"
#include "forest_state.hpp"

namespace armillary {

namespace {

using Guard = std::lock_guard<std::mutex>;

/// A rotation takes the four parts of one, in order.
bool fits(const JointMotion& motion, std::span<const VariablePtr> variables) {
  if (variables.size() != variables_of(motion.kind)) return false;
  const std::size_t first = motion.kind == JointKind::ball ? 0 : motion.kind == JointKind::floating ? 3 : variables.size();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const bool is_part = variables[i]->kind == VariableKind::unit_quaternion;
    if (is_part != (i >= first) || variables[i]->kind == VariableKind::velocity) return false;
    if (is_part && (variables[i]->part != i - first || variables[i]->lead != variables[first].get())) return false;
  }
  return true;
}

bool fits(const Tape& value, const Tape& jacobian, std::span<const VariablePtr> positions,
          std::span<const VariablePtr> velocities) {
  return value.inputs() == positions.size() && jacobian.inputs() == positions.size() && value.outputs() == 12 &&
         jacobian.outputs() == 6 * velocities.size() &&
         std::ranges::none_of(positions, [](const VariablePtr& v) { return v->kind == VariableKind::velocity; });
}

}  // namespace

Failure Forest::declare_variables(std::span<const Variables::Wish> wishes) {
  const Guard guard(state_->lock);
  return state_->variables.declare(wishes);
}

VariablePtr Forest::find_variable(std::string_view name) const {
  const Guard guard(state_->lock);
  const VariableId id = state_->variables.find(name);
  return id == kNone ? nullptr : state_->variables.share(id);
}

std::vector<std::pair<std::string, VariableKind>> Forest::variables() const {
  const Guard guard(state_->lock);
  std::vector<std::pair<std::string, VariableKind>> all;
  for (VariableId id = 0; id < state_->variables.size(); ++id)
    all.emplace_back(state_->variables[id].name, state_->variables[id].kind);
  return all;
}

Result<ChannelId> Forest::joint_channel(ChannelName name, std::string_view source) {
  const Guard guard(state_->lock);
  name.source = state_->add_source(source);
  return state_->variables.channel(name);
}

Failure Forest::set_joints(ChannelId channel, std::span<const std::int64_t> stamps, double* rows) {
  const Guard guard(state_->lock);
  if (Failure failure = state_->variables.check(channel, stamps, rows)) return failure;
  state_->variables.write(channel, stamps, rows, state_->retired);
  state_->joints_said(channel, stamps);
  return {};
}

/// Wakes who waits for a pose that these variables drive.
void Forest::State::joints_said(ChannelId channel, std::span<const std::int64_t> stamps) {
  if (watching.empty()) return;
  for (const VariableId id : variables.name_of(channel).variables) {
    const auto driven = drives.find(id);
    if (driven == drives.end()) continue;
    for (const RelationId relation : driven->second)
      if (relations[relation])
        for (const std::int64_t stamp : stamps) relations[relation]->track->watches.inserted({stamp});
  }
}

bool Forest::prefer_variable(const Variable& variable, std::optional<std::string_view> source) {
  const Guard guard(state_->lock);
  const SourceId chosen = source ? state_->find_source(*source) : kNone;
  if (source && chosen == kNone) return false;
  return state_->variables.prefer(variable.id, chosen, state_->retired);
}

std::vector<std::string> Forest::sources_of(const Variable& variable) const {
  const Guard guard(state_->lock);
  std::vector<std::string> names;
  for (const SourceId source : state_->variables.sources_of(variable.id)) names.push_back(state_->sources[source]);
  return names;
}

VariableTable Forest::joint_samples(const Variable& variable, std::string_view source, Stamp from, Stamp to) const {
  const Guard guard(state_->lock);
  return state_->variables.samples(variable.id, state_->find_source(source), from, to);
}

Result<JointAnswer> Forest::joint(const Variable& variable, When at, const QueryContext& given) const {
  const Pin pin;
  const QueryContext context = state_->completed(given, *state_->topology.load());
  const Coverage held = variable.coverage();
  const Voices& voices = variable.lead->voices();
  const Voice* newest = at.latest && !held.empty() ? voices.voice_at(Stamp::never()) : nullptr;
  Result<JointAnswer> result;
  result.value.stamp = newest != nullptr ? newest->newest() : at.latest ? Stamp::never() : at.at;
  const Variable* one = &variable;
  VariableReader reader(result.value.stamp, context);
  const FailureKind kind = reader.positions({&one, 1}, &result.value.position);
  result.value.has_velocity =
      kind == FailureKind::none && reader.velocities({&one, 1}, &result.value.velocity) == FailureKind::none;
  result.value.held = reader.held();
  result.value.predicted = reader.predicted();
  if (kind == FailureKind::none) return result;
  result.failure =
      Evidence{.kind = kind, .requested = result.value.stamp, .first = held.first, .last = held.last, .joint = variable.name};
  return result;
}

Failure Forest::drive_joint(const EdgeName& edge, Stamp from, const JointMotion& motion, std::vector<VariablePtr> variables) {
  if (!fits(motion, variables)) return Evidence{.kind = FailureKind::part_of_rotation};
  const Guard guard(state_->lock);
  return state_->drive(edge, from, std::make_shared<JointLink>(motion, variables));
}

Failure Forest::drive_tape(const EdgeName& edge, Stamp from, const Tape& value, const Tape& jacobian,
                           std::vector<VariablePtr> positions, std::vector<VariablePtr> velocities) {
  if (!fits(value, jacobian, positions, velocities)) return Evidence{.kind = FailureKind::part_of_rotation};
  const Guard guard(state_->lock);
  return state_->drive(edge, from, std::make_shared<TapeLink>(value, jacobian, std::move(positions), std::move(velocities)));
}

Failure Forest::drive_loop(const EdgeName& edge, Stamp from, const Loop& loop, const Tape& value, const Tape& jacobian,
                           std::vector<VariablePtr> positions, std::vector<VariablePtr> velocities) {
  if (!fits(value, jacobian, positions, velocities)) return Evidence{.kind = FailureKind::part_of_rotation};
  const Guard guard(state_->lock);
  return state_->drive(edge, from,
                       std::make_shared<LoopLink>(loop, value, jacobian, std::move(positions), std::move(velocities)));
}

/// From now on samples of its variables wake who waits for it.
Failure Forest::State::drive(const EdgeName& edge, Stamp from, std::shared_ptr<DrivenLink> link) {
  const DrivenLink& driven = *link;
  if (Failure failure = open_run(edge, {.from = from, .driven = std::move(link)})) return failure;
  const RelationRecord* relation = find_relation(edge);
  for (const auto& variables : {driven.positions(), driven.velocities()})
    for (const VariablePtr& variable : variables) {
      std::vector<RelationId>& known = drives[variable->id];
      if (std::ranges::find(known, relation->id) == known.end()) known.push_back(relation->id);
    }
  return {};
}

/// After a copy: the links read the variables of this forest.
void Forest::State::drive_by_own_variables() {
  for (FrameRecord& frame : frames)
    for (const auto& track : frame.tracks)
      for (RunRecord& run : track->runs)
        if (std::shared_ptr<DrivenProvider> own = run.driven ? run.driven->driven_by(variables) : nullptr) run.driven = own;
}

std::vector<DrivenInfo> Forest::driven_poses() const {
  const Guard guard(state_->lock);
  std::vector<DrivenInfo> found;
  for (const FrameRecord& frame : state_->frames)
    for (const auto& track : frame.tracks)
      for (const RunRecord& run : track->runs)
        if (run.driven)
          found.push_back({*frame.name, *state_->frames[run.parent].name, state_->sources[track->source], run.from,
                           run.driven->description()});
  return found;
}

}  // namespace armillary
