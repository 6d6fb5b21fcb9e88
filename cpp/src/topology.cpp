#include "armillary/topology.hpp"

#include <algorithm>

namespace armillary {

const Run* Track::run_at(Stamp at) const {
  const auto after = std::ranges::upper_bound(runs, at, {}, &Run::from);
  return after == runs.begin() ? nullptr : &*std::prev(after);
}

TopologyEdit::TopologyEdit(const Topology* base)
    : base_(base), next_(std::make_unique<Topology>(*base)), owned_(base->pages_.size(), false) {}

TopologyEdit::~TopologyEdit() {
  if (!next_) return;
  for (std::size_t i = 0; i < owned_.size(); ++i)
    if (owned_[i]) delete next_->pages_[i];
}

void TopologyEdit::grow_to(std::uint32_t frames) {
  next_->frames_ = std::max(next_->frames_, frames);
  while (next_->pages_.size() * Topology::kPageFrames < frames) {
    next_->pages_.push_back(new Topology::Page);
    owned_.push_back(true);
  }
}

FrameNode& TopologyEdit::node(FrameId id) {
  const std::size_t page = id / Topology::kPageFrames;
  if (!owned_[page]) {
    next_->pages_[page] = new Topology::Page(*next_->pages_[page]);
    owned_[page] = true;
  }
  return const_cast<Topology::Page*>(next_->pages_[page])->nodes[id % Topology::kPageFrames];
}

void TopologyEdit::set_bodies(std::unique_ptr<const BodyGraph> bodies) {
  next_->bodies_ = bodies.get();
  bodies_ = std::move(bodies);
}

void TopologyEdit::commit(std::atomic<const Topology*>& root, RetireList& retired) {
  const bool has_new_bodies = bodies_ != nullptr;
  (void)bodies_.release();  // the version owns it from here on
  root.store(next_.release());
  if (has_new_bodies) retired.retire(base_->bodies_);
  for (std::size_t i = 0; i < base_->pages_.size(); ++i)
    if (owned_[i]) retired.retire(base_->pages_[i]);  // the version itself still points to it
  retired.retire(base_);
}

void destroy_topology(const Topology* topology) {
  for (const Topology::Page* page : topology->pages_) delete page;
  delete topology->bodies_;
  delete topology;
}

}  // namespace armillary
