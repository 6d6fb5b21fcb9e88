// How measured twists come in: turned to the body form with the poses of their instant, checked, then written.

#include <algorithm>
#include <cmath>
#include <map>

#include "armillary/graph/twist_row.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

using Guard = std::lock_guard<std::mutex>;

TwistRecord* Forest::State::find_twist(FrameId of, BodyId reference, SourceId source) const {
  for (const RelationId id : frames[of].twists) {
    TwistRecord* twist = twists.at(id).get();
    if (twist->reference == reference && twist->source == source) return twist;
  }
  return nullptr;
}

void TwistRecord::insert(Stamp at, const BodyTwist& given, RetireList& retired) {
  const Stamp horizon = earlier(std::max(series->newest(), at), series->retention().history);
  const Row aged = horizon == Stamp::always() ? Row{} : series->bracket({horizon.ns - 1}).before;
  const Row oldest = aged ? aged : series->first_row();
  const std::optional<Forgotten> leaving =
      oldest ? std::optional(Forgotten{{oldest.stamp_ns()}, velocity_of(oldest)}) : std::nullopt;
  std::array<double, Covariance::kPacked> packed;
  if (given.covariance) given.covariance->pack(packed);
  series->insert(at, twist_values(given.body_form, given.axes), given.covariance ? packed.data() : nullptr, retired);
  if (given.axes != kNone && std::ranges::find(axes, given.axes) == axes.end()) axes.push_back(given.axes);
  if (leaving && leaving->at < series->floor()) forgotten = leaving;
}

/// The name that a twist relation is relative to.
const std::string& Forest::State::named_by(const TwistRecord& twist) const {
  return is_declared(twist.named) ? bodies[twist.named - kFirstDeclaredBody].name : *frames[twist.named].name;
}

TwistRecord& Forest::State::make_twist(FrameId of, std::string_view relative_to, SourceId source) {
  const BodyId reference = find_body(relative_to);
  const FrameId frame = find_frame(relative_to);
  if (TwistRecord* known = find_twist(of, reference, source)) return *known;
  const auto id = static_cast<RelationId>(relations.size());
  Retention retention = options.retention;
  retention.thin_m = retention.thin_rad = 0.0;
  auto made = std::make_unique<TwistRecord>(TwistRecord{.id = id,
                                                        .of = of,
                                                        .reference = reference,
                                                        .named = frame == kNone ? reference : frame,
                                                        .source = source,
                                                        .retention = retention,
                                                        .series = std::make_unique<Series>(kTwistRowWidth, retention)});
  relations.skip();
  frames[of].twists.push_back(id);
  bodies_changed = rigid.is_stale = true;
  return *twists.emplace(id, std::move(made)).first->second;
}

void Forest::State::erase_twist(RelationId id) {
  const auto found = twists.find(id);
  found->second->watches.fire_all();
  taken_back += found->second->series->size();
  std::erase(frames[found->second->of].twists, id);
  unlinked_twists.push_back(std::move(found->second->series));
  twists.erase(found);
  bodies_changed = rigid.is_stale = true;
}

/// Axes go, and with them what is known of the turn from them: nobody knows how sure the twists along them are.
void Forest::State::forget_axes(TwistRecord& twist, FrameId axes) {
  if (std::erase(twist.axes, axes) == 0) return;
  std::vector<std::pair<Stamp, Velocity>> along;
  twist.series->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
    if (axes_of(row) == axes) along.emplace_back(Stamp{row.stamp_ns()}, velocity_of(row));
  });
  for (const auto& [at, body_form] : along) twist.insert(at, {.body_form = body_form}, retired);
}

/// Erases the twist relations of a frame, and those relative to it alone.
void Forest::State::erase_twists_of(FrameId frame) {
  std::vector<RelationId> gone = frames[frame].twists;
  for (const auto& [id, twist] : twists)
    if (twist->reference == frame && twist->of != frame) gone.push_back(id);
  for (const RelationId id : gone) erase_twist(id);
  for (const auto& [id, twist] : twists) {
    forget_axes(*twist, frame);
    if (twist->named == frame) twist->named = twist->reference;
  }
  const BodyId body = frames[frame].body;
  if (!is_declared(body)) return;
  std::erase(bodies[body - kFirstDeclaredBody].frames, frame);
  bodies_changed = rigid.is_stale = true;
}

