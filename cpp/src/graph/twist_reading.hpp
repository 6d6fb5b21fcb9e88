#pragma once

// What a measured twist says at one instant.

#include <array>
#include <optional>

#include "armillary/graph/body_graph.hpp"
#include "armillary/math/velocity.hpp"

namespace armillary {

/// A twist that was said along other axes than its own: how sure it is along its own depends on the turn between them.
struct TurnedTwist {
  FrameId axes = kNone;  ///< none: said along its own axes, or the turn is exact
  Stamp at;              ///< when it was said, and turned
  Velocity share;        ///< its part of the answer, along its own axes
};

/// The rows of one link around an instant that it covers.
struct TwistReading {
  const TwistLink* link = nullptr;  ///< null: nobody says anything
  Row before, after;                ///< `after` only where the instant is between two rows
  double u = 0.0;

  /// Linear between two rows.
  [[nodiscard]] Velocity body_form() const;
  /// Linear between two rows; none where it is unknown. Along its own axes, the turns apart.
  [[nodiscard]] std::optional<Covariance> covariance() const;
  [[nodiscard]] std::array<TurnedTwist, 2> turns() const;
  /// Along which it was said, just so; none where that is its own, or the instant is between two rows.
  [[nodiscard]] FrameId axes() const { return after ? kNone : axes_of(before); }
};

/// Without a link where it does not cover `at`.
[[nodiscard]] TwistReading reading_at(const TwistLink& link, Stamp at);

}  // namespace armillary
