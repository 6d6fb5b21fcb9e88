#include "armillary/graph/variable_reading.hpp"

#include <algorithm>
#include <array>
#include <numbers>

#include "armillary/graph/demands.hpp"

namespace armillary {

// -- What sources gave

Stamp VariableSource::newest() const {
  Stamp newest = Stamp::always();
  for (const Column& column : columns) newest = std::max(newest, column.channel->series.newest());
  return newest;
}

static std::int64_t opens_ns(const VariableSource& of_source) {
  std::int64_t first = Stamp::never().ns;
  for (const Column& column : of_source.columns) first = std::min(first, column.channel->opens_ns.load());
  return first;
}

bool VariableSource::is_open_at(Stamp at) const { return opens_ns(*this) <= at.ns; }

const VariableSource* VariableSources::source_at(Stamp at, bool is_held) const {
  const VariableSource *open = nullptr, *silent = nullptr;
  std::size_t rivals = 0;
  const SourceId preferred = preferred_at(preferences, at);
  for (const VariableSource& of_source : all) {
    if (!of_source.is_open_at(at)) continue;
    const bool is_silent = !is_held && at > later(of_source.newest(), rival_timeout);
    if (is_silent) {
      if (silent == nullptr || of_source.newest() > silent->newest()) silent = &of_source;
      continue;
    }
    if (of_source.source == preferred) return &of_source;
    open = &of_source;
    ++rivals;
  }
  if (rivals > 0) return rivals == 1 ? open : nullptr;
  if (silent != nullptr) return silent;
  const auto earliest = std::ranges::min_element(all, {}, opens_ns);
  return earliest == all.end() ? nullptr : &*earliest;
}

Stamp VariableSources::newest() const {
  Stamp newest = Stamp::always();
  for (const VariableSource& of_source : all) newest = std::max(newest, of_source.newest());
  return newest;
}

Stamp Variable::newest() const {
  const Stamp newest = lead->by_source().newest();
  const VariableSource* counts = source_at(newest);
  return counts == nullptr ? newest : counts->newest();
}

namespace {

bool is_absent(const Row& row, std::uint32_t index) { return std::isnan(row.values()[index]); }

/// The last row at or before `at` that has the variable.
Row row_until(const Column& column, Stamp at) {
  const Series& series = column.channel->series;
  Row row = series.bracket(at).before;
  while (row && is_absent(row, column.index)) row = series.bracket({row.stamp_ns() - 1}).before;
  return row;
}

/// The first row after `at` that has the variable.
Row row_after(const Column& column, Stamp at) {
  const Series& series = column.channel->series;
  Row row = series.bracket(at).after;
  if (!row && at < series.newest()) row = series.first_row();
  while (row && is_absent(row, column.index)) row = series.bracket({row.stamp_ns()}).after;
  return row;
}

/// What a source gave around an instant, over all of its channels; what is older than `history` is forgotten.
SampleBracket around_of(const VariableSource& of_source, Duration history, Stamp at) {
  SampleBracket found;
  const Stamp floor = earlier(of_source.newest(), history);
  const bool is_forgotten = at < floor;
  const Stamp from = is_forgotten ? Stamp{floor.ns - 1} : at;
  for (const Column& column : of_source.columns) {
    const Row before = is_forgotten ? Row{} : row_until(column, at);
    const bool is_kept = before && before.stamp_ns() >= floor.ns;
    if (is_kept && (!found.before || before.stamp_ns() > found.before.stamp_ns()))
      found.before = {column.channel, before, column.index};
    const Row after = row_after(column, from);
    if (after && (!found.after || after.stamp_ns() < found.after.stamp_ns())) found.after = {column.channel, after, column.index};
  }
  return found;
}

Coverage coverage_of(const Variable& variable, const VariableSource& of_source) {
  const SampleBracket first = around_of(of_source, variable.history, Stamp::always());
  if (!first.after) return {};
  return {{first.after.stamp_ns()}, of_source.newest()};
}

}  // namespace

Coverage Variable::coverage() const {
  const VariableSources& known = lead->by_source();
  Coverage all;
  if (known.only.channel != nullptr) {
    const Series& series = known.only.channel->series;
    const Row first = series.first_row();
    if (first && !is_absent(first, known.only.index)) all = {{first.stamp_ns()}, series.newest()};
  }
  for (const VariableSource& of_source : known.all) {
    if (!all.empty() && known.only.channel != nullptr) break;
    const Coverage one = coverage_of(*lead, of_source);
    all = all.empty() ? one : one.empty() ? all : Coverage{std::min(all.first, one.first), std::max(all.last, one.last)};
  }
  if (known.all.size() > 1 && !all.empty()) all.last = newest();
  if (kind == VariableKind::hold && !all.empty()) all.last = Stamp::never();
  return all;
}

bool Variable::has_forgotten(Stamp at) const {
  const VariableSources& known = lead->by_source();
  return !known.all.empty() && std::ranges::all_of(known.all, [&](const VariableSource& of_source) {
    const Series& series = of_source.columns[0].channel->series;
    return at < earlier(of_source.newest(), history) || (of_source.columns.size() == 1 && at < series.floor());
  });
}

bool Variable::has_ended_before(Stamp at) const {
  const VariableSources& known = lead->by_source();
  if (known.only.channel != nullptr) return known.only.channel->series.has_ended_before(at);
  return std::ranges::any_of(known.all, [at](const VariableSource& of_source) {
    return std::ranges::any_of(of_source.columns,
                               [at](const Column& column) { return column.channel->series.has_ended_before(at); });
  });
}

void Variable::add_demands(Stamp at, const QueryContext& context, std::uint64_t& number) const {
  if (context.demands == nullptr) return;
  for (const VariableSource& of_source : lead->by_source().all)
    for (const Column& column : of_source.columns)
      if (column.channel->series.has_ended_before(at))
        number = context.demands->add({SampleKind::joints, column.channel->id, context.is_waited_for});
}

// -- One instant

namespace {

bool is_in_gap(const VariableSource& of_source, Stamp at) {
  return std::ranges::any_of(of_source.columns,
                             [at](const Column& column) { return column.channel->series.gap_at(at) != nullptr; });
}

constexpr double kTurn = 2.0 * std::numbers::pi;

/// From one position to the next; for an angle the shorter way round.
double difference(VariableKind kind, double from, double to) {
  return kind == VariableKind::wrap ? std::remainder(to - from, kTurn) : to - from;
}

double seconds_between(const VariableSample& a, const VariableSample& b) {
  return 1e-9 * static_cast<double>(b.stamp_ns() - a.stamp_ns());
}

double slope(VariableKind kind, const VariableSample& a, const VariableSample& b) {
  return difference(kind, a.position(), b.position()) / seconds_between(a, b);
}

Rotation rotation_of(const VariableSample& sample) {
  return {sample.position(0), sample.position(1), sample.position(2), sample.position(3)};
}

/// How a quaternion changes that turns with this body velocity.
Rotation rate_of(const Rotation& q, const Vector3& angular) {
  return q * Rotation{0.0, 0.5 * angular.x, 0.5 * angular.y, 0.5 * angular.z};
}

Vector3 angular_between(const VariableSample& a, const VariableSample& b) {
  return (1.0 / seconds_between(a, b)) * short_log(rotation_of(a), rotation_of(b));
}

double mix(double a, double b, double u) { return a + u * (b - a); }

/// NaN where none was given; of a rotation as it turns `here`.
Vector3 given_angular(const Rotation& here, const VariableSample& sample) {
  const Rotation half = here.inverse() * Rotation{sample.velocity(0), sample.velocity(1), sample.velocity(2), sample.velocity(3)};
  return {2.0 * half.x, 2.0 * half.y, 2.0 * half.z};
}

bool is_given(const Vector3& angular) { return !std::isnan(angular.x + angular.y + angular.z); }

double part_of(const Rotation& q, std::uint32_t part) {
  const double parts[] = {q.w, q.x, q.y, q.z};
  return parts[part];
}

}  // namespace

FailureKind VariableReader::look(const Variable& lead, SampleBracket& out) {
  const VariableSources& by_source = lead.by_source();
  if (const auto& [channel, index] = by_source.only; channel != nullptr) {
    look_up(channel);
    is_cut_ = bracket_.is_cut;
    if (is_cut_ && channel->series.has_ended_before(at_)) return FailureKind::not_received;
    out = {{channel, bracket_.before, index}, {channel, bracket_.after, index}};
    if (!out.before && !out.after) out.after.row = channel->series.first_row();
    const bool is_whole = !(out.before && std::isnan(out.before.position())) && !(out.after && std::isnan(out.after.position()));
    if (is_whole) return FailureKind::none;
  }
  if (by_source.all.empty()) return FailureKind::no_samples;
  if (lead.has_ended_before(at_)) return FailureKind::not_received;
  const VariableSource* of_source = lead.source_at(at_);
  if (of_source == nullptr) return FailureKind::ambiguous_path;
  out = around_of(*of_source, lead.history, at_);
  is_cut_ = is_in_gap(*of_source, at_) && !(out.before && out.before.stamp_ns() == at_.ns);
  if (is_cut_) out.after = {};
  return FailureKind::none;
}

FailureKind VariableReader::sight(const Variable& lead, Sighting& out) {
  if (const FailureKind kind = look(lead, out.around); kind != FailureKind::none) return kind;
  const auto& [before, after] = out.around;
  if (before && before.stamp_ns() == at_.ns) {
    out.place = Place::exact;
  } else if (before && lead.kind == VariableKind::hold && !is_cut_) {
    out.place = Place::held;
  } else if (before && after) {
    out.place = Place::between;
    out.u = static_cast<double>(at_.ns - before.stamp_ns()) / static_cast<double>(after.stamp_ns() - before.stamp_ns());
  } else {
    return sight_outside(lead, out);
  }
  return FailureKind::none;
}

FailureKind VariableReader::sight_outside(const Variable& lead, Sighting& out) {
  auto& [before, after] = out.around;
  if (!before && !after) return FailureKind::no_samples;
  if (context_.may_hold(at_, {before ? before.stamp_ns() : after.stamp_ns()})) {
    if (!before) before = after;
    out.place = Place::held;
    return FailureKind::none;
  }
  if (before && !is_cut_ && context_.outside == Outside::predict && can_predict(lead, out)) return FailureKind::none;
  const Coverage covered = lead.coverage();
  if (lead.kind != VariableKind::hold && covered.first == covered.last) return FailureKind::single_sample;
  return before ? FailureKind::after_history : FailureKind::before_history;
}

bool VariableReader::can_predict(const Variable& lead, Sighting& out) const {
  const VariableSample& last = out.around.before;
  const std::int64_t ahead_ns = at_.ns - last.stamp_ns();
  if (context_.prediction == nullptr || ahead_ns > context_.prediction->horizon.ns) return false;
  out.place = Place::predicted;
  out.ahead_s = 1e-9 * static_cast<double>(ahead_ns);
  if (lead.kind == VariableKind::velocity) return true;
  double speed = 0.0;
  Vector3 angular_speed;
  const bool is_rotation = lead.kind == VariableKind::unit_quaternion;
  return (is_rotation ? angular(lead, out, angular_speed) : velocity(lead, out, speed)) == FailureKind::none;
}

void VariableReader::note(const Variable& lead, const Sighting& sighting) {
  const auto& [before, after] = sighting.around;
  is_known_ = is_known_ && before.channel->has_covariance && (sighting.u == 0.0 || after.channel->has_covariance);
  integrated_ = integrated_ || before.channel->is_computed || (sighting.u != 0.0 && after.channel->is_computed);
  if (sighting.place == Place::held) {
    held_ = true;
    if (notes_held_) context_.note_held({.joint = lead.name, .age = age_of({before.stamp_ns()}, at_)});
  }
  ahead_s_ = std::max(ahead_s_, sighting.ahead_s);
}

/// The two samples whose difference is the motion: at the last one those before.
SampleBracket VariableReader::interval(const Variable& lead, const Sighting& sighting) const {
  const auto& [before, after] = sighting.around;
  if (after) return sighting.around;
  const VariableSource* of_source = lead.source_at(at_);
  if (of_source == nullptr || is_in_gap(*of_source, {before.stamp_ns() - 1})) return {};
  return {around_of(*of_source, lead.history, {before.stamp_ns() - 1}).before, before};
}

// -- Numbers

double VariableReader::position(const Variable& variable, const Sighting& sighting) const {
  const auto& [before, after] = sighting.around;
  const double here = before.position();
  if (sighting.place == Place::between) return here + sighting.u * difference(variable.kind, here, after.position());
  double speed = 0.0;
  const bool goes_on = sighting.place == Place::predicted && variable.kind != VariableKind::velocity;
  if (goes_on) (void)velocity(variable, sighting, speed);
  return here + sighting.ahead_s * speed;
}

FailureKind VariableReader::velocity(const Variable& variable, const Sighting& sighting, double& out) const {
  const auto& [before, after] = sighting.around;
  out = 0.0;
  if (sighting.place == Place::held) return FailureKind::none;
  if (variable.kind == VariableKind::velocity) {
    out = position(variable, sighting);
    return FailureKind::none;
  }
  const double given =
      sighting.place == Place::between ? mix(before.velocity(), after.velocity(), sighting.u) : before.velocity();
  if (!std::isnan(given)) {
    out = given;
  } else if (variable.kind != VariableKind::hold) {
    const SampleBracket two = interval(variable, sighting);
    if (!two.before) return FailureKind::single_sample;
    out = slope(variable.kind, two.before, two.after);
  }
  return FailureKind::none;
}

// -- Rotations

Rotation VariableReader::rotation(const Variable& lead, const Sighting& sighting) const {
  const auto& [before, after] = sighting.around;
  const Rotation here = rotation_of(before);
  if (sighting.place == Place::between) return slerp(here, rotation_of(after), sighting.u);
  if (sighting.place != Place::predicted) return here;
  Vector3 speed;
  (void)angular(lead, sighting, speed);
  return here * Rotation::exp(sighting.ahead_s * speed);
}

/// In the body form.
FailureKind VariableReader::angular(const Variable& lead, const Sighting& sighting, Vector3& out) const {
  const auto& [before, after] = sighting.around;
  out = {};
  if (sighting.place == Place::held) return FailureKind::none;
  const bool is_between = sighting.place == Place::between;
  const Rotation here = is_between ? rotation(lead, sighting) : rotation_of(before);
  Vector3 given = given_angular(here, before);
  if (is_between) given = given + sighting.u * (given_angular(here, after) - given);
  if (is_given(given)) {
    out = given;
    return FailureKind::none;
  }
  const SampleBracket two = interval(lead, sighting);
  if (!two.before) return FailureKind::single_sample;
  out = angular_between(two.before, two.after);
  return FailureKind::none;
}

// -- Lists of variables

/// The usual case, worth a short cut: a number that one source gives in one channel, between two samples.
bool VariableReader::find_between(const Variable& variable, double& out) {
  const bool is_number = variable.kind == VariableKind::linear || variable.kind == VariableKind::wrap;
  const auto& [channel, index] = variable.by_source().only;
  if (!is_number || channel == nullptr) return false;
  look_up(channel);
  const auto& [before, after, is_cut] = bracket_;
  if (!before || !after || before.stamp_ns() == at_.ns) return false;
  const double here = before.values()[index];
  const double u = static_cast<double>(at_.ns - before.stamp_ns()) / static_cast<double>(after.stamp_ns() - before.stamp_ns());
  out = here + u * difference(variable.kind, here, after.values()[index]);
  if (std::isnan(out)) return false;
  is_known_ = is_known_ && channel->has_covariance;
  integrated_ = integrated_ || channel->is_computed;
  return true;
}

FailureKind VariableReader::positions(std::span<const Variable* const> variables, double* out) {
  Sighting sighting;
  Rotation turned;
  const Variable* sighted = nullptr;
  for (const Variable* variable : variables) {
    if (find_between(*variable, *out)) {
      ++out;
      continue;
    }
    const Variable& lead = *variable->lead;
    const bool is_rotation = lead.kind == VariableKind::unit_quaternion;
    if (&lead != sighted) {
      sighting = {};
      if (const FailureKind kind = sight(lead, sighting); kind != FailureKind::none) return kind;
      note(lead, sighting);
      if (is_rotation) turned = rotation(lead, sighting);
      sighted = &lead;
    }
    *out++ = is_rotation ? part_of(turned, variable->part) : position(lead, sighting);
  }
  return FailureKind::none;
}

FailureKind VariableReader::velocities(std::span<const Variable* const> variables, double* out) {
  Sighting sighting;
  Rotation rate;
  const Variable* sighted = nullptr;
  for (const Variable* variable : variables) {
    const Variable& lead = *variable->lead;
    const bool is_rotation = lead.kind == VariableKind::unit_quaternion;
    double speed = 0.0;
    if (&lead != sighted || !is_rotation) {
      sighting = {};
      if (const FailureKind kind = sight(lead, sighting); kind != FailureKind::none) return kind;
      Vector3 turning;
      const FailureKind kind = is_rotation ? angular(lead, sighting, turning) : velocity(lead, sighting, speed);
      if (kind != FailureKind::none) return kind;
      if (is_rotation) rate = rate_of(rotation(lead, sighting), turning);
      sighted = &lead;
    }
    *out++ = is_rotation ? part_of(rate, variable->part) : speed;
  }
  return FailureKind::none;
}

namespace {

/// Adds the share of one sample; false where its covariance is unknown.
bool add_share(const VariableSample& sample, std::uint32_t index, double weight, std::vector<RowShare>& out) {
  const bool is_covered = index < sample.channel->covered(sample.channel->width);
  if (!is_covered || std::isnan(sample.channel->covariance(sample.row, index, index))) return false;
  out.push_back({sample.channel, sample.row, index, weight});
  return true;
}

}  // namespace

bool VariableReader::errors(std::span<const Variable* const> variables, std::vector<VariableError>& out) {
  for (const Variable* variable : variables) {
    Sighting sighting;
    if (sight(*variable->lead, sighting) != FailureKind::none) return false;
    VariableError& error = out.emplace_back(VariableError{variable, sighting.around, variable->part, sighting.u});
    if (sighting.place == Place::predicted && !add_predicted(*variable, sighting, error.ahead)) return false;
  }
  return true;
}

/// The last sample, and the speed that it went on with.
bool VariableReader::add_predicted(const Variable& variable, const Sighting& sighting, std::vector<RowShare>& out) const {
  const VariableSample& last = sighting.around.before;
  if (!add_share(last, last.index + variable.part, 1.0, out)) return false;
  return variable.lead->kind == VariableKind::velocity || add_speed(variable, sighting, sighting.ahead_s, out);
}

/// The speed at the last sample: the one given with it, else that of the last interval.
bool VariableReader::add_speed(const Variable& variable, const Sighting& sighting, double weight,
                               std::vector<RowShare>& out) const {
  const VariableSample& last = sighting.around.before;
  if (!std::isnan(last.velocity(variable.part)))
    return add_share(last, last.channel->width + last.index + variable.part, weight, out);
  if (variable.lead->kind == VariableKind::hold) return true;
  const SampleBracket two = interval(*variable.lead, sighting);
  if (!two.before) return false;
  const double share = weight / seconds_between(two.before, two.after);
  return add_share(two.before, two.before.index + variable.part, -share, out) &&
         add_share(two.after, two.after.index + variable.part, share, out);
}

bool VariableReader::add_position_shares(const Variable& variable, std::vector<RowShare>& out) {
  Sighting sighting;
  if (sight(*variable.lead, sighting) != FailureKind::none || sighting.place == Place::predicted) return false;
  const auto& [before, after] = sighting.around;
  if (!add_share(before, before.index + variable.part, 1.0 - sighting.u, out)) return false;
  return sighting.u == 0.0 || add_share(after, after.index + variable.part, sighting.u, out);
}

/// Chooses as `velocity` does. How a rotation turns is not linear in its parts.
bool VariableReader::add_velocity_shares(const Variable& variable, std::vector<RowShare>& out) {
  Sighting sighting;
  const bool is_rotation = variable.kind == VariableKind::unit_quaternion;
  if (is_rotation || sight(variable, sighting) != FailureKind::none) return false;
  if (sighting.place == Place::held || sighting.place == Place::predicted) return false;
  if (variable.kind == VariableKind::velocity) return add_position_shares(variable, out);
  const auto& [before, after] = sighting.around;
  const auto speed_of = [](const VariableSample& sample) { return sample.channel->width + sample.index; };
  const bool is_between = sighting.place == Place::between;
  if (!std::isnan(is_between ? before.velocity() + after.velocity() : before.velocity()))
    return add_share(before, speed_of(before), 1.0 - sighting.u, out) &&
           (!is_between || add_share(after, speed_of(after), sighting.u, out));
  if (variable.kind == VariableKind::hold) return true;
  const SampleBracket two = interval(variable, sighting);
  if (!two.before) return false;
  const double per_s = 1.0 / seconds_between(two.before, two.after);
  return add_share(two.before, two.before.index, -per_s, out) && add_share(two.after, two.after.index, per_s, out);
}

namespace {

/// Of two sums of numbers in rows: what is in the same row was given together.
double covariance_of(std::span<const RowShare> mine, std::span<const RowShare> theirs) {
  double total = 0.0;
  for (const RowShare& one : mine)
    for (const RowShare& other : theirs)
      if (one.row.words == other.row.words)
        total += one.weight * other.weight * one.channel->covariance(one.row, one.index, other.index);
  return total;
}

}  // namespace

double VariableError::covariance_with(const VariableError& other) const {
  if (!ahead.empty() && !other.ahead.empty()) return covariance_of(ahead, other.ahead);
  const bool is_together = around.before.row.words == other.around.before.row.words &&
                           (u == 0.0 || around.after.row.words == other.around.after.row.words);
  if (!is_together) return 0.0;
  const auto in_row = [&](const VariableSample& mine, const VariableSample& theirs) {
    return mine.channel->covariance(mine.row, mine.index + part, theirs.index + other.part);
  };
  const double before = in_row(around.before, other.around.before);
  return u == 0.0 ? before : before + u * (in_row(around.after, other.around.after) - before);
}

}  // namespace armillary
