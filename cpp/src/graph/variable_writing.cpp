// Joints: the variables of a forest, their samples, and the poses they drive.

#include <algorithm>

#include "armillary/graph/driven_link.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

namespace {

using Guard = std::lock_guard<std::mutex>;

}  // namespace

Failure Forest::declare_variables(std::span<const Variables::Declaration> declarations) {
  const Guard guard(state_->lock);
  return state_->variables.declare(declarations);
}

VariablePtr Forest::find_variable(std::string_view name) const {
  const Guard guard(state_->lock);
  const VariableId id = state_->variables.find(name);
  return id == kNone || state_->variables.is_hidden(id) ? nullptr : state_->variables.share(id);
}

bool Forest::has_velocities() const { return state_->variables.has_velocities(); }

std::vector<std::pair<std::string, VariableKind>> Forest::variables() const {
  const Guard guard(state_->lock);
  std::vector<std::pair<std::string, VariableKind>> all;
  for (VariableId id = 0; id < state_->variables.size(); ++id)
    if (!state_->variables.is_hidden(id)) all.emplace_back(state_->variables[id].name, state_->variables[id].kind);
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
  state_->on_joints_inserted(channel, stamps);
  if (state_->taps.empty()) return {};
  const std::size_t width = state_->variables.name_of(channel).row_width();
  for (std::size_t row = 0; row < stamps.size(); ++row)
    state_->copy_to_taps(SampleKind::joints, channel, {stamps[row]}, nullptr, {rows + row * width, width}, {});
  return {};
}

void Forest::add_tap(std::shared_ptr<SampleTap> tap) {
  const Guard guard(state_->lock);
  state_->taps.push_back(std::move(tap));
}

Forest::JointChannelInfo Forest::channel_info(ChannelId channel) const {
  const Guard guard(state_->lock);
  const ChannelName& name = state_->variables.name_of(channel);
  JointChannelInfo info{.form = name, .source = state_->sources[name.source]};
  for (const VariableId id : name.variables) info.names.push_back(state_->variables[id].name);
  return info;
}

/// Wakes who waits for a pose that these variables drive.
void Forest::State::on_joints_inserted(ChannelId channel, std::span<const std::int64_t> stamps) {
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
  const std::vector<SourceId> known = state_->variables.sources_of(variable.id);
  if (source && std::ranges::find(known, chosen) == known.end()) return false;
  std::vector<PreferenceStep> steps;
  if (source) steps.push_back({Stamp::always(), chosen});
  state_->prefer_variable(variable.id, std::move(steps));
  return true;
}

void Forest::State::prefer_variable(VariableId id, std::vector<PreferenceStep> steps) {
  variables.prefer(id, std::move(steps), retired);
  const auto driven = watching.empty() ? drives.end() : drives.find(id);
  if (driven == drives.end()) return;
  for (const RelationId relation : driven->second)
    if (relations[relation]) structure_watches.frame_changed(relations[relation]->of);
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
  Result<JointAnswer> result;
  if (at.latest && variable.has_ended_before(Stamp::never())) {
    result.failure = Evidence{.kind = FailureKind::not_received, .first = held.first, .last = held.last, .joint = variable.name};
    variable.add_demands(Stamp::never(), context, result.failure->demand);
    return result;
  }
  result.value.stamp = !at.latest ? at.at : held.empty() ? Stamp::never() : variable.newest();
  const Variable* one = &variable;
  HeldSamples noted;
  QueryContext noting = context;
  noting.held = &noted;
  VariableReader reader(result.value.stamp, noting);
  reader.note_held();
  const FailureKind kind = reader.positions({&one, 1}, &result.value.position);
  result.value.has_velocity =
      kind == FailureKind::none && reader.velocities({&one, 1}, &result.value.velocity) == FailureKind::none;
  if (!noted.empty()) result.value.held = std::make_unique<HeldSamples>(std::move(noted));
  result.value.predicted = reader.predicted();
  result.value.integrated = reader.integrated();
  if (kind == FailureKind::none) return result;
  result.failure =
      Evidence{.kind = kind, .requested = result.value.stamp, .first = held.first, .last = held.last, .joint = variable.name};
  if (kind == FailureKind::not_received) variable.add_demands(result.failure->requested, context, result.failure->demand);
  const bool is_too_old = context.outside == Outside::hold && context.hold_up_to != kHoldForEver && !held.empty();
  if (is_too_old) result.failure->hold_up_to_ns = context.hold_up_to.ns;
  return result;
}

namespace {

/// Of positions at one instant; empty where it is unknown.
std::vector<double> covariance_of(VariableReader& reader, std::span<const Variable* const> variables) {
  std::vector<VariableError> errors;
  if (!reader.is_known() || !reader.errors(variables, errors)) return {};
  std::vector<double> covariance;
  for (const VariableError& one : errors)
    for (const VariableError& other : errors) covariance.push_back(one.covariance_with(other));
  return covariance;
}

}  // namespace

