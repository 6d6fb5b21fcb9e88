#include "armillary/graph/topology.hpp"

#include <algorithm>

namespace armillary {

RunChunk::RunChunk(std::vector<Run> given) : runs(std::move(given)) {
  has_fixed = std::ranges::any_of(runs, [](const Run& run) { return run.provider.kind == ProviderKind::fixed; });
}

Runs::Runs(std::vector<std::shared_ptr<const RunChunk>> chunks) : chunks_(std::move(chunks)) {
  std::erase_if(chunks_, [](const auto& chunk) { return chunk->runs.empty(); });
  if (!chunks_.empty()) last_ = chunks_.back()->runs;
  for (const auto& chunk : chunks_) {
    size_ += chunk->runs.size();
    has_fixed_ = has_fixed_ || chunk->has_fixed;
  }
}

Runs::Found Runs::at(Stamp at) const {
  if (last_.empty()) return {};
  if (last_.front().from <= at) {
    const auto after = std::ranges::upper_bound(last_, at, {}, &Run::from);
    return {&*std::prev(after), after == last_.end() ? nullptr : &*after};
  }
  const auto begin = [](const auto& chunk) { return chunk->runs.front().from; };
  const auto next = std::ranges::upper_bound(chunks_, at, {}, begin);  // not the end: that would be the last chunk
  const Run* first_after = &(*next)->runs.front();
  if (next == chunks_.begin()) return {nullptr, first_after};
  const std::vector<Run>& runs = (*std::prev(next))->runs;
  const auto after = std::ranges::upper_bound(runs, at, {}, &Run::from);
  return {&*std::prev(after), after == runs.end() ? first_after : &*after};
}

/// Chunks that both have are not looked into.
bool operator==(const Runs& a, const Runs& b) {
  if (a.size_ != b.size_) return false;
  const auto size = [](const auto& chunk) { return chunk->runs.size(); };
  if (!std::ranges::equal(a.chunks_, b.chunks_, {}, size, size)) return std::ranges::equal(a, b);
  return std::ranges::equal(a.chunks_, b.chunks_, [](const auto& x, const auto& y) { return x == y || x->runs == y->runs; });
}

SourceId preferred_at(std::span<const PreferenceStep> steps, Stamp at) {
  const auto after = std::ranges::upper_bound(steps, at, {}, &PreferenceStep::from);
  return after == steps.begin() ? kNone : std::prev(after)->source;
}

std::optional<Stamp> TrackSet::closed_since(Stamp at) const {
  std::optional<Stamp> since;
  for (const Track& track : tracks) {
    const Run* run = track.run_at(at);
    if (run == nullptr) continue;
    if (!run->is_closed()) return std::nullopt;
    since = std::max(since.value_or(run->from), run->from);
  }
  return since;
}

TopologyEdit::TopologyEdit(const Topology* base) : base_(base), next_(std::make_unique<Topology>(*base)) {}

TopologyEdit::~TopologyEdit() {
  if (!next_) return;
  for (std::size_t i = 0; i < owned_.size(); ++i)
    if (owned_[i]) delete (*list_)[i];
}

Topology::PageList& TopologyEdit::own_list() {
  if (list_) return *list_;
  list_ = std::make_shared<Topology::PageList>(*base_->list_);
  owned_.assign(list_->size(), false);
  return *list_;
}

void TopologyEdit::grow_to(std::uint32_t frames) {
  if (frames <= next_->frames_) return;
  next_->frames_ = frames;
  Topology::PageList& list = own_list();
  while (list.size() * Topology::kPageFrames < frames) {
    list.push_back(new Topology::Page);
    owned_.push_back(true);
  }
}

FrameNode& TopologyEdit::node(FrameId id) {
  Topology::PageList& list = own_list();
  const std::size_t page = id / Topology::kPageFrames;
  if (!owned_[page]) {
    list[page] = new Topology::Page(*list[page]);
    owned_[page] = true;
  }
  return const_cast<Topology::Page*>(list[page])->nodes[id % Topology::kPageFrames];
}

void TopologyEdit::set_bodies(std::unique_ptr<const BodyGraph> bodies) {
  next_->bodies_ = bodies.get();
  bodies_ = std::move(bodies);
}

void TopologyEdit::commit(std::atomic<const Topology*>& root, RetireList& retired) {
  const bool has_new_bodies = bodies_ != nullptr;
  (void)bodies_.release();  // the version owns it from here on
  if (list_) {
    next_->list_ = list_;
    next_->pages_ = list_->data();
  }
  root.store(next_.release());
  if (has_new_bodies) retired.retire(base_->bodies_);
  for (std::size_t i = 0; i < std::min(owned_.size(), base_->list_->size()); ++i)
    if (owned_[i]) retired.retire((*base_->list_)[i]);  // the version itself still points to it
  retired.retire(base_);
}

void destroy_topology(const Topology* topology) {
  for (const Topology::Page* page : *topology->list_) delete page;
  delete topology->bodies_;
  delete topology;
}

}  // namespace armillary
