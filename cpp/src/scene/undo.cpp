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
  Opposite(std::uint64_t author, const Version& before, const Draft& draft) : author_(author), before_(before), draft_(draft) {}

  /// None where somebody else built on it.
  [[nodiscard]] std::optional<std::vector<Wish>> of(const Change& change) const {
    const NodeRecord* record = draft_.version().recall(change.node);
    if (record == nullptr) return std::nullopt;
    switch (change.kind) {
      case ChangeKind::add_node:
        return unborn(*record);
      case ChangeKind::add_parent:
        return parted(change, *record);
      case ChangeKind::remove_parents:
        return rejoined(change, *record);
      case ChangeKind::set_attributes:
        return restored(change, *record);
    }
    return std::nullopt;
  }

 private:
  using Wishes = std::optional<std::vector<Wish>>;

  [[nodiscard]] bool is_own(const Mark& mark) const { return mark.dot.author == author_; }

  [[nodiscard]] bool is_own(const Edge& edge) const { return edge.removed || is_own(edge.mark); }

  [[nodiscard]] Wishes unborn(const NodeRecord& record) const {
    const bool is_mine = std::ranges::all_of(record.edges, [&](const Edge& edge) { return is_own(edge); }) &&
                         std::ranges::all_of(record.attributes, [&](const Attribute& said) { return is_own(said.mark); });
    if (!is_mine || !draft_.version().children(record).empty()) return std::nullopt;
    if (!draft_.version().is_alive(record.id)) return std::vector<Wish>{};
    return std::vector{wish(ChangeKind::remove_parents, record.id, {})};
  }

  [[nodiscard]] Wishes parted(const Change& change, const NodeRecord& record) const {
    const auto is_meant = [&](const Edge& edge) { return !edge.removed && edge.parent == change.parent; };
    const auto edge = std::ranges::find_if(record.edges, is_meant);
    if (edge == record.edges.end() || !is_own(edge->mark)) return std::nullopt;
    return std::vector{wish(ChangeKind::remove_parents, change.node, change.parent)};
  }

  /// The parents that it had before; where its id was used again since, its former self begins anew.
  [[nodiscard]] Wishes rejoined(const Change& change, const NodeRecord& record) const {
    const NodeRecord* former = before_.find(change.node);
    if (former == nullptr) return std::vector<Wish>{};
    const bool is_same_life = record.incarnation == former->incarnation;
    if (!is_same_life && (!is_own(record.incarnation) || draft_.version().is_alive(record.id))) return std::nullopt;
    const std::vector<NodeId> now = is_same_life ? record.parents() : std::vector<NodeId>{};
    std::vector<Wish> wishes;
    for (const NodeId& parent : former->parents()) {
      if (std::ranges::find(now, parent) != now.end()) continue;
      if (!draft_.version().is_alive(parent)) return std::nullopt;
      const bool begins = !is_same_life && wishes.empty();
      wishes.push_back(begins ? beginning(*former, parent) : wish(ChangeKind::add_parent, change.node, parent));
    }
    if (!is_same_life)
      for (const NodeId& child : before_.children(*former)) wishes.push_back(wish(ChangeKind::add_parent, child, change.node));
    return wishes;
  }

  [[nodiscard]] static Wish beginning(const NodeRecord& former, const NodeId& parent) {
    Wish made = wish(ChangeKind::add_node, former.id, parent);
    made.change.node_kind = former.kind;
    made.change.payload = former.payload;
    made.change.placement = former.placement;
    former.for_each_attribute([&](const Attribute& said) { made.change.settings.push_back({*said.key.text, said.value}); });
    return made;
  }

  [[nodiscard]] Wishes restored(const Change& change, const NodeRecord& record) const {
    Wish back = wish(ChangeKind::set_attributes, change.node, {});
    const NodeRecord* former = before_.recall(change.node);
    for (const Setting& setting : change.settings) {
      const Attribute* now = newest(record, setting.key);
      if (now != nullptr && !is_own(now->mark)) return std::nullopt;
      const Attribute* then = former == nullptr ? nullptr : newest(*former, setting.key);
      const bool had_value = then != nullptr && !then->erased;
      back.change.settings.push_back({setting.key, had_value ? std::optional(then->value) : std::nullopt});
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

  std::uint64_t author_;
  const Version& before_;
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
  const Opposite opposite(author_, *batch.before, draft);
  Taken taken;
  taken.is_local = taken.expects_nothing_hangs = true;
  for (auto change = batch.changes.rbegin(); change != batch.changes.rend(); ++change) {
    std::optional<std::vector<Wish>> wishes = opposite.of(**change);
    if (!wishes) return {Refusal{Fault::built_upon, 0, (*change)->node, (*change)->parent}, {}};
    for (Wish& wish : *wishes) wish.change.at = Stamp{now_ns};
    if (Refusal refusal = take(std::move(*wishes), draft, now_ns, taken)) return {std::move(refusal), {}};
  }
  Outcome outcome = commit(draft, std::move(taken));
  if (outcome.refusal) return outcome;
  from.pop_back();
  remember(to, {outcome.changes, before});
  return outcome;
}

void Store::remember(std::deque<Batch>& stack, Batch batch) const {
  stack.push_back(std::move(batch));
  if (stack.size() > options_.max_undo) stack.pop_front();
}

}  // namespace armillary::scene
