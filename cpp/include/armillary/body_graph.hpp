#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "armillary/ids.hpp"
#include "armillary/series.hpp"

namespace armillary {

/// Bodies that were declared have numbers from here on; implicit ones have the number of their frame.
inline constexpr BodyId kFirstDeclaredBody = 0x80000000;

[[nodiscard]] constexpr bool is_declared(BodyId body) { return body >= kFirstDeclaredBody && body != kNone; }

/// One measured motion between two bodies: what `source` says of `head`, relative to `reference`.
struct TwistLink {
  FrameId head = kNone;
  BodyId body = kNone;       ///< that `head` is on
  BodyId reference = kNone;  ///< it moves relative to
  RelationId relation = kNone;
  SourceId source = kNone;
  bool preferred = false;          ///< its source was preferred for `head`
  const Series* series = nullptr;  ///< body form

  /// Whether the two say the same thing, as rivals.
  [[nodiscard]] bool rivals(const TwistLink& other) const { return head == other.head && reference == other.reference; }
};

/// Declared bodies with their frames, and who measures which motion between bodies. Immutable, part of a Topology.
class BodyGraph {
 public:
  /// `links` in an order that does not depend on who spoke first; `frames` by declared body.
  BodyGraph(std::vector<TwistLink> links, std::vector<std::vector<FrameId>> frames);

  [[nodiscard]] const TwistLink& link(std::uint32_t index) const { return links_[index]; }
  [[nodiscard]] const std::vector<FrameId>& frames_of(BodyId declared) const { return frames_[declared - kFirstDeclaredBody]; }

  /// Indices of the links that end at a body, on either side.
  [[nodiscard]] const std::vector<std::uint32_t>& links_at(BodyId body) const;

  /// The first link of exactly this pair, its rivals behind it; null where there is none.
  [[nodiscard]] const TwistLink* find(FrameId head, BodyId reference) const;

 private:
  std::vector<TwistLink> links_;  // rivals side by side; a last one that is nobody's rival ends them
  std::vector<std::vector<FrameId>> frames_;
  std::unordered_map<BodyId, std::vector<std::uint32_t>> at_body_;
  std::unordered_map<FrameId, std::vector<std::uint32_t>> at_head_;
};

/// The one that says something at `at`, among a link and the rivals behind it: the preferred one, else the only one.
[[nodiscard]] const TwistLink* chosen_among(const TwistLink* first, Stamp at);

/// Whether several of them cover `at`, and none is preferred.
[[nodiscard]] bool is_contested_among(const TwistLink* first, Stamp at);

/// Whether a series has rows on both sides of an instant, or at it.
[[nodiscard]] bool covers(const Series& series, Stamp at);

}  // namespace armillary
