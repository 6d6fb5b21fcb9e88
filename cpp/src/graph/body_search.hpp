#pragma once

// Who measures how one body moves relative to another: a chain of twists from body to body.

#include "armillary/graph/forest.hpp"
#include "graph/scratch.hpp"

namespace armillary {

/// What a chain of twists has to lead between, and to where it has to be carried.
struct MotionEnds {
  BodyId of = kNone, reference = kNone;  ///< rigid
  FrameId point = kNone;                 ///< whose origin the velocity is of
  FrameId axes = kNone;                  ///< that it is to be along
  When at{};
};

/// Breadth first from the moving body: as few links as possible. The chain found stays in scratch until the next search.
class BodySearch {
 public:
  BodySearch(const Topology& topology, const MotionEnds& ends, Scratch& scratch)
      : topology_(topology), ends_(ends), scratch_(scratch) {}

  /// A chain of links that have data for the instant, and poses that carry them to the point and the axes.
  [[nodiscard]] bool find(const QueryContext& context) { return find(context, true); }

  /// Whether no chain is shorter than this path, all of whose `links` were read: of any chain, with or without data.
  [[nodiscard]] bool is_shortest(const Path& path, std::size_t links, const QueryContext& context);

  /// The instant at which a link is to be read for the one asked for; none where it covers none.
  [[nodiscard]] std::optional<Stamp> usable_at(const TwistLink& link, const QueryContext& context) const;

  [[nodiscard]] const TwistLink& link_of(const BodyVisit& visit) const { return topology_.bodies()->link(visit.link); }

  /// From the reference to the moving body.
  template <typename Visit>
  void for_each_link(Visit visit) const {
    for (const BodyVisit* step = &scratch_.visits.back(); step != &scratch_.visits.front(); step = &scratch_.visits[step->from])
      visit(*step);
  }

  /// A link of the chain that has rivals, undecided; null where there is none.
  [[nodiscard]] const BodyVisit* first_contested() const;

 private:
  [[nodiscard]] bool find(const QueryContext& context, bool needs_data);
  [[nodiscard]] bool expand(std::uint32_t from, const QueryContext& context, bool needs_data);
  [[nodiscard]] bool is_connected(FrameId head, const QueryContext& context);
  [[nodiscard]] std::size_t list_rivals(const std::vector<std::uint32_t>& near, std::size_t first, const QueryContext& context,
                                        bool needs_data);
  [[nodiscard]] bool has_ended(const TwistLink& link) const;
  [[nodiscard]] std::size_t choose_among_rivals(const std::vector<std::uint32_t>& near, std::size_t first,
                                                const QueryContext& context, bool needs_data, BodyVisit& next);
  [[nodiscard]] bool is_reached(BodyId body) const;
  [[nodiscard]] bool is_chain_of_bodies(const Path& path) const;

  const Topology& topology_;
  const MotionEnds& ends_;
  Scratch& scratch_;
};

}  // namespace armillary