void Forest::State::forget_twist_samples() {
  for (auto& [id, twist] : twists) {
    unlinked_twists.push_back(std::exchange(twist->series, std::make_unique<Series>(kTwistRowWidth, twist->retention)));
    twist->axes.clear();
    twist->forgotten.reset();
    bodies_changed = true;
  }
}

namespace {

/// Numbers whose squares are finite, so that whatever is integrated from them is.
bool is_usable(const Velocity& velocity) {
  const auto values = values_of(velocity);
  return std::ranges::all_of(values, [](double value) { return std::abs(value) < 1e100; });
}

}  // namespace

/// Needs the pose of the axes it was given along, seen from its own frame, at its instant. The turn's own error is not
/// added: who asks along the given axes again must not find it.
Failure Forest::State::to_body_form(const TwistName& name, const TwistSample& sample, BodyTwist& twist) const {
  twist.body_form = sample.velocity;
  if (sample.covariance != nullptr) twist.covariance = *sample.covariance;
  if (sample.expressed_in.empty() || sample.expressed_in == name.of) return {};
  const FrameId of = find_frame(name.of), axes = find_frame(sample.expressed_in);
  for (const auto& [id, missing] : {std::pair{of, name.of}, std::pair{axes, sample.expressed_in}})
    if (id == kNone) return Evidence{.kind = FailureKind::unknown_frame, .name = std::string(missing)};
  Result<PoseAnswer> answer = pose_now({.of = axes, .in_frame = of, .at = When::exactly(sample.at)});
  if (!answer) return std::move(answer.failure);
  const Rotation& turn = answer.value.transform.rotation;
  twist.body_form = turn * sample.velocity;
  if (twist.covariance) twist.covariance = transported(*twist.covariance, {turn, {}});
  if (twist.covariance && answer.value.certainty != Certainty::exact) twist.axes = axes;
  return {};
}

/// Whether a motion that nobody gave yet would be one between frames that are fixed to one another for always.
bool Forest::State::moves_on_mounts(const TwistName& name) const {
  const FrameId of = find_frame(name.of);
  const BodyId reference = find_body(name.relative_to);
  if (tolerates_cycles || of == kNone || reference == kNone || rigid_body(of) != rigid_body_of(reference)) return false;
  const SourceId source = find_source(name.source);
  return source == kNone || find_twist(of, reference, source) == nullptr;
}

Failure Forest::set_twist(const TwistName& name, const TwistSample& sample) {
  const Guard guard(state_->lock);
  return state_->set_twist(name, sample);
}

/// As it will be stored.
Failure Forest::State::read_twist(const TwistName& name, const TwistSample& sample, BodyTwist& twist) const {
  if (!is_usable(sample.velocity)) return Evidence{.kind = FailureKind::not_a_twist};
  if (!is_sample_stamp(sample.at)) return Evidence{.kind = FailureKind::stamp_not_a_sample, .requested = sample.at};
  const BodyId body = find_body(name.of), reference = find_body(name.relative_to);
  if (name.of == name.relative_to || (body != kNone && body == reference) || moves_on_mounts(name))
    return Evidence{.kind = FailureKind::relative_to_itself,
                    .name = std::string(name.of),
                    .other = body == reference ? body_name(body) : std::string()};
  return to_body_form(name, sample, twist);
}

Failure Forest::State::set_twist(const TwistName& name, const TwistSample& sample) {
  BodyTwist twist;
  if (Failure failure = read_twist(name, sample, twist)) return failure;
  return write_twist(name, sample.at, twist, sample.base);
}

