#include "armillary/body_graph.hpp"

#include <utility>

namespace armillary {

BodyGraph::BodyGraph(std::vector<TwistLink> links, std::vector<std::vector<FrameId>> frames)
    : links_(std::move(links)), frames_(std::move(frames)) {
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    at_body_[links_[i].body].push_back(i);
    at_body_[links_[i].reference].push_back(i);
    at_head_[links_[i].head].push_back(i);
  }
  links_.emplace_back();
}

const std::vector<std::uint32_t>& BodyGraph::links_at(BodyId body) const {
  static const std::vector<std::uint32_t> none;
  const auto found = at_body_.find(body);
  return found == at_body_.end() ? none : found->second;
}

const TwistLink* BodyGraph::find(FrameId head, BodyId reference) const {
  const auto found = at_head_.find(head);
  if (found == at_head_.end()) return nullptr;
  for (const std::uint32_t i : found->second)
    if (links_[i].reference == reference) return &links_[i];
  return nullptr;
}

bool is_contested_among(const TwistLink* first, Stamp at) {
  std::size_t covering = 0;
  for (const TwistLink* link = first; link->rivals(*first); ++link) {
    if (!covers(*link->series, at)) continue;
    if (link->preferred) return false;
    ++covering;
  }
  return covering > 1;
}

const TwistLink* chosen_among(const TwistLink* first, Stamp at) {
  const TwistLink* found = nullptr;
  bool contested = false;
  for (const TwistLink* link = first; link->rivals(*first); ++link) {
    if (!covers(*link->series, at)) continue;
    if (link->preferred) return link;
    contested = found != nullptr;
    if (!contested) found = link;
  }
  return contested ? nullptr : found;
}

bool covers(const Series& series, Stamp at) {
  if (series.empty() || series.newest() < at) return false;
  return static_cast<bool>(series.bracket(at).before);
}

}  // namespace armillary
