#include "armillary/graph/body_graph.hpp"

#include <algorithm>
#include <utility>

namespace armillary {

namespace {

std::uint64_t pair_of(BodyId a, BodyId b) { return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b); }

/// Sets of bodies that links join.
class JoinedBodies {
 public:
  /// False where the two were joined already.
  bool join(BodyId a, BodyId b) {
    const BodyId first = root(a), second = root(b);
    above_[first] = second;
    return first != second;
  }

 private:
  BodyId& above(BodyId body) { return above_.try_emplace(body, body).first->second; }
  BodyId root(BodyId body) {
    while (above(body) != body) body = above(body) = above(above(body));
    return body;
  }
  std::unordered_map<BodyId, BodyId> above_;
};

bool is_without_cycle(const std::vector<TwistLink>& links) {
  JoinedBodies bodies;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const bool is_rival = i > 0 && links[i].rivals(links[i - 1]);
    if (!is_rival && !bodies.join(links[i].body, links[i].reference)) return false;
  }
  return true;
}

}  // namespace

BodyGraph::BodyGraph(std::vector<TwistLink> links, std::vector<std::vector<FrameId>> frames, RigidBodies rigid)
    : links_(std::move(links)), frames_(std::move(frames)), rigid_(std::move(rigid)) {
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    at_body_[links_[i].body].push_back(i);
    at_body_[links_[i].reference].push_back(i);
    first_between_.try_emplace(pair_of(links_[i].body, links_[i].reference), i);
  }
  has_no_cycle_ = is_without_cycle(links_);
  links_.emplace_back();
}

const std::vector<std::uint32_t>& BodyGraph::links_at(BodyId body) const {
  static const std::vector<std::uint32_t> none;
  const auto found = at_body_.find(body);
  return found == at_body_.end() ? none : found->second;
}

const TwistLink* BodyGraph::between(BodyId a, BodyId b) const {
  const auto found = first_between_.find(pair_of(a, b));
  return found == first_between_.end() ? nullptr : &links_[found->second];
}

Stamp open_until(const Series& samples, Duration rival_timeout) {
  const Stamp newest = samples.newest();
  return newest == Stamp::always() ? newest : later(newest, rival_timeout);
}

bool covers(const Series& series, Stamp at) {
  if (series.empty() || series.newest() < at) return false;
  return static_cast<bool>(series.bracket(at).before);
}

}  // namespace armillary
