// Taking back: the opposite of what was applied here, as a new change. What somebody built on stays.

#include <algorithm>

#include "armillary/scene/store.hpp"

namespace armillary::scene {

namespace {

const Attribute* newest(const NodeRecord& record, std::string_view key) {
  const Attribute* found = nullptr;
  for (const Attribute& said : record.attributes)
    if (*said.key.text == key) found = &said;
  return found;
}

/// What was applied here later has been taken back before: only others can have built on a change.
class Opposite {
 public:
  Opposite(const Voice& voice, const Version* before, const Draft& draft) : voice_(voice), before_(before), draft_(draft) {}

  /// None where somebody else built on it.
  [[nodiscard]] std::optional<std::vector<Wish>> of(const Deed& deed) const {
    const NodeRecord* record = draft_.version().recall(deed.node);
    if (record == nullptr) return std::nullopt;
    switch (deed.kind) {
      case ChangeKind::add_node:
        return unborn(*record);
      case ChangeKind::add_parent:
        return parted(deed, *record);
      case ChangeKind::remove_parents:
        return rejoined(deed, *record);
      case ChangeKind::set_attributes:
        return restored(deed, *record);
      default:
        return std::nullopt;
    }
  }

 private:
  using Wishes = std::optional<std::vector<Wish>>;

  [[nodiscard]] bool is_own(const Mark& mark) const { return voice_.said(mark); }

  [[nodiscard]] bool is_own(const Edge& edge) const { return edge.removed || is_own(edge.mark); }

  [[nodiscard]] Wishes unborn(const NodeRecord& record) const {
    const bool is_mine = std::ranges::all_of(record.edges, [&](const Edge& edge) { return is_own(edge); }) &&
                         std::ranges::all_of(record.attributes, [&](const Attribute& said) { return is_own(said.mark); });
    if (!is_mine || !draft_.version().children(record).empty()) return std::nullopt;
    if (!draft_.version().is_alive(record.id)) return std::vector<Wish>{};
    return std::vector{wish(ChangeKind::remove_parents, record.id, {})};
  }

  [[nodiscard]] Wishes parted(const Deed& deed, const NodeRecord& record) const {
    const auto is_meant = [&](const Edge& edge) { return !edge.removed && edge.parent == deed.parent; };
    const auto edge = std::ranges::find_if(record.edges, is_meant);
    const bool has_left = edge == record.edges.end();
    if (has_left && deed.parent == kLimboNode) return std::vector<Wish>{};  // by being mounted, just now
    if (has_left || !is_own(edge->mark)) return std::nullopt;
    return std::vector{wish(ChangeKind::remove_parents, deed.node, deed.parent)};
  }

  /// The parents that it had before; where its id was used again since, its former self begins anew.
  [[nodiscard]] Wishes rejoined(const Deed& deed, const NodeRecord& record) const {
    const NodeRecord* former = deed.former.get();
    if (former == nullptr) return std::vector<Wish>{};
    const bool is_same_life = record.incarnation == former->incarnation;
    const bool is_free = !draft_.version().is_alive(record.id) && (is_own(record.incarnation) || is_nobodys(record));
    if (!is_same_life && !is_free) return std::nullopt;
    const std::vector<NodeId> now = is_same_life ? record.parents() : std::vector<NodeId>{};
    std::vector<Wish> wishes;
    for (const NodeId& parent : former->parents()) {
      if (std::ranges::find(now, parent) != now.end()) continue;
      if (!draft_.version().is_alive(parent)) return std::nullopt;
      const bool begins = !is_same_life && wishes.empty();
      wishes.push_back(begins ? beginning(*former, parent) : wish(ChangeKind::add_parent, deed.node, parent));
    }
    for (const Edge& edge : former->edges)
      if (is_same_life && is_in_the_dead(edge) && !is_in(record, edge))
        wishes.push_back(wish(ChangeKind::add_parent, deed.node, edge.parent));
    if (!is_same_life && before_ != nullptr)
      for (const NodeId& child : before_->children(*former)) wishes.push_back(wish(ChangeKind::add_parent, child, deed.node));
    return wishes;
  }

  /// A life that stands for the same thing to everybody: see `is_shared`.
  [[nodiscard]] static bool is_nobodys(const NodeRecord& record) { return record.incarnation.dot == Dot{}; }

  /// Whether it leads to something that is gone, and may come back with the node in it.
  [[nodiscard]] bool is_in_the_dead(const Edge& edge) const {
    if (edge.removed || edge.parent_is_alive || edge.closes_a_circle) return false;
    const NodeRecord* parent = draft_.version().recall(edge.parent);
    return parent != nullptr && parent->incarnation == edge.parent_incarnation && !draft_.version().is_alive(edge.parent);
  }

  [[nodiscard]] static bool is_in(const NodeRecord& record, const Edge& meant) {
    return std::ranges::any_of(record.edges, [&](const Edge& edge) { return !edge.removed && edge.parent == meant.parent; });
  }

  [[nodiscard]] static Wish beginning(const NodeRecord& former, const NodeId& parent) {
    Wish made = wish(ChangeKind::add_node, former.id, parent);
    made.change.node_kind = former.kind;
    made.change.payload = former.payload;
    made.change.placement = former.placement;
    former.for_each_attribute([&](const Attribute& said) { made.change.settings.push_back({*said.key.text, *said.value}); });
    return made;
  }

