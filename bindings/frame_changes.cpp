#include "frame_changes.hpp"

#include "convert.hpp"
#include "gil.hpp"
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
    return failure ? nb::none() : change_object(recorded);
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
  if (with_changes(self, [&](scene::Store& store) { return store.knows_relation(relation); }))
    return gil == Gil::kept ? write() : without_gil(write);
  log::Assert payload{
      .track = {log::TrackKind::pose, relation.of, relation.source}, .since = since, .value = log::Sampled{relation.in_frame}};
  return change_frames(self, std::move(payload), false, [&](log::Payload&) { return write(); }, gil);
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
