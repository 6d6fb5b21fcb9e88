#include "frame_changes.hpp"

#include "convert.hpp"
#include "gil.hpp"
#include "raise.hpp"
#include "scene_store.hpp"

namespace armillary::python {

using log::ChangePtr;

namespace {

Failure record(Self self, log::Payload payload, std::int64_t now_ns, bool for_undo, const Act& act, Gil gil,
               ChangePtr* recorded = nullptr) {
  if (gil == Gil::kept)
    return with_changes(self,
                        [&](scene::Store& store) { return store.record(std::move(payload), now_ns, act, for_undo, recorded); });
  scene::Store& store = *core(self).store;
  return without_gil([&] { return store.record(std::move(payload), now_ns, act, for_undo, recorded); });
}

/// Python runs the change under the lock that orders notifications, and notifies the observers after it.
Failure change_observed(Self self, log::Payload payload, std::int64_t now_ns, bool for_undo, const Act& act, Gil gil) {
  Failure failure;
  const nb::object run = nb::cpp_function([&]() -> nb::object {
    ChangePtr recorded;
    failure = record(self, std::move(payload), now_ns, for_undo, act, gil, &recorded);
    return recorded ? change_object(recorded) : nb::none();
  });
  (void)core(self).upcalls.notify(self, run);
  return failure;
}

}  // namespace

Failure change_frames(Self self, log::Payload payload, bool for_undo, const Act& act, Gil gil) {
  const nb::object now = now_of(self);
  const std::int64_t now_ns = as_stamp(now, "what the clock tells");
  const std::uint64_t vanished = core(self).store->vanished();
  Failure failure = core(self).is_observed ? change_observed(self, std::move(payload), now_ns, for_undo, act, gil)
                                           : record(self, std::move(payload), now_ns, for_undo, act, gil);
  if (core(self).store->vanished() == vanished) return failure;
  ++core(self).edits;
  forget_names(core(self));  // some are gone
  return failure;
}

Failure add_samples(Self self, const scene::RelationName& relation, Stamp since, const std::function<Failure()>& write, Gil gil) {
  if (with_changes(self, [&](scene::Store& store) { return store.expects_samples(relation); })) {
    Failure failure = gil == Gil::kept ? write() : without_gil(write);
    note_moves(self);
    return failure;
  }
  log::Assert payload{
      .track = {log::TrackKind::pose, relation.of, relation.source}, .since = since, .value = log::Sampled{relation.in_frame}};
  return change_frames(self, std::move(payload), true, [&](log::Payload&) { return write(); }, gil);
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

Failure add_interpolated(Self self, const scene::RelationName& relation, SampleInterpolation interpolation,
                         const std::vector<PlaceSample>& samples, Gil gil) {
  const Stamp since = samples.front().at;
  std::vector<FrameEdit> edits{AwaitSamples{relation.of, relation.in_frame, relation.source, since, interpolation}};
  edits.insert(edits.end(), samples.begin(), samples.end());
  const auto act = [&](log::Payload&) {
    Failure failure = core(self).forest->transact(edits, nullptr);
    if (failure && failure->row > 0) failure->row = failure->row - 1;
    return failure;
  };
  Failure failure =
      change_frames(self, interpolated(relation, samples_slot(self, relation), since, interpolation), true, act, gil);
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
  for (int i = 0; i < kMostSlots && !failure && !is_chosen(slot, interpolation); ++i, slot = samples_slot(self, relation)) {
    const auto act = [&](log::Payload&) {
      return core(self).forest->add_relation({relation.of, relation.in_frame, relation.source}, since, interpolation);
    };
    failure = change_frames(self, interpolated(relation, slot, since, interpolation), for_undo && i == 0, act);
  }
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