Failure Forest::State::read_twists(const TwistName& name, std::span<const TwistSample> samples,
                                   std::vector<BodyTwist>& twists) const {
  const FrameId of = find_frame(name.of);
  const SourceId source = find_source(name.source);
  const TwistRecord* known = of == kNone || source == kNone ? nullptr : find_twist(of, find_body(name.relative_to), source);
  twists.resize(samples.size());
  for (std::size_t row = 0; row < samples.size(); ++row) {
    Failure failure = read_twist(name, samples[row], twists[row]);
    if (!failure && known != nullptr) failure = too_old(*known, samples[row].at);
    if (!failure) continue;
    failure->row = row;
    return failure;
  }
  return {};
}

Failure Forest::check_twists(const TwistName& name, std::span<const TwistSample> samples) const {
  const Guard guard(state_->lock);
  std::vector<BodyTwist> twists;
  return state_->read_twists(name, samples, twists);
}

Failure Forest::set_twists(const TwistName& name, std::span<const TwistSample> samples) {
  const Guard guard(state_->lock);
  std::vector<BodyTwist> twists;
  if (Failure failure = state_->read_twists(name, samples, twists)) return failure;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    Failure failure = state_->write_twist(name, samples[row].at, twists[row], samples[row].base);
    // A newer row may have made this one too old: it expires as it would have.
    if (failure && failure->kind != FailureKind::before_history) return failure;
  }
  return {};
}

/// A sample at this instant would be older than the history.
Failure Forest::State::too_old(const TwistRecord& twist, Stamp at) const {
  const Stamp begin = twist.series->empty()
                          ? twist.series->floor()
                          : std::max(twist.series->floor(), earlier(twist.series->newest(), twist.retention.history));
  if (at >= begin) return {};
  return Evidence{.kind = FailureKind::before_history,
                  .relation = twist.id,
                  .requested = at,
                  .first = begin,
                  .last = twist.series->newest(),
                  .about_twist = true};
}

Failure Forest::State::write_twist(const TwistName& name, Stamp at, const BodyTwist& given, const SampleBase* given_on) {
  const FrameId known_of = find_frame(name.of);
  const SourceId known_source = find_source(name.source);
  const BodyId known_reference = find_body(name.relative_to);
  TwistRecord* twist = known_of == kNone || known_source == kNone ? nullptr : find_twist(known_of, known_reference, known_source);
  if (twist != nullptr)
    if (Failure failure = too_old(*twist, at)) return failure;
  if (twist == nullptr) {
    const FrameId of = add_frame(name.of);
    if (known_reference == kNone) add_frame(name.relative_to);
    twist = &make_twist(of, name.relative_to, add_source(name.source));
  }
  if (gives_way(*twist, at, given, given_on)) return {};
  twist->insert(at, given, retired);
  twist->bases.set(at, given_on == nullptr ? base : *given_on);
  if (!taps.empty()) {
    std::array<double, Covariance::kPacked> side;
    if (given.covariance) given.covariance->pack(side);
    copy_to_taps(SampleKind::twist, twist->id, at, given_on, values_of(given.body_form),
                 given.covariance ? std::span<const double>(side) : std::span<const double>());
  }
  if (bodies_changed) publish(twist->of);
  on_twist_inserted(*twist, at);
  twist->watches.inserted(at);
  return {};
}

std::vector<std::string> Forest::rivals_of_twist(RelationId relation) const {
  const Guard guard(state_->lock);
  std::vector<std::string> names;
  const auto asked = state_->twists.find(relation);
  if (asked == state_->twists.end()) return names;
  const auto bodies_of = [&](const TwistRecord& twist) {
    return std::minmax({state_->rigid_body(twist.of), state_->rigid_body_of(twist.reference)});
  };
  std::map<RelationId, SourceId> in_order;  // of their first samples
  for (const auto& [id, twist] : state_->twists)
    if (bodies_of(*twist) == bodies_of(*asked->second)) in_order.emplace(id, twist->source);
  for (const auto& [id, source] : in_order)
    if (const std::string& name = state_->sources[source]; std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

}  // namespace armillary