  [[nodiscard]] Wishes restored(const Deed& deed, const NodeRecord& record) const {
    Wish back = wish(ChangeKind::set_attributes, deed.node, {});
    const NodeRecord* former = deed.former.get();
    for (const Setting& setting : deed.said->settings) {
      const Attribute* now = newest(record, setting.key);
      if (now != nullptr && !is_own(now->mark)) return std::nullopt;
      const Attribute* then = former == nullptr ? nullptr : newest(*former, setting.key);
      const bool had_value = then != nullptr && then->value != nullptr;
      back.change.settings.push_back({setting.key, had_value ? std::optional<AttributeValue>(*then->value) : std::nullopt});
    }
    return std::vector{std::move(back)};
  }

  [[nodiscard]] static Wish wish(ChangeKind kind, const NodeId& node, const NodeId& parent) {
    Wish made;
    made.change.kind = kind;
    made.change.node = node;
    made.change.parent = parent;
    made.restores = true;
    return made;
  }

  const Voice& voice_;
  const Version* before_;
  const Draft& draft_;
};

}  // namespace

Outcome Store::undo(std::int64_t now_ns) { return take_back(done_, undone_, now_ns); }

Outcome Store::redo(std::int64_t now_ns) { return take_back(undone_, done_, now_ns); }

Outcome Store::take_back(std::deque<Batch>& from, std::deque<Batch>& to, std::int64_t now_ns) {
  const VersionLock guard;
  if (from.empty()) return {Refusal{Fault::nothing_to_undo}, {}};
  const Batch& batch = from.back();
  const VersionPtr before = version();
  Draft draft(before, *keys_);
  const Opposite opposite(voice_, batch.before.get(), draft);
  Taken taken;
  taken.is_local = taken.expects_nothing_hangs = true;
  auto of_frames = batch.opposites.rbegin();
  for (auto deed = batch.deeds.rbegin(); deed != batch.deeds.rend(); ++deed) {
    std::optional<std::vector<Wish>> wishes{std::in_place};
    if (is_of_frames(deed->kind)) {
      if (Refusal refusal = take_fact_back(*deed->said, *of_frames++, batch.last, *wishes)) return {std::move(refusal), {}};
    } else {
      wishes = opposite.of(*deed);
    }
    if (!wishes) return {Refusal{Fault::built_upon, 0, deed->node, deed->parent}, {}};
    for (Wish& wish : *wishes) wish.change.at = Stamp{now_ns};
    if (Refusal refusal = take(std::move(*wishes), draft, now_ns, taken)) return {std::move(refusal), {}};
  }
  Outcome outcome = commit(draft, taken);
  if (outcome.refusal) return outcome;
  Batch back = batch_of(outcome.changes, before, std::move(taken.opposites));
  back.tag = batch.tag;
  from.pop_back();
  remember(to, std::move(back));
  return outcome;
}

std::pair<std::string, std::string> Store::tags() const {
  const VersionLock guard;
  const auto of_last = [](const std::deque<Batch>& stack) { return stack.empty() ? std::string() : stack.back().tag; };
  return {of_last(done_), of_last(undone_)};
}

void Store::stand_in_the_way(std::string tag) {
  const VersionLock guard;
  Batch batch;
  batch.tag = std::move(tag);
  remember(done_, std::move(batch));
  undone_.clear();
}

bool Store::step_aside(const std::string& tag) {
  const VersionLock guard;
  const auto last = std::ranges::find(done_.rbegin(), done_.rend(), tag, &Batch::tag);
  if (last == done_.rend()) return false;
  done_.erase(std::next(last).base());
  return true;
}

namespace {

RecordPtr held(const Records& records, const NodeId& id) {
  const RecordPtr* record = records.find(id);
  return record == nullptr ? nullptr : *record;
}

}  // namespace

/// The version before is kept only where it alone tells what was in a node: versions that go soon are cheap to make.
Batch Store::batch_of(const std::vector<ChangePtr>& changes, const VersionPtr& before, Opposites opposites) {
  Batch batch;
  batch.opposites = std::move(opposites);
  if (!changes.empty()) batch.last = changes.back()->mark;
  batch.deeds.reserve(changes.size());
  for (const ChangePtr& change : changes) {
    const bool removes = change->kind == ChangeKind::remove_parents, sets = change->kind == ChangeKind::set_attributes;
    Deed& deed = batch.deeds.emplace_back(
        Deed{change->kind, change->node, change->parent, {}, sets || is_of_frames(change->kind) ? change : nullptr});
    if (removes || sets) deed.former = held(before->alive, change->node);
    if (sets && deed.former == nullptr) deed.former = held(before->gone, change->node);
    if (removes && deed.former != nullptr && !deed.former->children.empty()) batch.before = before;
  }
  return batch;
}

void Store::remember(std::deque<Batch>& stack, Batch batch) const {
  stack.push_back(std::move(batch));
  if (stack.size() > options_.max_undo) stack.pop_front();
}

}  // namespace armillary::scene
