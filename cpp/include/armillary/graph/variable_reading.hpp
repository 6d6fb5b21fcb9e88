#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "armillary/graph/variables.hpp"

namespace armillary {

/// One variable as one row has it; of a rotation its first part.
struct VariableSample {
  const Channel* channel = nullptr;
  Row row{};
  std::uint32_t index = 0;

  explicit operator bool() const { return static_cast<bool>(row); }
  [[nodiscard]] std::int64_t stamp_ns() const { return row.stamp_ns(); }
  [[nodiscard]] double position(std::uint32_t part = 0) const { return row.values()[index + part]; }
  /// NaN where none was given.
  [[nodiscard]] double velocity(std::uint32_t part = 0) const {
    return channel->has_velocities ? row.values()[channel->width + index + part] : std::numeric_limits<double>::quiet_NaN();
  }
};

/// `before.stamp <= t < after.stamp`; either may be missing.
struct SampleBracket {
  VariableSample before{}, after{};
};

/// How much of one number in one row is in a number that was read.
struct RowShare {
  const Channel* channel = nullptr;
  Row row{};
  std::uint32_t index = 0;  ///< from the channel's width on a velocity
  double weight = 0.0;
};

/// The error of one number in one row, and how a pose and its motion move with it: on the right, and in the body form.
struct RowError {
  const Channel* channel = nullptr;
  Row row{};
  std::uint32_t index = 0;
  std::array<double, 6> on_pose{}, on_motion{};
};

/// The error of one variable, and what it does to a pose.
struct VariableError {
  const Variable* variable = nullptr;
  SampleBracket around{};
  std::uint32_t part = 0;
  double u = 0.0;                  ///< between the two; only `before` counts where it is zero
  std::array<double, 6> effect{};  ///< in a tangent: translation, then rotation
  std::vector<RowShare> ahead{};   ///< of what was predicted: all that is in it

  /// Covariance of two errors at one instant; zero for what was not given together.
  [[nodiscard]] double covariance_with(const VariableError& other) const;
};

/// Variables at one instant, as a question wants them. The caller holds a Pin.
///
/// Variables of one channel are looked up once.
class VariableReader {
 public:
  VariableReader(Stamp at, const QueryContext& context) : at_(at), context_(context) {}

  /// Returns none, before/after_history, single_sample, no_samples or ambiguous_path.
  [[nodiscard]] FailureKind positions(std::span<const Variable* const> variables, double* out);
  /// Given ones between two samples on the line between them; else as the positions change.
  [[nodiscard]] FailureKind velocities(std::span<const Variable* const> variables, double* out);

  /// What is known of their errors, one for each; false where that of one that was predicted is unknown.
  [[nodiscard]] bool errors(std::span<const Variable* const> variables, std::vector<VariableError>& out);

  /// What is in the position of a variable, and in its velocity; false: nobody knows how large an error of it is.
  [[nodiscard]] bool add_position_shares(const Variable& variable, std::vector<RowShare>& out);
  [[nodiscard]] bool add_velocity_shares(const Variable& variable, std::vector<RowShare>& out);

  /// What is held is noted in the list of the question.
  void note_held() { notes_held_ = true; }
  [[nodiscard]] bool held() const { return held_; }
  /// Whether some of it was integrated from speeds.
  [[nodiscard]] bool integrated() const { return integrated_; }
  [[nodiscard]] bool predicted() const { return ahead_s_ > 0.0; }
  /// How far the farthest prediction reached.
  [[nodiscard]] double ahead_s() const { return ahead_s_; }
  /// Whether all that was read has a covariance.
  [[nodiscard]] bool is_known() const { return is_known_; }

 private:
  enum class Place : std::uint8_t { exact, between, held, predicted };
  struct Sighting {
    SampleBracket around{};  // what is held or predicted stands in `before`
    Place place = Place::exact;
    double u = 0.0;        // between the two
    double ahead_s = 0.0;  // beyond the last
  };

  [[nodiscard]] bool find_between(const Variable& variable, double& out);
  void look_up(const Channel* channel) {
    if (channel == channel_) return;
    bracket_ = channel->series.bracket(at_);
    channel_ = channel;
  }
  [[nodiscard]] FailureKind look(const Variable& lead, SampleBracket& out);
  [[nodiscard]] FailureKind sight(const Variable& lead, Sighting& out);
  [[nodiscard]] FailureKind sight_outside(const Variable& lead, Sighting& out);
  [[nodiscard]] bool can_predict(const Variable& lead, Sighting& out) const;
  void note(const Variable& lead, const Sighting& sighting);
  [[nodiscard]] bool add_speed(const Variable& variable, const Sighting& sighting, double weight,
                               std::vector<RowShare>& out) const;
  [[nodiscard]] bool add_predicted(const Variable& variable, const Sighting& sighting, std::vector<RowShare>& out) const;

  [[nodiscard]] SampleBracket interval(const Variable& lead, const Sighting& sighting) const;
  [[nodiscard]] double position(const Variable& variable, const Sighting& sighting) const;
  [[nodiscard]] FailureKind velocity(const Variable& variable, const Sighting& sighting, double& out) const;
  [[nodiscard]] Rotation rotation(const Variable& lead, const Sighting& sighting) const;
  [[nodiscard]] FailureKind angular(const Variable& lead, const Sighting& sighting, Vector3& out) const;

  Stamp at_;
  const QueryContext& context_;
  const Channel* channel_ = nullptr;  // last looked up
  Bracket bracket_{};
  bool is_cut_ = false;  // what was looked for last is in a gap
  bool held_ = false, notes_held_ = false, is_known_ = true, integrated_ = false;
  double ahead_s_ = 0.0;
};

}  // namespace armillary