Result<JointsAnswer> Forest::joints(std::span<const Variable* const> variables, When at, const QueryContext& given) const {
  const Pin pin;
  QueryContext context = state_->completed(given, *state_->topology.load());
  Result<JointsAnswer> result;
  JointsAnswer& answer = result.value;
  answer.stamp = at.at;
  const Variable* last = variables.front();  // the one that ends first
  if (at.latest) {
    for (const Variable* variable : variables)
      if (variable->newest() < last->newest()) last = variable;
    answer.stamp = last->coverage().empty() ? Stamp::never() : last->newest();
  }
  HeldSamples noted;
  context.held = &noted;
  VariableReader reader(answer.stamp, context);
  reader.note_held();
  answer.positions.resize(variables.size());
  const FailureKind kind = reader.positions(variables, answer.positions.data());
  if (kind != FailureKind::none) {
    const Coverage held = last->coverage();
    result.failure =
        Evidence{.kind = kind, .requested = answer.stamp, .first = held.first, .last = held.last, .joint = last->name};
    const bool is_too_old = context.outside == Outside::hold && context.hold_up_to != kHoldForEver && !held.empty();
    if (is_too_old) result.failure->hold_up_to_ns = context.hold_up_to.ns;
    return result;
  }
  answer.covariance = covariance_of(reader, variables);
  if (!noted.empty()) answer.held = std::make_unique<HeldSamples>(std::move(noted));
  answer.predicted = reader.predicted();
  return result;
}

Failure Forest::drive_by_joints(const EdgeName& edge, Stamp from, const DrivenForm& form) {
  const Guard guard(state_->lock);
  return state_->drive(edge, from, form);
}

Failure Forest::State::drive(const EdgeName& edge, Stamp from, const DrivenForm& form) {
  Result<std::shared_ptr<DrivenLink>> link = link_of(form, variables);
  if (!link) return std::move(link.failure);
  if (Failure failure = open_run(edge, {.from = from, .provider = Driven{link.value}})) return failure;
  note_drivers(*link.value, find_relation(edge)->id);
  return {};
}

/// From now on samples of its variables wake who waits for it.
void Forest::State::note_drivers(const DrivenLink& link, RelationId relation) {
  for (const auto& variables : {link.positions(), link.velocities()})
    for (const VariablePtr& variable : variables) {
      std::vector<RelationId>& known = drives[variable->id];
      if (std::ranges::find(known, relation) == known.end()) known.push_back(relation);
    }
}

Failure Forest::State::apply(const PlaceDriven& edit) {
  return drive({edit.of, edit.in_frame, edit.source}, edit.from, *edit.form);
}

Failure Forest::State::apply(const AddJoints& edit) {
  remember_variables();
  std::vector<Variables::Declaration> declarations;
  for (const auto& [name, kind] : edit.joints) {
    declarations.push_back({name, kind});
    const VariableId known = edit.replaces ? variables.find(name) : kNone;
    if (known != kNone && variables[known].kind != kind) variables.hide(known, true);
  }
  return variables.declare(declarations);
}

Failure Forest::State::apply(const HideJoints& edit) {
  remember_variables();
  for (const std::string& name : edit.names)
    if (const VariableId id = variables.find(name); id != kNone) variables.hide(id, true);
  return {};
}

/// After a transaction that failed: what it made is gone.
void Forest::State::forget_drives(std::size_t relations_made, std::size_t variables_made) {
  std::erase_if(drives, [&](const auto& entry) { return entry.first >= variables_made; });
  for (auto& [variable, driven] : drives) std::erase_if(driven, [&](RelationId id) { return id >= relations_made; });
}

/// After a copy: the links read the variables of this forest.
void Forest::State::drive_by_own_variables() {
  for (FrameRecord& frame : frames)
    for (const auto& track : frame.tracks)
      for (std::size_t k = 0; k < track->runs.size(); ++k) {
        const DrivenProvider* link = track->runs[k].driven();
        if (std::shared_ptr<DrivenProvider> own = link == nullptr ? nullptr : link->driven_by(variables))
          track->runs.edit(k).provider = Driven{std::move(own)};
      }
}

std::vector<DrivenInfo> Forest::driven_poses() const {
  const Guard guard(state_->lock);
  std::vector<DrivenInfo> found;
  for (const FrameRecord& frame : state_->frames)
    for (const auto& track : frame.tracks)
      for (const RunRecord& run : track->runs)
        if (run.driven())
          found.push_back({*frame.name, *state_->frames[run.parent].name, state_->sources[track->source], run.from});
  return found;
}

}  // namespace armillary
