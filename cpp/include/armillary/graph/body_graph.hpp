#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "armillary/graph/ids.hpp"
#include "armillary/series/series.hpp"

namespace armillary {

/// Bodies that were declared have numbers from here on; implicit ones have the number of their frame.
inline constexpr BodyId kFirstDeclaredBody = 0x80000000;

[[nodiscard]] constexpr bool is_declared(BodyId body) { return body >= kFirstDeclaredBody && body != kNone; }

/// How much a source is preferred from `from` on: for the frame that is measured (2), for another one of the two bodies (1), or
/// not at all (0).
struct TwistPreference {
  Stamp from;
  int level;
};

/// Until when the samples of a source contest those of others: it has been silent for longer than the rival timeout then. Where
/// there are none they contest nobody: `always`. Of poses as of twists.
[[nodiscard]] Stamp open_until(const Series& samples, Duration rival_timeout);

/// Which rigid body a declared body is, or the frame that carries others by fixed poses: itself where it is not here. Frames that
/// are fixed to one another for always are one rigid body, and so are those of a declared body.
using RigidBodies = std::unordered_map<BodyId, BodyId>;

/// One measured motion between two rigid bodies: that of `head` relative to `reference`, as `source` gives it.
struct TwistLink {
  FrameId head = kNone;
  BodyId body = kNone;       ///< rigid, that `head` is on
  BodyId reference = kNone;  ///< rigid, it moves relative to
  RelationId relation = kNone;
  SourceId source = kNone;
  std::vector<TwistPreference> preferences{};  ///< in the order of time
  const Series* series = nullptr;              ///< body form

  /// What a policy chose comes before what anybody prefers.
  [[nodiscard]] int preference_at(Stamp at, bool is_chosen) const { return is_chosen ? 3 : preference_at(at); }
  [[nodiscard]] int preference_at(Stamp at) const {
    int level = 0;
    for (const TwistPreference& step : preferences)
      if (step.from <= at) level = step.level;
    return level;
  }

  /// Whether its source contests others at an instant, whether or not its samples reach it.
  [[nodiscard]] bool is_open_at(Stamp at, Duration rival_timeout) const {
    return !series->empty() && series->first_row().stamp_ns() <= at.ns && at <= open_until(*series, rival_timeout);
  }

  /// Whether the two are rivals: about the same bodies, wherever on them and in either direction.
  [[nodiscard]] bool rivals(const TwistLink& other) const {
    return (body == other.body && reference == other.reference) || (body == other.reference && reference == other.body);
  }
};

/// Declared bodies with their frames, and who measures which motion between bodies. Immutable, part of a Topology.
class BodyGraph {
 public:
  /// `links` in an order that does not depend on the order of arrival; `frames` by declared body.
  BodyGraph(std::vector<TwistLink> links, std::vector<std::vector<FrameId>> frames, RigidBodies rigid);

  [[nodiscard]] const TwistLink& link(std::uint32_t index) const { return links_[index]; }
  [[nodiscard]] const std::vector<FrameId>& frames_of(BodyId declared) const { return frames_[declared - kFirstDeclaredBody]; }

  /// The rigid body of a declared one, or of a frame that is not itself fixed to another for always.
  [[nodiscard]] BodyId rigid_body(BodyId body) const {
    if (rigid_.empty()) return body;
    const auto found = rigid_.find(body);
    return found == rigid_.end() ? body : found->second;
  }

  /// Indices of the links that end at a rigid body, on either side.
  [[nodiscard]] const std::vector<std::uint32_t>& links_at(BodyId body) const;

  /// The first link between two rigid bodies, its rivals behind it; null where there is none.
  [[nodiscard]] const TwistLink* between(BodyId a, BodyId b) const;

  /// Whether there is at most one chain of links from any body to any other, rivals counting once.
  [[nodiscard]] bool has_no_cycle() const { return has_no_cycle_; }

 private:
  std::vector<TwistLink> links_;  // rivals side by side; a last one that is nobody's rival ends them
  std::vector<std::vector<FrameId>> frames_;
  RigidBodies rigid_;
  std::unordered_map<BodyId, std::vector<std::uint32_t>> at_body_;
  std::unordered_map<std::uint64_t, std::uint32_t> first_between_;
  bool has_no_cycle_ = true;
};

/// Whether a series has rows on both sides of an instant, or at it.
[[nodiscard]] bool covers(const Series& series, Stamp at);

}  // namespace armillary
