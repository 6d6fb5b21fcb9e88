#pragma once

#include <utility>
#include <vector>

#include "armillary/graph/errors.hpp"
#include "armillary/graph/query.hpp"
#include "armillary/graph/topology.hpp"

namespace armillary {

/// Which source to take for which contested frame: of several named for one frame, the first that holds it at the instant.
/// A frame that is not named stays contested.
class ChosenSources final : public Selector {
 public:
  void believe(FrameId frame, SourceId source) { chosen_.emplace_back(frame, source); }
  void forget_last() { chosen_.pop_back(); }
  [[nodiscard]] bool names(FrameId frame) const;
  /// The choices of both; where both name a frame, this one's come first.
  [[nodiscard]] ChosenSources joined(const ChosenSources& other) const;
  [[nodiscard]] std::size_t size() const { return chosen_.size(); }

  [[nodiscard]] std::uint32_t choose(FrameId frame, const std::vector<const Track*>& open, Stamp at) const override;

 private:
  std::vector<std::pair<FrameId, SourceId>> chosen_;
};

/// One step of a candidate, and how its error reaches the end of the path.
struct CandidateEdge {
  RelationId relation = kNone;
  const void* provider = nullptr;      ///< relation, provider and `at` together name one error
  Stamp at = Stamp::always();          ///< the instant of its value; `always`: it is fixed
  Stamp sampled_at = Stamp::always();  ///< its newest datum not after that
  Certainty certainty = Certainty::unknown;
  Covariance covariance{};    ///< set where certainty is `known`
  Matrix6 jacobian{};         ///< from the tangent of the edge to that of the answer
  bool is_contested = false;  ///< it was chosen among rivals
  bool is_derived = false;    ///< predicted, or integrated from twists: others may rest on the same
};

/// One of several paths between two frames.
struct Candidate {
  PoseAnswer answer{};
  Failure failure{};                   ///< why the path has no answer
  ChosenSources sources{};             ///< asked with this selector, every question takes this path
  std::vector<CandidateEdge> edges{};  ///< from `of` upwards and down to `in_frame`; two times: through the fixed frame
};

}  // namespace armillary
