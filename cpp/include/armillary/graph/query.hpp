#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "armillary/graph/ids.hpp"
#include "armillary/math/transform.hpp"
#include "armillary/math/uncertain.hpp"
#include "armillary/math/velocity.hpp"
#include "armillary/series/stamp.hpp"

namespace armillary {

class Demands;
class Selector;
class Topology;

enum class Outside {
  raise,    ///< outside the history there is no answer
  hold,     ///< the nearest sample, and the answer is flagged `held`
  predict,  ///< after the last sample its motion goes on, and the answer is flagged `predicted`; before the first as `raise`
};

/// What answers where several sources place a frame.
enum class Policy : std::uint8_t {
  unique,        ///< nobody: that is a failure
  latest,        ///< the path whose data are the newest
  most_certain,  ///< the path with the smallest trace of its covariance, of those that have one
  fuse,          ///< the best estimate of all paths that have a covariance
};

/// How far and how surely a motion is continued beyond the last sample.
struct Prediction {
  Duration horizon{1'000'000'000};
  Covariance noise_per_s{};  ///< what a second adds, in the tangent of the frame

  Prediction();  ///< 1e-4 m2/s and 1e-4 rad2/s
};

/// A sample that was used at another instant than its own.
struct HeldSample {
  RelationId relation = kNone;  ///< of the pose, or of the measured twist
  std::string joint{};          ///< the joint that drives the pose, where the sample is of that
  Duration age{};               ///< how long it was held; negative: it was used so long before its instant

  friend bool operator==(const HeldSample&, const HeldSample&) = default;
};
using HeldSamples = std::vector<HeldSample>;

/// `hold_up_to` without a limit.
inline constexpr Duration kHoldForEver{Stamp::never().ns};

/// How a question is to be answered; handed to every part that helps to answer it.
struct QueryContext {
  Outside outside = Outside::raise;
  Interpolation interpolation = Interpolation::linear;
  bool overrides_screw = false;        ///< `interpolation` was asked for, whatever relations have chosen; but for `step`
  const Selector* selector = nullptr;  ///< null: `unique`, a contested frame is a failure
  bool want_covariance = true;
  bool defers_covariance = false;  ///< whether it is known is wanted first; it is computed where all of a path are
  Policy policy = Policy::unique;
  const Topology* measured_in = nullptr;  ///< set by the forest where edges are to know the measured twists of their motion
  const std::vector<RelationId>* measured_by = nullptr;  ///< measured twists that a policy chose among rivals; null: none
  const Prediction* prediction = nullptr;                ///< set by the forest where `outside` is `predict`
  Duration hold_up_to = kHoldForEver;                    ///< how far from its own instant `hold` uses a sample
  HeldSamples* held = nullptr;                           ///< set by the forest where somebody wants to know what was held
  Demands* demands = nullptr;                            ///< told what is not received; null: nobody could see to it
  bool is_waited_for = false;                            ///< the answer is due as soon as it is there

  /// Whether a policy chose a measured twist.
  [[nodiscard]] bool is_chosen(RelationId twist) const {
    return measured_by != nullptr && std::ranges::find(*measured_by, twist) != measured_by->end();
  }
  /// Whether `hold` may use a sample of `sampled` for `at`.
  [[nodiscard]] bool may_hold(Stamp at, Stamp sampled) const {
    return outside == Outside::hold && std::abs(age_of(sampled, at).ns) <= hold_up_to.ns;
  }
  void note_held(HeldSample sample) const {
    if (held != nullptr) held->push_back(std::move(sample));
  }
};

/// "Now" as far as everything on the path is known, or one instant.
struct When {
  bool latest = true;
  Stamp at{};

  static When newest() { return {}; }
  static When exactly(Stamp at) { return {false, at}; }
};

/// What is known of an answer's uncertainty.
enum class Certainty { unknown, exact, known };

/// The value of one edge, or of a whole path, at one instant.
struct Evaluation {
  Transform value;
  Covariance covariance;  ///< set where certainty is `known`
  Certainty certainty = Certainty::exact;
  bool held = false;
  bool predicted = false;
  bool integrated = false;  ///< what drives it was integrated from speeds
};

/// Relations an answer was computed from; on the heap only for long paths.
class RelationList {
 public:
  RelationList() = default;

  /// Before anything is put in.
  void reserve(std::size_t count) {
    if (count > kInline) more_ = std::make_unique<std::vector<RelationId>>();
  }
  void push_back(RelationId relation) {
    if (!more_ && count_ == kInline) more_ = std::make_unique<std::vector<RelationId>>(few_.begin(), few_.end());
    if (more_) return more_->push_back(relation);
    few_[count_++] = relation;
  }
  [[nodiscard]] std::span<const RelationId> ids() const {
    return more_ ? std::span<const RelationId>(*more_) : std::span<const RelationId>(few_.data(), count_);
  }

 private:
  static constexpr std::size_t kInline = 12;
  std::unique_ptr<std::vector<RelationId>> more_;
  std::uint32_t count_ = 0;
  std::array<RelationId, kInline> few_;
};

/// Where a frame was, seen from another.
struct PoseAnswer {
  Transform transform;
  Stamp stamp = Stamp::always();  ///< `always`: everything on the path is fixed
  Certainty certainty = Certainty::unknown;
  std::unique_ptr<HeldSamples> held;  ///< null where nothing was held
  bool predicted = false;
  std::unique_ptr<Covariance> covariance;  ///< set where certainty is `known`
  RelationList relations;

  bool integrated = false;                                   ///< an edge's poses were integrated from twists
  Stamp newest = Stamp::always(), oldest = Stamp::always();  ///< of the data it rests on; set for policies
  BodyId body = kNone, reference_body = kNone;

  [[nodiscard]] bool is_timeless() const { return stamp == Stamp::always(); }
};

/// How a velocity was obtained.
enum class TwistMethod : std::uint8_t {
  fixed,           ///< nothing on the way can move
  measured,        ///< from twists that somebody measured
  joints,          ///< from the velocities of joints
  differentiated,  ///< from poses
  mixed,           ///< some of each
};

/// How a body moved, seen from another.
struct TwistAnswer {
  Velocity velocity{};            ///< of the point asked for, along the axes asked for
  Stamp stamp = Stamp::always();  ///< `always`: nothing on the way can move
  TwistMethod method = TwistMethod::fixed;
  Certainty certainty = Certainty::unknown;
  std::unique_ptr<HeldSamples> held;  ///< null where nothing was held
  bool predicted = false;
  std::unique_ptr<Covariance> covariance;  ///< set where certainty is `known`
  RelationList relations;
  BodyId body = kNone, reference_body = kNone;

  [[nodiscard]] bool is_timeless() const { return stamp == Stamp::always(); }
};

}  // namespace armillary
