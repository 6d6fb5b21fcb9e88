#include "armillary/graph/driven_link.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "math/numbers.hpp"

namespace armillary {

namespace {

std::vector<const Variable*> pointers_to(std::span<const VariablePtr> variables) {
  std::vector<const Variable*> pointers;
  for (const VariablePtr& variable : variables) pointers.push_back(variable.get());
  return pointers;
}

/// J S J^T.
Covariance covariance_of(std::span<const VariableError> errors) {
  Covariance sum;
  add_covariance(errors, sum);
  return sum;
}

}  // namespace

void add_covariance(std::span<const VariableError> errors, Covariance& sum) {
  for (const VariableError& a : errors)
    for (const VariableError& b : errors) {
      const double covariance = a.covariance_with(b);
      if (covariance == 0.0) continue;
      for (int row = 0; row < 6; ++row)
        for (int column = 0; column < 6; ++column)
          sum.at(row, column) +=
              covariance * a.effect[static_cast<std::size_t>(row)] * b.effect[static_cast<std::size_t>(column)];
    }
}

DrivenLink::DrivenLink(std::vector<VariablePtr> positions, std::vector<VariablePtr> velocities)
    : positions_(std::move(positions)),
      velocities_(std::move(velocities)),
      read_(pointers_to(positions_)),
      read_velocities_(pointers_to(velocities_)) {
  for (const Variable* position : read_) {
    const auto column = std::ranges::find(read_velocities_, position);
    columns_.push_back(column == read_velocities_.end() ? kNone : static_cast<std::uint32_t>(column - read_velocities_.begin()));
  }
}

FailureKind DrivenLink::evaluate(Stamp at, const QueryContext& context, Evaluation& out) const {
  Numbers positions(read_.size());
  VariableReader reader(at, context);
  reader.note_held();
  if (const FailureKind kind = reader.positions(read_, positions.data()); kind != FailureKind::none) return kind;
  if (!close_loop(positions.data())) return FailureKind::open_loop;
  out.value = pose(positions.data());
  out.held = reader.held();
  out.predicted = reader.predicted();
  out.integrated = reader.integrated();
  const bool is_known = context.want_covariance && reader.is_known() && has_all_columns();
  out.certainty = is_known ? Certainty::known : Certainty::unknown;
  if (!is_known || (context.defers_covariance && !reader.predicted())) return FailureKind::none;
  std::vector<VariableError> errors;
  add_errors(at, context, errors);
  if (errors.size() < free_positions().size()) {  // the speed of a prediction has none
    out.certainty = Certainty::unknown;
    return FailureKind::none;
  }
  out.covariance = covariance_of(errors);
  if (reader.predicted()) out.covariance = out.covariance + reader.ahead_s() * context.prediction->noise_per_s;
  return FailureKind::none;
}

FailureKind DrivenLink::velocity(Stamp at, const QueryContext& context, Velocity& out) const {
  Numbers positions(read_.size()), velocities(read_velocities_.size());
  VariableReader reader(at, context);
  if (const FailureKind kind = reader.positions(read_, positions.data()); kind != FailureKind::none) return kind;
  if (!close_loop(positions.data())) return FailureKind::open_loop;
  if (const FailureKind kind = reader.velocities(read_velocities_, velocities.data()); kind != FailureKind::none) return kind;
  out = body_velocity(positions.data(), velocities.data());
  return FailureKind::none;
}

std::span<const Variable* const> DrivenLink::free_positions() const {
  return std::span(read_).first(read_.size() - dependents());
}

bool DrivenLink::has_all_columns() const {
  const auto columns = std::span(columns_).first(columns_.size() - dependents());
  return std::ranges::find(columns, kNone) == columns.end();
}

void DrivenLink::add_errors(Stamp at, const QueryContext& context, std::vector<VariableError>& out) const {
  Numbers positions(read_.size());
  VariableReader reader(at, context);
  if (reader.positions(read_, positions.data()) != FailureKind::none || !close_loop(positions.data())) return;
  const std::size_t before = out.size();
  if (reader.errors(free_positions(), out)) {
    add_effects(positions.data(), std::span(out).subspan(before));
  } else {
    out.resize(before);
  }
}

void DrivenLink::add_effects(const double* positions, std::span<VariableError> errors) const {
  const std::size_t m = read_velocities_.size();
  Numbers jacobian(6 * m);
  body_jacobian(positions, jacobian.data());
  for (std::size_t i = 0; i < errors.size(); ++i)
    for (std::size_t row = 0; row < 6; ++row) errors[i].effect[row] = jacobian.data()[row * m + columns_[i]];
}

namespace {

constexpr double kStep = 1e-5;

void spread(std::span<const RowShare> shares, const std::array<double, 6>& on_pose, const std::array<double, 6>& on_motion,
            std::vector<RowError>& out) {
  for (const auto& [channel, row, index, weight] : shares) {
    RowError& error = out.emplace_back(RowError{channel, row, index});
    for (std::size_t k = 0; k < 6; ++k) {
      error.on_pose[k] = weight * on_pose[k];
      error.on_motion[k] = weight * on_motion[k];
    }
  }
}

}  // namespace

/// How the body form changes with one position, the speeds being what they are; dependents follow.
std::array<double, 6> DrivenLink::motion_along(std::size_t position, const double* positions, const double* velocities) const {
  std::array<Velocity, 2> ends;
  for (const bool is_ahead : {false, true}) {
    Numbers moved(read_.size());
    std::copy_n(positions, read_.size(), moved.data());
    moved.data()[position] += is_ahead ? kStep : -kStep;
    (void)close_loop(moved.data());
    ends[is_ahead] = body_velocity(moved.data(), velocities);
  }
  const Velocity change = (0.5 / kStep) * (ends[1] - ends[0]);
  return {change.linear.x, change.linear.y, change.linear.z, change.angular.x, change.angular.y, change.angular.z};
}

bool DrivenLink::add_row_errors(Stamp at, const QueryContext& context, bool with_motion, std::vector<RowError>& out) const {
  const std::size_t m = read_velocities_.size();
  Numbers positions(read_.size()), velocities(m), jacobian(6 * m);
  VariableReader reader(at, context);
  if (reader.positions(read_, positions.data()) != FailureKind::none || !close_loop(positions.data())) return false;
  if (with_motion && reader.velocities(read_velocities_, velocities.data()) != FailureKind::none) return false;
  if (!has_all_columns()) return false;
  body_jacobian(positions.data(), jacobian.data());
  const auto column = [&](std::size_t i) {
    std::array<double, 6> values;
    for (std::size_t row = 0; row < 6; ++row) values[row] = jacobian.data()[row * m + i];
    return values;
  };
  std::vector<RowShare> shares;
  for (std::size_t i = 0; i < free_positions().size(); ++i) {
    shares.clear();
    if (!reader.add_position_shares(*read_[i], shares)) return false;
    const auto on_motion = with_motion ? motion_along(i, positions.data(), velocities.data()) : std::array<double, 6>{};
    spread(shares, column(columns_[i]), on_motion, out);
  }
  for (std::size_t i = 0; with_motion && i < m; ++i) {
    shares.clear();
    if (!reader.add_velocity_shares(*read_velocities_[i], shares)) return false;
    spread(shares, {}, column(i), out);
  }
  return true;
}

Coverage DrivenLink::coverage() const {
  Coverage common{Stamp::always(), Stamp::never()};
  for (const Variable* variable : read_) {
    const Coverage one = variable->coverage();
    common = {std::max(common.first, one.first), std::min(common.last, one.last)};
  }
  return common;
}

Stamp DrivenLink::newest() const {
  Stamp newest = Stamp::always();
  for (const Variable* variable : read_) newest = std::max(newest, variable->newest());
  return newest;
}

/// Each has samples, and no instant has all of them: the one that begins last.
static void explain_apart(std::span<const Variable* const> variables, Evidence& failure) {
  for (const Variable* variable : variables)
    if (variable->coverage().empty()) return;
  failure.kind = FailureKind::before_history;
  failure.requested = Stamp::never();
  for (const Variable* variable : variables) {
    const Coverage held = variable->coverage();
    failure.requested = std::min(failure.requested, held.last);
    if (!failure.joint.empty() && held.first <= failure.first) continue;
    failure.joint = variable->name;
    failure.first = held.first;
    failure.last = held.last;
  }
}

bool DrivenLink::has_ended_before(Stamp at) const {
  return std::ranges::any_of(read_, [at](const Variable* variable) { return variable->has_ended_before(at); });
}

void DrivenLink::add_demands(Stamp at, const QueryContext& context, std::uint64_t& number) const {
  for (const Variable* variable : read_) variable->add_demands(at, context, number);
}

static bool is_at_fault(const Variable& variable, const Coverage& held, const Evidence& failure) {
  const VariableSources& by_source = variable.lead->by_source();
  if (failure.kind == FailureKind::ambiguous_path)
    return by_source.all.size() > 1 && variable.source_at(failure.requested) == nullptr;
  if (failure.kind == FailureKind::no_samples) return held.empty();
  if (failure.kind == FailureKind::not_received) return variable.has_ended_before(failure.requested);
  return failure.requested < held.first || failure.requested > held.last;
}

void DrivenLink::explain(Evidence& failure) const {
  if (failure.kind == FailureKind::no_samples) explain_apart(read_, failure);
  if (!failure.joint.empty()) return;
  for (const Variable* variable : read_) {
    const Coverage held = variable->coverage();
    if (!is_at_fault(*variable, held, failure)) continue;
    failure.joint = variable->name;
    failure.first = held.first;
    failure.last = held.last;
    return;
  }
}

bool DrivenLink::has_forgotten(Stamp at) const {
  return std::ranges::any_of(read_, [at](const Variable* variable) { return variable->has_forgotten(at); });
}

std::vector<VariablePtr> counterparts(std::span<const VariablePtr> of, const Variables& variables) {
  std::vector<VariablePtr> found;
  for (const VariablePtr& variable : of) found.push_back(variables.share(variables.find(variable->name)));
  return found;
}

// -- Closed forms

JointLink::JointLink(const JointMotion& motion, const std::vector<VariablePtr>& variables)
    : DrivenLink(variables, variables), motion_(motion) {}

void JointLink::body_jacobian(const double* positions, double* out) const {
  std::ranges::copy_n(motion_.body_jacobian(positions).begin(), 6 * variables_of(motion_.kind), out);
}

std::shared_ptr<DrivenProvider> JointLink::driven_by(const Variables& variables) const {
  return std::make_shared<JointLink>(motion_, counterparts(positions(), variables));
}

// -- Tapes

TapeLink::TapeLink(Tape value, Tape jacobian, std::vector<VariablePtr> positions, std::vector<VariablePtr> velocities)
    : DrivenLink(std::move(positions), std::move(velocities)), value_(std::move(value)), jacobian_(std::move(jacobian)) {}

Transform TapeLink::pose(const double* positions) const {
  std::array<double, 12> m;
  Numbers scratch(value_.scratch());
  value_.evaluate(positions, m.data(), scratch.data());
  return {Rotation::from_matrix({m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]}), {m[3], m[7], m[11]}};
}

