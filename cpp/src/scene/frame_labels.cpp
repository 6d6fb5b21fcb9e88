// Names that frames of nodes were given: by them people know the frames; the forest and the log know them by the nodes' ids.

#include <algorithm>

#include "armillary/scene/store.hpp"

namespace armillary::scene {

namespace {

/// The node whose frame this is, and what follows its id in the name of the frame.
std::pair<std::optional<NodeId>, std::string_view> parts_of(std::string_view key) {
  const std::size_t end = key.find('/');
  return {NodeId::parse(key.substr(0, end)), end == std::string_view::npos ? std::string_view() : key.substr(end)};
}

/// The node that a change brings, or brings back, and the name of its frame; empty where it was given none.
std::pair<NodeId, std::string> named_frame(const log::Payload& payload, const Version& version) {
  if (const auto* node = std::get_if<log::AddNode>(&payload))
    return {node->node, node->kind == NodeKind::frame ? std::string() : node->frame_name};
  const auto* edge = std::get_if<log::AddEdge>(&payload);
  const NodeRecord* record = edge != nullptr && !version.is_alive(edge->node) ? version.recall(edge->node) : nullptr;
  if (record == nullptr || !record->has_named_frame()) return {};
  return {edge->node, *record->frame_name};
}

}  // namespace

/// Whether a frame has this name which is no node's, or a body has it.
bool Store::is_plain_name(const std::string& name) const { return forest_->has_frame(name) || assertions_.has_name(name); }

std::string Store::frame_key(std::string_view name) const {
  const VersionPtr present = version();
  if (present->frame_claims.empty() || forest_->has_frame(name)) return std::string(name);
  std::string key = present->frame_called(name);
  return key.empty() ? std::string(name) : key;
}

std::string Store::frame_label(std::string key) const {
  const VersionPtr present = version();
  if (present->frame_claims.empty()) return key;
  const auto [maker, rest] = parts_of(key);
  const NodeRecord* record = maker ? present->recall(*maker) : nullptr;
  if (record == nullptr || !record->has_named_frame()) return key;
  const std::string& name = *record->frame_name;
  if (forest_->has_frame(name) || present->named(name) != record) return key;
  return name + std::string(rest);
}

std::string Store::source_label(std::string source) const {
  const std::optional<NodeId> parent = NodeId::parse(source);
  const VersionPtr present = parent ? version() : nullptr;
  const NodeRecord* record = parent ? present->recall(*parent) : nullptr;
  return record == nullptr ? source : frame_label(names_.own(*record));
}

std::string Store::frame_of_node(const NodeId& node) const {
  const VersionPtr present = version();
  const NodeRecord* record = present->recall(node);
  return record == nullptr || node == kDetachedNode ? std::string() : names_.of(*present, *record);
}

std::vector<Store::Unnamed> Store::unnamed() const {
  const Hold hold(*this);
  const VersionPtr present = version();
  std::vector<Unnamed> found;
  present->frame_claims.for_each([&](const TextPtr& name, const NodeSet& nodes) {
    const NodeRecord* owner = is_plain_name(name->text) ? nullptr : present->named(name->text);
    nodes.for_each([&](const NodeId& id, const Nothing&) {
      const NodeRecord* record = present->find(id);
      if (record == nullptr || record == owner || !record->has_named_frame() || *record->frame_name != name->text) return;
      found.push_back({id, name->text, owner == nullptr ? NodeId{} : owner->id});
    });
  });
  std::ranges::sort(found, {}, [](const Unnamed& one) { return std::pair(one.name, one.node); });
  return found;
}

/// A name is that of one frame: of another node that is alive, a frame or a body it is refused, also where this batch makes it.
Refusal Store::check_frame_name(const ChangeRequest& request, const Version& version, const Taken& taken) const {
  if (request.is_unchecked) return {};
  const auto [node, name] = named_frame(request.change.payload, version);
  if (name.empty()) return {};
  const NodeRecord* owner = version.named(name);
  const bool is_nodes = owner != nullptr && owner->id != node && version.is_alive(owner->id);
  const auto names_it = [&name = name](const ChangePtr& change) {
    const std::vector<std::string> named = frames_in(change->payload);
    return names_frames(change->payload) && std::ranges::find(named, name) != named.end();
  };
  if (!is_nodes && !is_plain_name(name) && std::ranges::none_of(taken.changes, names_it)) return {};
  Refusal refusal{.fault = Fault::name_taken, .node = node, .frame = name};
  if (is_nodes) refusal.parent = owner->id;
  return refusal;
}

/// Wakes who waits for a frame of a new name, and counts names that pass from one frame to another.
void Store::note_names(const Draft& draft, const std::vector<ChangePtr>& changes) {
  const Version& version = draft.version();
  if (version.frame_claims.empty()) return;
  bool may_pass = false;
  for (const FrameEvent& event : draft.events()) {
    const NodeRecord* record = version.recall(event.node);
    if (record != nullptr && record->has_named_frame())
      may_pass |= version.claims_of(*record->frame_name) > 1 || forest_->has_frame(*record->frame_name);
  }
  for (const ChangePtr& change : changes) {
    if (const auto* added = std::get_if<log::AddNode>(&change->payload);
        added != nullptr && added->kind != NodeKind::frame && !added->frame_name.empty())
      forest_->wake_name(added->frame_name);
    for (const std::string& frame : frames_in(change->payload)) may_pass |= version.claims_of(frame) > 0;
  }
  if (may_pass) ++relabelled_;
}

}  // namespace armillary::scene
