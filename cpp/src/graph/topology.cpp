#include "armillary/graph/topology.hpp"

#include <algorithm>

namespace armillary {

const Run* Track::run_at(Stamp at) const {
  const auto after = std::ranges::upper_bound(runs, at, {}, &Run::from);
  return after == runs.begin() ? nullptr : &*std::prev(after);
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
