#include "edge_twist.hpp"

#include "scratch.hpp"

namespace armillary {

namespace {

/// The product of fixed poses, last edge leftmost; none where one of them is not fixed then.
std::optional<Transform> fixed_product(const std::vector<PathEdge>& edges, Stamp at, bool& is_exact) {
  Transform product;
  for (const PathEdge& edge : edges) {
    if (edge.provider.kind != ProviderKind::fixed || at < edge.opens) return std::nullopt;
    product = edge.provider.fixed().value * product;
    is_exact = is_exact && edge.provider.fixed().certainty == Certainty::exact;
  }
  return product;
}

/// Where the head is on its body, seen from the edge. False where poses do not tell.
bool find_mount(const Topology& topology, FrameId own, Stamp at, EdgeTwist& twist) {
  if (twist.link->head == own) return true;
  Scratch& scratch = Scratch::of_this_thread();
  if (scratch.finder.find(topology, twist.link->head, own, at, {}, scratch.mount)) return false;
  const std::optional<Transform> top_T_head = fixed_product(scratch.mount.up, at, twist.is_exact);
  const std::optional<Transform> top_T_own = fixed_product(scratch.mount.down, at, twist.is_exact);
  if (!top_T_head || !top_T_own) return false;
  twist.own_T_head = between(*top_T_own, *top_T_head);
  return true;
}

FrameId parent_of(const Topology& topology, const PathEdge& edge) {
  const FrameNode& node = topology.node(edge.child);
  if (node.tracks == nullptr) return node.parent;
  for (const Track& track : node.tracks->tracks)
    for (const Run& run : track.runs)
      if (run.relation == edge.relation) return run.parent;
  return kNone;
}

EdgeTwist mounted(const PathEdge& edge, const TwistLink& link, Stamp at, const Topology& topology) {
  EdgeTwist twist{.link = &link, .is_reverse = link.body != topology.node(edge.child).body};
  const FrameId own = twist.is_reverse ? parent_of(topology, edge) : edge.child;
  return own != kNone && find_mount(topology, own, at, twist) ? twist : EdgeTwist{};
}

}  // namespace

EdgeTwist twist_of(const PathEdge& edge, Stamp at, const QueryContext& context) {
  EdgeTwist found;
  if (edge.links == nullptr) return found;
  for (const TwistLink* link = edge.links; link->rivals(*edge.links); ++link) {
    const bool is_weaker = found.link != nullptr && link->preference < found.link->preference;
    if (is_weaker || !covers(*link->series, at)) continue;
    const EdgeTwist twist = mounted(edge, *link, at, *context.measured_in);
    if (!twist) continue;
    const bool is_equal = found.link != nullptr && link->preference == found.link->preference;
    if (!is_equal) found = twist;
    found.is_contested = is_equal;
  }
  if (found.is_contested) found.link = nullptr;
  return found;
}

MeasuredTwist EdgeTwist::read(Stamp at, const Evaluation& parent_T_child) const {
  MeasuredTwist twist = measured_at(*link->series, at);
  const Transform child_T_head = is_reverse ? between(parent_T_child.value, own_T_head) : own_T_head;
  const Velocity turned = child_T_head.rotation * twist.body_form;
  const Velocity moved = turned.at(-child_T_head.translation);
  twist.body_form = is_reverse ? -moved : moved;
  // An uncertain pose that carries the twist makes errors of both one: how they go together is not told from here.
  const bool is_carried_exactly = is_exact && (!is_reverse || parent_T_child.certainty == Certainty::exact);
  if (!is_carried_exactly) twist.certainty = Certainty::unknown;
  if (twist.certainty == Certainty::known) twist.covariance = transported(twist.covariance, child_T_head);
  return twist;
}

}  // namespace armillary
