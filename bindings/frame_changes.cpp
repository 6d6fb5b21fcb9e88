#include "frame_changes.hpp"

#include "convert.hpp"
#include "gil.hpp"
#include "raise.hpp"
#include "scene_store.hpp"

namespace armillary::python {

using scene::ChangeRequest;
using scene::Outcome;

namespace {

template <typename Apply>
Outcome applied(Self self, const Apply& apply, Gil gil) {
  if (gil == Gil::kept) return with_changes(self, apply);
  scene::Store& store = *core(self).store;
  return without_gil([&] { return apply(store); });
}

/// Python runs the change under the lock that orders notifications, and notifies the observers after it.
template <typename Apply>
Outcome applied_and_observed(Self self, const Apply& apply, Gil gil) {
  Outcome outcome;
  const nb::object run = nb::cpp_function([&]() -> nb::object {
    outcome = applied(self, apply, gil);
    return outcome.changes.empty() ? nb::none() : change_object(outcome.changes.front());
  });
  (void)core(self).upcalls.notify(self, run);
  return outcome;
}

template <typename Apply>
Failure change(Self self, const Apply& apply, Gil gil) {
  StoreCore& world = core(self);
  Outcome outcome = world.is_observed ? applied_and_observed(self, apply, gil) : applied(self, apply, gil);
  if (outcome.frames_went) {
    ++world.edits;
    forget_names(world);
  }
  if (outcome.refusal && outcome.refusal.fault != scene::Fault::frames) raise_refusal(self, outcome.refusal);
  return std::move(outcome.refusal.failure);
}

std::int64_t now_ns(Self self) { return as_stamp(now_of(self), "what the clock tells"); }

}  // namespace

ChangeRequest request_for(log::Payload payload) {
  ChangeRequest request;
  request.change.payload = std::move(payload);
  return request;
}

Failure change_frames(Self self, ChangeRequest request, bool for_undo, Gil gil) {
  const std::int64_t now = now_ns(self);
  request.change.at = Stamp{now};
  std::vector<ChangeRequest> requests;
  requests.push_back(std::move(request));
  const auto apply = [&](scene::Store& store) { return store.apply(std::move(requests), now, for_undo); };
  return change(self, apply, gil);
}

Failure change_frames(Self self, const std::function<Result<ChangeRequest>()>& make) {
  const std::int64_t now = now_ns(self);
  const auto apply = [&](scene::Store& store) {
    const scene::Store::Hold hold(store);
    Result<ChangeRequest> made = make();
    if (!made) return Outcome{.refusal = {.fault = scene::Fault::frames, .failure = std::move(made.failure)}};
    made.value.change.at = Stamp{now};
    std::vector<ChangeRequest> requests;
    requests.push_back(std::move(made.value));
    return store.apply(std::move(requests), now);
  };
  return change(self, apply, Gil::kept);
}

Failure add_samples(Self self, const scene::RelationName& relation, Stamp since, const std::function<Failure()>& write,
                    const std::function<FrameEdit()>& first, Gil gil) {
  if (with_changes(self, [&](scene::Store& store) { return store.expects_samples(relation); })) {
    Failure failure = gil == Gil::kept ? write() : without_gil(write);
    note_moves(self);
    return failure;
  }
  ChangeRequest request = request_for(log::Assert{
      .track = {log::TrackKind::pose, relation.of, relation.source}, .since = since, .value = log::Sampled{relation.in_frame}});
  request.first_samples.push_back(first());
  return change_frames(self, std::move(request), true, gil);
}

namespace {

std::optional<log::Slot> samples_slot(Self self, const scene::RelationName& relation) {
  return with_changes(self, [&](scene::Store& store) { return store.samples_slot(relation); });
}

bool is_chosen(const std::optional<log::Slot>& slot, SampleInterpolation interpolation) {
  return slot && std::get<log::Sampled>(slot->payload->value).interpolation == interpolation;
}

log::Assert interpolated(const scene::RelationName& relation, const std::optional<log::Slot>& slot, Stamp since,
                         SampleInterpolation interpolation) {
  const bool has_begin = slot && slot->since != Stamp::always();
  return {.track = {log::TrackKind::pose, relation.of, relation.source},
          .since = has_begin ? slot->since : since,
          .value = log::Sampled{relation.in_frame, interpolation}};
}

}  // namespace

bool has_interpolation(Self self, const scene::RelationName& relation, SampleInterpolation interpolation) {
  return is_chosen(samples_slot(self, relation), interpolation);
}

Failure add_interpolated(Self self, const scene::RelationName& relation, SampleInterpolation interpolation, Stamp since,
                         FrameEdit samples, Gil gil) {
  ChangeRequest request = request_for(interpolated(relation, samples_slot(self, relation), since, interpolation));
  request.first_samples.emplace_back(AwaitSamples{relation.of, relation.in_frame, relation.source, since, interpolation});
  request.first_samples.push_back(std::move(samples));
  Failure failure = change_frames(self, std::move(request), true, gil);
  return failure ? std::move(failure) : choose_interpolation(self, relation, since, interpolation, false);
}

void note_moves(Self self) {
  if (core(self).forest->has_moves()) with_changes(self, [](scene::Store& store) { store.note_moves(); });
}

Failure choose_interpolation(Self self, const scene::RelationName& relation, Stamp since, SampleInterpolation interpolation,
                             bool for_undo) {
  std::optional<log::Slot> slot = samples_slot(self, relation);
  Failure failure;
  constexpr int kMostSlots = 16;  // that several replicas may have written
  for (int i = 0; i < kMostSlots && !failure && !is_chosen(slot, interpolation); ++i, slot = samples_slot(self, relation))
    failure = change_frames(self, request_for(interpolated(relation, slot, since, interpolation)), for_undo && i == 0);
  return failure;
}

SampleInterpolation as_sample_interpolation(nb::handle name) {
  for (const SampleInterpolation known : {SampleInterpolation::linear, SampleInterpolation::screw, SampleInterpolation::step})
    if (PyUnicode_Check(name.ptr()) && PyUnicode_CompareWithASCIIString(name.ptr(), log::name_of(known)) == 0) return known;
  raise("InvalidArgument", "interpolation of a relation must be 'linear', 'screw' or 'step', got " + shown(name) + ".", name);
}

log::Assert fixed_assertion(const scene::RelationName& relation, Stamp since, const FixedPose& pose, bool recalibrate) {
  log::Change change{.payload = log::Assert{.track = {log::TrackKind::pose, relation.of, relation.source},
                                            .since = since,
                                            .value = log::Fixed{relation.in_frame, std::make_shared<const FixedPose>(pose)},
                                            .recalibrate = recalibrate}};
  log::make_canonical(change);
  return std::get<log::Assert>(std::move(change.payload));
}

}  // namespace armillary::python
