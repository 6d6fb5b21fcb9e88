#include "graph/body_search.hpp"

#include <algorithm>

namespace armillary {

namespace {

/// Whether its source has measured the same frame relative to another body since, and before an instant.
bool has_moved_on(const BodyGraph& graph, const TwistLink& link, Stamp at) {
  return std::ranges::any_of(graph.links_at(link.body), [&](std::uint32_t index) {
    const TwistLink& other = graph.link(index);
    if (other.head != link.head || other.source != link.source || other.relation == link.relation) return false;
    const Row last = other.series->bracket(at).before;
    return last && last.stamp_ns() > link.series->newest().ns;
  });
}

}  // namespace

std::optional<Stamp> BodySearch::usable_at(const TwistLink& link, const QueryContext& context) const {
  const Series& series = *link.series;
  if (series.empty()) return std::nullopt;
  if (ends_.at.latest) {
    if (has_moved_on(*topology_.bodies(), link, {INT64_MAX - 1})) return std::nullopt;
    return series.newest();
  }
  const Stamp at = ends_.at.at;
  if (covers(series, at)) return at;
  const bool is_after = at > series.newest();
  if (is_after && has_moved_on(*topology_.bodies(), link, at)) return std::nullopt;
  const Stamp nearest = is_after ? series.newest() : Stamp{series.first_row().stamp_ns()};
  if (context.may_hold(at, nearest)) return nearest;
  const bool goes_on = context.prediction != nullptr && is_after && at.ns - series.newest().ns <= context.prediction->horizon.ns;
  return goes_on ? std::optional(series.newest()) : std::nullopt;
}

bool BodySearch::is_connected(FrameId head, const QueryContext& context) {
  const Stamp at = ends_.at.latest ? Stamp::never() : ends_.at.at;
  for (const FrameId other : {ends_.point, ends_.axes})
    if (other != kNone && scratch_.finder.find(topology_, head, other, at, context, scratch_.second)) return false;
  return true;
}

bool BodySearch::find(const QueryContext& context, bool needs_data) {
  const BodyGraph* graph = topology_.bodies();
  scratch_.visits.clear();
  if (graph == nullptr || graph->links_at(ends_.of).empty() || graph->links_at(ends_.reference).empty()) return false;
  if (ends_.axes == kNone) return false;
  scratch_.visits.push_back({.body = ends_.of});
  for (std::uint32_t i = 0; i < scratch_.visits.size(); ++i)
    if (expand(i, context, needs_data)) return true;
  return false;
}

bool BodySearch::expand(std::uint32_t from, const QueryContext& context, bool needs_data) {
  const BodyId body = scratch_.visits[from].body;
  const std::vector<std::uint32_t>& near = topology_.bodies()->links_at(body);
  for (std::size_t i = 0; i < near.size();) {
    BodyVisit next{.from = from};
    i = choose_among_rivals(near, i, context, needs_data, next);
    if (next.body == kNone) continue;
    const TwistLink& link = link_of(next);
    next.is_reference = link.body == body;
    next.body = next.is_reference ? link.reference : link.body;
    if (is_reached(next.body)) continue;
    scratch_.visits.push_back(next);
    if (next.body == ends_.reference) return true;
  }
  return false;
}

/// Collects, of the rivals that begin at `first`, those with a twist that poses carry, and those that are open though they do
/// not reach the instant; returns the index behind all of them.
std::size_t BodySearch::list_rivals(const std::vector<std::uint32_t>& near, std::size_t first, const QueryContext& context,
                                    bool needs_data) {
  const BodyGraph& graph = *topology_.bodies();
  scratch_.rivals.clear();
  std::size_t i = first;
  for (; i < near.size() && graph.link(near[i]).rivals(graph.link(near[first])); ++i) {
    const TwistLink& link = graph.link(near[i]);
    const bool is_open = !ends_.at.latest && link.is_open_at(ends_.at.at, topology_.rival_timeout());
    const bool counts = !needs_data || is_open || usable_at(link, context);
    if (counts && (!needs_data || is_connected(link.head, context))) scratch_.rivals.push_back(near[i]);
  }
  return i;
}

/// A source that has been silent for longer than the rival timeout contests nobody who gave something newer.
bool BodySearch::has_ended(const TwistLink& link) const {
  const Stamp end = open_until(*link.series, topology_.rival_timeout());
  if (!ends_.at.latest && ends_.at.at <= end) return false;
  return std::ranges::any_of(scratch_.rivals, [&](std::uint32_t other) {
    return topology_.bodies()->link(other).series->newest() > (ends_.at.latest ? end : link.series->newest());
  });
}

/// As `list_rivals`. `next.body` is set where one is usable.
std::size_t BodySearch::choose_among_rivals(const std::vector<std::uint32_t>& near, std::size_t first,
                                            const QueryContext& context, bool needs_data, BodyVisit& next) {
  const std::size_t end = list_rivals(near, first, context, needs_data);
  int preference = -1;
  for (const std::uint32_t rival : scratch_.rivals) {
    const TwistLink& link = topology_.bodies()->link(rival);
    const int own = link.preference_at(ends_.at.latest ? link.series->newest() : ends_.at.at, context.is_chosen(link.relation));
    if (own < preference || has_ended(link)) continue;
    next.is_contested = own == preference;
    if (!next.is_contested) next.link = rival;
    next.body = link.body;
    preference = own;
  }
  const bool is_found = next.body != kNone && (!needs_data || next.is_contested || usable_at(link_of(next), context));
  if (!is_found) next.body = kNone;
  return end;
}

bool BodySearch::is_reached(BodyId body) const {
  return std::ranges::any_of(scratch_.visits, [body](const BodyVisit& visit) { return visit.body == body; });
}

const BodyVisit* BodySearch::first_contested() const {
  const BodyVisit* found = nullptr;
  for_each_link([&](const BodyVisit& step) { found = step.is_contested ? &step : found; });
  return found;
}

/// Whether the links of its edges lead from one body to the other, and nothing in between joins two bodies but them.
bool BodySearch::is_chain_of_bodies(const Path& path) const {
  BodyId up = ends_.of, down = ends_.reference;
  for (const auto& [edges, body] : {std::pair{&path.up, &up}, std::pair{&path.down, &down}})
    for (const PathEdge& edge : *edges) {
      if (topology_.rigid_body(edge.child) != *body) return false;
      if (edge.provider.kind != ProviderKind::fixed) *body = edge.links->body == *body ? edge.links->reference : edge.links->body;
    }
  return up == down;
}

bool BodySearch::is_shortest(const Path& path, std::size_t links, const QueryContext& context) {
  if (topology_.bodies()->has_no_cycle() && is_chain_of_bodies(path)) return true;
  if (!find(context, false)) return false;
  std::size_t fewest = 0;
  for_each_link([&](const BodyVisit&) { ++fewest; });
  return fewest == links;
}

}  // namespace armillary
