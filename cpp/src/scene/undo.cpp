// Taking back: the opposite of what was applied here, as a new change. What somebody built on stays.

#include <algorithm>
#include <unordered_set>

#include "armillary/scene/store.hpp"

namespace armillary::scene {

namespace {

/// Whether nothing was said of the node since but by these changes.
bool is_untouched(const NodeRecord& record, const std::unordered_set<std::uint64_t>& own, std::uint64_t author) {
  const auto is_own = [&](const Mark& mark) { return mark.dot.author == author && own.contains(mark.dot.sequence); };
  return record.children.empty() &&
         std::ranges::all_of(record.edges, [&](const Edge& edge) { return edge.removed || is_own(edge.mark); }) &&
         std::ranges::all_of(record.attributes, [&](const Attribute& said) { return is_own(said.mark); });
}

const Attribute* in_force(const NodeRecord& record, std::string_view key) {
  const Attribute* found = nullptr;
  for (const Attribute& said : record.attributes)
    if (*said.key.text == key) found = &said;
  return found;
}

class Opposite {
 public:
  Opposite(std::span<const ChangePtr> changes, const Version& before, Draft& draft) : before_(before), draft_(draft) {
    for (const ChangePtr& change : changes) own_.insert(change->mark.dot.sequence);
    if (!changes.empty()) author_ = changes.front()->mark.dot.author;
  }

  /// None where somebody built on it.
  [[nodiscard]] std::optional<std::vector<Wish>> of(const Change& change) const {
    const NodeRecord* record = draft_.version().recall(change.node);
    const bool is_same_life = record != nullptr && record->incarnation == change.incarnation;
    if (!is_same_life) return std::nullopt;
    switch (change.kind) {
      case ChangeKind::add_node: return unborn(change, *record);
      case ChangeKind::add_parent: return parted(change, *record);
      case ChangeKind::remove_parents: return rejoined(change, *record);
      case ChangeKind::set_attributes: return restored(change, *record);
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<std::vector<Wish>> unborn(const Change& change, const NodeRecord& record) const {
    if (!is_untouched(record, own_, author_)) return std::nullopt;
    if (!draft_.version().is_alive(change.node)) return std::vector<Wish>{};
    return std::vector{wish(ChangeKind::remove_parents, change.node, {})};
  }

  [[nodiscard]] std::optional<std::vector<Wish>> parted(const Change& change, const NodeRecord& record) const {
    const std::vector<NodeId> parents = record.parents();
    if (std::ranges::find(parents, change.parent) == parents.end()) return std::nullopt;
    return std::vector{wish(ChangeKind::remove_parents, change.node, change.parent)};
  }

  [[nodiscard]] std::optional<std::vector<Wish>> rejoined(const Change& change, const NodeRecord& record) const {
    std::vector<Wish> wishes;
    std::vector<NodeId> seen = record.parents();
    for (const Edge& edge : record.edges) {
      if (std::ranges::find(change.removed, edge.mark.dot) == change.removed.end()) continue;
      if (std::ranges::find(seen, edge.parent) != seen.end()) continue;
      if (!draft_.version().is_alive(edge.parent)) return std::nullopt;
      seen.push_back(edge.parent);
      wishes.push_back(wish(ChangeKind::add_parent, change.node, edge.parent));
    }
    return wishes;
  }

  [[nodiscard]] std::optional<std::vector<Wish>> restored(const Change& change, const NodeRecord& record) const {
    Wish back = wish(ChangeKind::set_attributes, change.node, {});
    const NodeRecord* former = before_.recall(change.node);
    for (const Setting& setting : change.settings) {
      const Attribute* now = in_force(record, setting.key);
      if (now == nullptr || now->mark != change.mark) return std::nullopt;
      const Attribute* then = former == nullptr ? nullptr : in_force(*former, setting.key);
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

  const Version& before_;
  Draft& draft_;
  std::unordered_set<std::uint64_t> own_;
  std::uint64_t author_ = 0;
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
  const Opposite opposite(batch.changes, *batch.before, draft);
  Taken taken;
  taken.expects_nothing_hangs = true;
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
