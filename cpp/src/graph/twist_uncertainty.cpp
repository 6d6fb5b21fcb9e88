#include "graph/twist_uncertainty.hpp"

#include <algorithm>

namespace armillary {

void TwistUncertainty::clear() {
  errors.clear();
  steps_.clear();
  marks_.reset();
  names_.clear();
  parts_.clear();
}

void TwistUncertainty::append(const Motion& motion, bool upwards, std::size_t first_further) {
  const bool has_further = first_further < errors.effects.size();
  if (has_further && upwards) append_motion({}, upwards, first_further);
  steps_.push_back({upwards, motion.pose.value, motion.body_form(), motion.first_error, motion.after_error});
  if (has_further && !upwards) append_motion({}, upwards, first_further);
}

void TwistUncertainty::append_pose(const Transform& parent_T_child, bool upwards, std::size_t first_error) {
  steps_.push_back({upwards, parent_T_child, {}, first_error, errors.effects.size()});
}

void TwistUncertainty::append_motion(const Velocity& body_form, bool upwards, std::size_t first_error) {
  steps_.push_back({upwards, {}, body_form, first_error, errors.effects.size()});
}

/// From the end to the begin: what is below every child; then back, with what is above.
void TwistUncertainty::locate() {
  spots_.resize(steps_.size());
  Transform here_T_end;
  Velocity below;  // of the end relative to here, at the end, along the axes here
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const auto& [upwards, parent_T_child, body_form, first_error, after_error] = steps_[i];
    Spot& spot = spots_[i];
    if (upwards) {  // the error lies between the child, against which the parent moves, and the parent
      here_T_end = between(parent_T_child, here_T_end);
      spot.lever = here_T_end.translation;
      spot.below = parent_T_child.rotation.inverse() * below;
      below = spot.below - body_form.at(spot.lever);
    } else {
      spot.lever = here_T_end.translation;
      spot.below = below + body_form.at(spot.lever);
      below = parent_T_child.rotation * spot.below;
      here_T_end = parent_T_child * here_T_end;
    }
  }
  Rotation begin_R_here;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Rotation& turn = steps_[i].parent_T_child.rotation;
    Spot& spot = spots_[i];
    spot.begin_R_child = steps_[i].upwards ? begin_R_here : begin_R_here * turn;
    spot.angular_above = spot.begin_R_child.inverse() * below.angular - spot.below.angular;
    begin_R_here = steps_[i].upwards ? begin_R_here * turn.inverse() : spot.begin_R_child;
  }
}

/// An error of the pose turns what is below and swings another lever round what is above; one of the motion is seen at
/// the end of the lever.
void TwistUncertainty::spread(const Step& step, const Spot& spot) {
  const Matrix3 begin_R_child = scaled(step.upwards ? -1.0 : 1.0, spot.begin_R_child.matrix());
  const Matrix3 swing = scaled(-1.0, sum(cross_matrix(spot.below.linear), crossed(spot.angular_above, cross_matrix(spot.lever))));
  for (std::size_t i = step.first_error; i < step.after_error; ++i) {
    const auto& [tt, tr, rr] = errors.effects[i].on_pose;
    Upper6 here = errors.effects[i].on_motion;
    here.tr = sum(here.tr, crossed(-spot.lever, here.rr));
    if (errors.effects[i].on_pose != Upper6{}) {
      here.tt = sum(here.tt, crossed(spot.angular_above, tt));
      here.tr = sum(here.tr, sum(crossed(spot.angular_above, tr), product(swing, rr)));
      here.rr = sum(here.rr, crossed(-spot.below.angular, rr));
    }
    add_part(i, {product(begin_R_child, here.tt), product(begin_R_child, here.tr), product(begin_R_child, here.rr)});
  }
}

void TwistUncertainty::add_part(std::size_t error, const Upper6& effect) {
  const ErrorEffect& effect_of = errors.effects[error];
  const Name name{effect_of.relation, effect_of.stamp, effect_of.row, effect_of.part};
  const std::size_t same = find(name);
  if (same < names_.size()) {
    parts_[same].effect = sum(parts_[same].effect, effect);
  } else {
    names_.push_back(name);
    parts_.push_back({error, effect});
  }
}

/// Its place among the names, or their number. Most are new, and a mark that is not set says so.
std::size_t TwistUncertainty::find(const Name& name) {
  const std::uint64_t mixed = (name.relation ^ static_cast<std::uint64_t>(name.stamp.ns) * 31) * 0x9e3779b97f4a7c15;
  const std::size_t mark = mixed >> 54;
  if (!marks_[mark]) {
    marks_[mark] = true;
    return names_.size();
  }
  return static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
}

void TwistUncertainty::end_chain() {
  locate();
  for (std::size_t i = 0; i < steps_.size(); ++i) spread(steps_[i], spots_[i]);
}

Covariance TwistUncertainty::total() const {
  Symmetric6 total;
  for (const Part& part : parts_) total = sum(total, propagated(errors.effects[part.error].covariance, part.effect));
  return total.covariance();
}

}  // namespace armillary