void TapeLink::body_jacobian(const double* positions, double* out) const {
  Numbers scratch(jacobian_.scratch());
  jacobian_.evaluate(positions, out, scratch.data());
}

Velocity TapeLink::body_velocity(const double* positions, const double* velocities) const {
  const std::size_t m = jacobian_.outputs() / 6;
  Numbers jacobian(6 * m);
  body_jacobian(positions, jacobian.data());
  std::array<double, 6> v{};
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t i = 0; i < m; ++i) v[row] += jacobian.data()[row * m + i] * velocities[i];
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

std::shared_ptr<DrivenProvider> TapeLink::driven_by(const Variables& variables) const {
  return std::make_shared<TapeLink>(value_, jacobian_, counterparts(positions(), variables),
                                    counterparts(velocities(), variables));
}

// -- Loops

LoopLink::LoopLink(Loop loop, Tape value, Tape jacobian, std::vector<VariablePtr> positions, std::vector<VariablePtr> velocities)
    : TapeLink(std::move(value), std::move(jacobian), std::move(positions), std::move(velocities)), loop_(std::move(loop)) {}

std::shared_ptr<DrivenProvider> LoopLink::driven_by(const Variables& variables) const {
  return std::make_shared<LoopLink>(loop_, value(), jacobian(), counterparts(positions(), variables),
                                    counterparts(velocities(), variables));
}

}  // namespace armillary
