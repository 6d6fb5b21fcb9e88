#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "armillary/graph/errors.hpp"
#include "armillary/graph/query.hpp"
#include "armillary/graph/topology.hpp"
#include "armillary/math/fusion.hpp"

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

/// One edge of the graph of all candidates, evaluated once however many of them pass it.
struct CandidateEdge {
  RelationId relation = kNone;
  FrameId child = kNone, parent = kNone;
  const void* provider = nullptr;      ///< relation, provider and `at` together name one error
  std::uint8_t segment = 0;            ///< of a question with two times: 1 behind the fixed frame
  std::uint32_t rank = 0;              ///< of its source among those that place the frame, by name
  Stamp at = Stamp::always();          ///< the instant of its value; `always`: it is fixed
  Stamp sampled_at = Stamp::always();  ///< its newest datum not after that
  FailureKind failure = FailureKind::none;
  Transform value{};  ///< parent_T_child
  Certainty certainty = Certainty::unknown;
  Covariance covariance{};    ///< set where certainty is `known`
  bool is_contested = false;  ///< it was chosen among rivals
  bool is_derived = false;    ///< predicted, or integrated from twists: others may rest on the same
  bool predicted = false, integrated = false;
  HeldSamples held{};  ///< samples that were used at another instant than their own
};

/// An edge as a path passes it.
struct CandidateStep {
  std::uint32_t edge = 0;  ///< of the set
  bool is_downward = false;
};

/// One of several paths between two frames.
struct Candidate {
  PoseAnswer answer{};
  Failure failure{};                   ///< why the path has no answer
  ChosenSources sources{};             ///< asked with this selector, every question takes this path
  When at{}, of_at{};                  ///< its instants: LATEST is that of this path
  std::vector<CandidateStep> steps{};  ///< from `of` upwards and down to `in_frame`; two times: through the fixed frame
};

/// Every path between two frames, in the order of the names of their relations, and the edges that they are made of.
struct CandidateSet {
  std::vector<CandidateEdge> edges;
  std::vector<Candidate> paths;
};

/// How the error of each step reaches the end of the path: from the tangent of the edge to that of the answer.
[[nodiscard]] std::vector<Matrix6> jacobians_of(const CandidateSet& set, const Candidate& path);

/// What makes the paths of a contest of one frame, of which all else is the same.
struct FrameContest {
  FrameId of = kNone, in_frame = kNone;  ///< of the question
  Stamp at{};
  std::uint32_t place = 0;          ///< of the contested edge on the path
  std::uint32_t length = 0;         ///< of the path; the edges of the other sources follow behind it
  std::uint32_t up = 0;             ///< so many edges lead upwards
  std::vector<SourceId> sources{};  ///< of the contested frame
  BodyId body = kNone, reference_body = kNone;
};

/// What a policy was given, and what it made of it.
struct Judgement {
  CandidateSet found;
  std::unique_ptr<FrameContest> contest{};  ///< set until somebody wants the paths and the graph: see `complete_paths`
  std::vector<std::uint32_t> answered{};    ///< paths with an answer
  std::vector<std::uint32_t> lost{};        ///< paths without; those that lead elsewhere are not among them
  std::vector<std::uint32_t> used{};        ///< of those answered
  std::vector<std::uint32_t> left_out{};    ///< of those answered: for want of a covariance
  bool has_answers = true;                  ///< of each path; where all were to be fused nobody has asked for them
  bool is_fused = false;
  Fusion fusion{};                     ///< where it is fused; residuals name edges of `graph`
  std::vector<FusionEdge> graph{};     ///< what was fused
  std::vector<std::uint32_t> edges{};  ///< of the set, one for each of `graph`
  std::uint32_t first = 0, last = 0;   ///< vertices of the ends
};

/// The answer by a policy.
struct PolicyAnswer {
  PoseAnswer pose{};
  std::shared_ptr<Judgement> judgement{};  ///< null where nobody contested anything
};

/// Adds what is not there yet; `to` is null where nothing was held.
void add_held(const HeldSamples& held, std::unique_ptr<HeldSamples>& to);

/// Makes the paths and the graph of a contest where nobody has asked for them yet.
void complete_paths(Judgement& judgement);

/// The same, and the answer of each path.
void complete_answers(Judgement& judgement);

}  // namespace armillary
