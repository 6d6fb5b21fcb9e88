#include "armillary/log/resolve.hpp"

#include <algorithm>

#include "log/resolver_state.hpp"

namespace armillary::log {

namespace {

constexpr std::string_view kReasons[] = {
    "cycle",           "on_other_body", "no_body",        "moves_in_body", "constant_in_body",
    "awaits_variable", "kind_mismatch", "parent_removed", "unreachable",   "unknown_node"};
constexpr std::string_view kProviders[] = {"fixed", "driven", "sampled", "identity", "node"};

}  // namespace

// -- S0 and S1

void resolve_slots(ResolverState& state) {
  state.out.epoch = state.log.epoch();
  state.named.insert(state.root_frame);
  for (const auto& [name, frame] : state.log.frames()) {
    if (is_named(state.log, name)) state.named.insert(name);
    for (const auto& [key, entry] : frame.tracks) {
      TrackSlots found = slots_of(state.log, entry);
      for (const ChangePtr& record : found.severed) state.report(record, Reason::parent_removed);
      if (!found.slots.empty()) state.slots.emplace(Track{key.first, name, key.second}, std::move(found.slots));
    }
  }
}

bool ResolverState::is_forgotten(const SampleRow& row, TrackKind kind, const std::string& of, const std::string& source) const {
  const FrameEntry* frame = log.find_frame(of);
  if (frame == nullptr) return false;
  const bool is_of_node = row.in_frame.empty();
  return std::ranges::any_of(frame->forgets, [&](const ChangePtr& record) {
    const Forget& forget = std::get<Forget>(record->payload);
    const bool is_meant =
        is_of_node ? forget.kind != TrackKind::twist && !forget.in_frame : forget.concerns(kind, row.in_frame, source);
    return is_meant && forget.start <= row.stamp && row.stamp < forget.end && record->time > row.base &&
           record->epoch == out.epoch;
  });
}

// -- S7

void resolve_preferences(ResolverState& state) {
  const auto add = [&](const Subject& subject, const std::vector<ChangePtr>& records) {
    if (std::vector<PreferenceStep> steps = preference_steps(state.log, records); !steps.empty())
      state.out.preferences.emplace(subject, std::move(steps));
  };
  for (const auto& [name, frame] : state.log.frames()) add({Subject::Kind::frame, name}, frame.preferences);
  for (const auto& [name, records] : state.log.variable_preferences()) add({Subject::Kind::variable, name}, records);
}

// -- S8

namespace {

/// The parts of a rotation are where the joint has its rotation, and nothing else is one of them.
bool fits(const DrivenForm& form, const std::map<std::string, VariableKind>& variables) {
  std::size_t first = form.positions.size();
  if (form.motion && form.motion->kind == JointKind::ball) first = 0;
  if (form.motion && form.motion->kind == JointKind::floating) first = 3;
  for (std::size_t i = 0; i < form.positions.size(); ++i) {
    const VariableKind kind = variables.at(form.positions[i]);
    if (kind == VariableKind::velocity) return false;
    if (form.motion && (kind == VariableKind::unit_quaternion) != (i >= first)) return false;
  }
  return true;
}

}  // namespace

void resolve_variables(ResolverState& state) {
  auto& variables = state.out.variables;
  for (const auto& [name, record] : state.log.variables())
    for (const VariableSetting& setting : std::get<SetVariables>(record->payload).variables)
      if (setting.name == name && setting.kind) variables.emplace(name, *setting.kind);
  for (const auto& [track, slots] : state.slots)
    for (const Slot& slot : slots) {
      if (!slot.is<Driven>()) continue;
      const DrivenForm& form = *std::get<Driven>(slot.payload->value).form;
      const auto is_known = [&](const std::string& name) { return variables.contains(name); };
      if (!std::ranges::all_of(form.positions, is_known) || !std::ranges::all_of(form.velocities, is_known))
        state.report(slot.record, Reason::awaits_variable);
      else if (!fits(form, variables))
        state.report(slot.record, Reason::kind_mismatch);
    }
}

// -- All of it

ResolvedTopology resolve_full(const ChangeLog& log, const Samples& samples, const std::string& root_frame) {
  ResolverState state{.log = log, .samples = samples, .root_frame = root_frame};
  resolve_slots(state);
  resolve_containment(state);
  ResolvedBodies bodies = resolve_bodies(log);  // S4
  state.breaks_body = std::move(bodies.breaks);
  state.out.bodies = std::move(bodies.bodies);
  state.out.on = std::move(bodies.on);
  std::ranges::move(bodies.inactive, std::back_inserter(state.out.inactive));
  count_rows_of_nodes(state);
  resolve_base_pieces(state);
  resolve_tracks(state);
  resolve_cycles(state);
  resolve_motion(state);
  resolve_preferences(state);
  resolve_variables(state);
  state.out.frames.insert(state.named.begin(), state.named.end());
  return std::move(state.out);
}

const char* name_of(Reason reason) { return kReasons[static_cast<std::size_t>(reason)].data(); }
const char* name_of(Provider provider) { return kProviders[static_cast<std::size_t>(provider)].data(); }

}  // namespace armillary::log
