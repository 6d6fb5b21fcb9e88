#include "armillary/log/adapter.hpp"

#include <algorithm>

namespace armillary::log {

namespace {

using scene::ChangeKind;

Dot dot_of(const scene::Dot& dot) { return {dot.author, dot.sequence}; }

Signature signature_of(const scene::HybridTimestamp& mark) {
  return {{mark.wall_ns, mark.count}, mark.authority, dot_of(mark.dot)};
}

Incarnation incarnation_of(const scene::HybridTimestamp& mark) {
  return {{mark.wall_ns, mark.count}, mark.authority, dot_of(mark.dot)};
}

Edge edge_of(const scene::Change& change) {
  return {.parent = change.parent, .parent_incarnation = incarnation_of(change.parent_incarnation)};
}

std::vector<Setting> settings_of(const scene::Change& change) {
  std::vector<Setting> settings;
  for (const scene::Setting& setting : change.settings) settings.push_back({setting.key, setting.value});
  return settings;
}

AddNode added(const scene::Change& change) {
  AddNode payload{.node = change.node,
                  .incarnation = incarnation_of(change.incarnation),
                  .kind = change.node_kind,
                  .settings = settings_of(change),
                  .edge = edge_of(change)};
  if (change.payload) payload.content = std::make_shared<const Content>(Content{change.payload->digest, change.payload->object});
  if (!change.placement) return payload;
  payload.frame_name = change.placement->frame;
  if (change.node_kind == NodeKind::frame) return payload;
  Placement& placement = payload.placement.emplace();
  placement.pose.value = change.placement->parent_T_node;
  if (change.placement->covariance) {
    placement.pose.covariance = *change.placement->covariance;
    placement.pose.certainty = Certainty::known;
  }
  placement.is_fixed = change.placement->is_fixed;
  placement.source = change.placement->source;
  return payload;
}

RemoveEdges removed(const scene::Change& change) {
  RemoveEdges payload{change.node, incarnation_of(change.incarnation), {}};
  for (const scene::Dot& dot : change.removed) payload.dots.push_back(dot_of(dot));
  return payload;
}

AssertedValue value_of(ChangeKind kind, const scene::FrameAssertion& fact) {
  switch (kind) {
    case ChangeKind::fix:
      return Fixed{fact.in_frame, *fact.pose};
    case ChangeKind::drive:
      return Driven{fact.in_frame, fact.form};
    case ChangeKind::release:
      return Ended{};
    case ChangeKind::add_relation:
    case ChangeKind::add_twist_relation:
      return Sampled{fact.in_frame};
    default:
      return Empty{};
  }
}

Assert asserted(const scene::Change& change) {
  const scene::FrameAssertion& fact = *change.assertion;
  const bool is_twist = change.kind == ChangeKind::add_twist_relation;
  return {.track = {is_twist ? TrackKind::twist : TrackKind::pose, fact.of, fact.source},
          .since = is_twist ? change.at : fact.since,
          .value = value_of(change.kind, fact),
          .recalibrate = fact.recalibrate};
}

SetVariables variables_of(const scene::Change& change) {
  SetVariables payload;
  for (const auto& [name, kind] : change.assertion->joints)
    payload.variables.push_back({name, change.kind == ChangeKind::add_joints ? std::optional(kind) : std::nullopt});
  return payload;
}

Payload payload_of(const scene::Change& change) {
  switch (change.kind) {
    case ChangeKind::add_node:
      return added(change);
    case ChangeKind::add_parent:
      return AddEdge{change.node, incarnation_of(change.incarnation), edge_of(change)};
    case ChangeKind::remove_parents:
      return removed(change);
    case ChangeKind::set_attributes:
      return SetAttributes{change.node, incarnation_of(change.incarnation), settings_of(change)};
    case ChangeKind::add_frame:
      return SetFrames{change.assertion->frames, true};
    case ChangeKind::remove_frame:
      return RemoveFrames{change.assertion->frames};
    case ChangeKind::add_body:
      return SetBody{change.assertion->of, change.assertion->frames, true};
    case ChangeKind::prefer:
      return Prefer{{Subject::Kind::frame, change.assertion->of},
                    change.assertion->has_source ? std::optional(change.assertion->source) : std::nullopt};
    case ChangeKind::add_joints:
    case ChangeKind::remove_joints:
      return variables_of(change);
    case ChangeKind::reset_time:
      return ResetTime{change.assertion->clock};
    default:
      return asserted(change);
  }
}

/// The newest of these resets that is older than a change.
std::optional<Signature> epoch_of(const Signature& change, const std::vector<Signature>& resets) {
  std::optional<Signature> newest;
  for (const Signature& reset : resets)
    if (newer(change, reset) && (!newest || newer(reset, *newest))) newest = reset;
  return newest;
}

}  // namespace

std::vector<ChangePtr> adapted(std::span<const scene::ChangePtr> records) {
  std::vector<Signature> resets;
  for (const scene::ChangePtr& record : records)
    if (record->kind == ChangeKind::reset_time) resets.push_back(signature_of(record->timestamp));
  std::vector<ChangePtr> changes;
  for (const scene::ChangePtr& record : records) {
    const Signature signature = signature_of(record->timestamp);
    Change change{.id = signature.id,
                  .time = signature.time,
                  .authority = signature.authority,
                  .batch = signature.id.sequence,
                  .at = record->at,
                  .epoch = epoch_of(signature, resets),
                  .payload = payload_of(*record)};
    make_canonical(change);
    changes.push_back(std::make_shared<const Change>(std::move(change)));
  }
  return changes;
}

}  // namespace armillary::log
