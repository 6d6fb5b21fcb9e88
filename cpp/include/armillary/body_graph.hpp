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

  [[nodiscard]] const std::vector<TwistLink>& links() const { return links_; }
  [[nodiscard]] const std::vector<FrameId>& frames_of(BodyId declared) const { return frames_[declared - kFirstDeclaredBody]; }

  /// Indices of the links that end at a body, on either side.
  [[nodiscard]] const std::vector<std::uint32_t>& links_at(BodyId body) const;

  /// The link of exactly this pair, the preferred one first; null where there is none or rivals are undecided.
  [[nodiscard]] const TwistLink* find(FrameId head, BodyId reference, Stamp at) const;

 private:
  std::vector<TwistLink> links_;
  std::vector<std::vector<FrameId>> frames_;
  std::unordered_map<BodyId, std::vector<std::uint32_t>> at_body_;
  std::unordered_map<FrameId, std::vector<std::uint32_t>> at_head_;
};

/// Whether a series has rows on both sides of an instant, or at it.
[[nodiscard]] bool covers(const Series& series, Stamp at);

}  // namespace armillary
