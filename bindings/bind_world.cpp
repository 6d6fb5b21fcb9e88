#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "convert.hpp"
#include "frame_changes.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "scene_store.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

/// A source of a frame: the world's own name where none is given; a parent by its name or its id.
std::string chosen_source(Self self, FrameId of, nb::handle source) {
  const nb::object given = nb::isinstance<NodeId>(source) ? nb::borrow(source) : source_of(self, source);
  return source_key(core(self), of, given);
}

/// Fails where a source neither places a frame nor measures how its body moves.
void check_source(Self self, nb::handle of, nb::handle source) {
  const FrameId id = frame_id(self, of);
  const Failure failure = core(self).forest->check_source(id, chosen_source(self, id, source));
  if (failure) raise_failure(core(self), failure, of, of);
}

nb::str source_text(Self self, nb::handle of, nb::handle source) {
  const std::string key = chosen_source(self, core(self).forest->find_frame(frame_key(core(self), of)), source);
  return nb::str(key.c_str(), key.size());
}

nb::object holder(Self self, nb::handle of, nb::handle at) {
  const std::optional<std::string> source = core(self).forest->holder(frame_id(self, of), Stamp{as_stamp(at, "at")});
  return source ? nb::object(nb::str(source->c_str(), source->size())) : nb::none();
}

void prefer(Self self, nb::handle of, nb::handle source, nb::handle start, nb::handle end) {
  StoreCore& world = core(self);
  const FrameId id = frame_id(self, of);
  std::optional<std::string> chosen;
  if (!source.is_none()) chosen = chosen_source(self, id, source);
  log::Prefer payload{.subject = {log::Subject::Kind::frame, world.forest->frame_name(id)}, .source = chosen};
  if (!start.is_none()) payload.start = Stamp{as_stamp(start, "start")};
  if (!end.is_none()) payload.end = Stamp{as_stamp(end, "end")};
  if (payload.end <= payload.start)
    raise("InvalidArgument", "A preference ends after it begins: end must be later than start.", end);
  const Failure failure = change_frames(self, request_for(std::move(payload)));
  if (failure) raise_failure(world, failure, of, of);
  ++world.edits;
  resolve_pending(self);
}

void add_frame(Self self, nb::args names) {
  std::vector<nb::object> checked;
  for (nb::handle name : names) checked.push_back(nb::object(core(self).upcalls.declare_name(self, name)));
  const Forest& forest = *core(self).forest;
  log::SetFrames added;
  for (const nb::object& name : checked)
    if (forest.find_frame(text_of(name)) == kNone) added.names.emplace_back(text_of(name));
  if (added.names.empty()) return;
  (void)change_frames(self, request_for(std::move(added)));
  for (const nb::object& name : checked) remember(core(self), name);
}

Interpolation interpolation_of(const std::string& kind) {
  if (kind != "linear" && kind != "screw")
    raise("InvalidArgument", "interpolation must be 'linear' or 'screw', got '" + kind + "'.", nb::str(kind.c_str()));
  return kind == "linear" ? Interpolation::linear : Interpolation::screw;
}

Retention retention_from(std::int64_t history_ns, std::size_t max_samples, double thin_m, double thin_rad) {
  return {{history_ns}, max_samples, thin_m, thin_rad};
}

void init(StoreCore* self, nb::str name, std::int64_t history_ns, std::size_t max_samples, std::size_t max_runs,
          std::size_t max_sources, std::size_t max_waits, std::size_t max_paths, double thin_m, double thin_rad,
          nb::handle default_covariance, const std::string& interpolation, std::int64_t max_ahead_ns,
          std::int64_t rival_timeout_ns, std::int64_t predict_up_to_ns, std::int64_t hold_up_to_ns, nb::handle process_noise,
          const std::string& root_frame, std::size_t max_changes, std::size_t max_undo, std::uint8_t authority,
          std::uint64_t replica_id, nb::handle upcalls) {
  ForestOptions options;
  options.rival_timeout = {rival_timeout_ns};
  options.prediction.horizon = {predict_up_to_ns};
  if (!process_noise.is_none()) options.prediction.noise_per_s = as_covariance(process_noise, "process_noise");
  options.retention = retention_from(history_ns, max_samples, thin_m, thin_rad);
  options.max_runs = max_runs;
  options.max_sources = max_sources;
  options.max_waits = max_waits;
  options.max_paths = max_paths;
  if (!default_covariance.is_none()) options.default_covariance = as_covariance(default_covariance, "default_covariance");
  Upcalls functions(upcalls);
  new (self) StoreCore();
  self->upcalls = std::move(functions);
  self->defaults.interpolation = interpolation_of(interpolation);
  if (hold_up_to_ns >= 0) self->defaults.hold_up_to = {hold_up_to_ns};
  self->forest = std::make_shared<Forest>(std::move(options));
  self->defaults.demands = &self->forest->demands();
  self->own_name = name;
  self->max_ahead_ns = max_ahead_ns;
  scene::StoreOptions kept{.author = std::string(text_of(name)),
                           .root_frame = root_frame,
                           .history = {history_ns},
                           .max_removed = max_changes,
                           .max_undo = max_undo,
                           .replica_id = replica_id,
                           .max_runs = max_runs,
                           .authority = authority};
  self->store = std::make_shared<scene::Store>(self->forest, std::move(kept));
}

void become(Self self, Self other) {
  StoreCore& twin = core(self);
  const std::uint64_t replica_id = twin.store->options().replica_id;
  twin.store = with_changes(other, [&](const scene::Store& store) {  // frames and changes of one moment
    twin.forest->become(*core(other).forest);
    return std::make_shared<scene::Store>(store, twin.forest, replica_id);
  });
  twin.bodies = nb::list();
  sync_bodies(twin);
  twin.catalogued = 0;
  twin.catalog = nb::dict();
  sync_catalog(twin);
}

nb::tuple retention_tuple(Self self, RelationId relation) {
  const Retention kept = core(self).forest->retention_of(relation);
  return nb::make_tuple(kept.history.ns, kept.max_samples, kept.thin_m, kept.thin_rad);
}

int traverse_face(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<WorldFace>(self)->store.ptr());
  return 0;
}

int clear_face(PyObject* self) {
  nb::inst_ptr<WorldFace>(self)->store.reset();
  return 0;
}

PyType_Slot face_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse_face)}, {Py_tp_clear, reinterpret_cast<void*>(clear_face)}, {0, nullptr}};

}  // namespace

Self::Self(nb::handle given) {
  static PyTypeObject* const face = reinterpret_cast<PyTypeObject*>(nb::type<WorldFace>().ptr());
  static PyTypeObject* const store = reinterpret_cast<PyTypeObject*>(nb::type<StoreCore>().ptr());
  const bool is_world = PyObject_TypeCheck(given.ptr(), face) != 0;
  if (!is_world && PyObject_TypeCheck(given.ptr(), store) == 0) return;
  if (!nb::inst_ready(given)) {
    const char* what = is_world ? "World" : "store";
    raise("InvalidArgument", std::string("This ") + what + " was not initialised: call super().__init__() first.");
  }
  const WorldFace* world = is_world ? nb::inst_ptr<WorldFace>(given) : nullptr;
  nb::handle::operator=(is_world ? nb::handle(world->store) : given);
  core_ = is_world ? world->core : nb::inst_ptr<StoreCore>(given);
}

void bind_world(nb::module_& m) {
  nb::class_<WorldFace> face(m, "WorldFace", nb::type_slots(face_slots),
                             "The native base of World: it forwards the calls made most to a Store.");
  face.def(
          "__init__", [](WorldFace* self, Self store) { new (self) WorldFace{nb::borrow(store), &core(store)}; }, "store"_a,
          nb::sig("def __init__(self, store: StoreCore) -> None"))
      .def_prop_ro(
          "store", [](nb::handle self) { return nb::borrow(Self(self)); }, nb::sig("def store(self) -> Store"),
          "What holds everything: transports, recorders and viewers are written against it.");
  nb::class_<StoreCore> world(m, "StoreCore", "The native base of armillary.store.Store.");
  world
      .def("__init__", &init, nb::kw_only(), "name"_a, "history_ns"_a, "max_samples"_a, "max_runs"_a, "max_sources"_a,
           "max_waits"_a, "max_paths"_a, "thin_m"_a, "thin_rad"_a, "default_covariance"_a.none(), "interpolation"_a,
           "max_ahead_ns"_a, "rival_timeout_ns"_a, "predict_up_to_ns"_a, "hold_up_to_ns"_a, "process_noise"_a.none(),
           "root_frame"_a, "max_changes"_a, "max_undo"_a, "authority"_a, "replica_id"_a, "upcalls"_a,
           nb::sig("def __init__(self, *, name: str, history_ns: int, max_samples: int, max_runs: int, max_sources: int, "
                   "max_waits: int, "
                   "max_paths: int, thin_m: "
                   "float, thin_rad: float, default_covariance: ArrayLike | None, interpolation: str, max_ahead_ns: int, "
                   "rival_timeout_ns: int, "
                   "predict_up_to_ns: int, hold_up_to_ns: int, "
                   "process_noise: ArrayLike | None, root_frame: str, max_changes: int, max_undo: int, "
                   "authority: int, replica_id: int, upcalls: object) -> None"))
      .def(
          "newest_stamp",
          [](Self self) -> nb::object {
            const Stamp newest = core(self).forest->newest_stamp();
            return newest == Stamp::always() ? nb::none() : nb::object(nb::int_(newest.ns));
          },
          nb::sig("def newest_stamp(self) -> int | None"), "The newest stamp of all samples [ns]; None where there are none.")
      .def("check_source", &check_source, "of"_a, "source"_a.none(),
           nb::sig("def check_source(self, of: str | NodeId, source: str | NodeId | None) -> None"),
           "Raise UnknownSource where a source neither places a frame nor measures how its body moves.")
      .def("source_key", &source_text, "of"_a, "source"_a.none(),
           nb::sig("def source_key(self, of: str | NodeId, source: str | NodeId | None) -> str"),
           "A source of a frame as records have it: a parent is given by its name or its id, and stored by its id.")
      .def("holder", &holder, "of"_a, "at"_a, nb::sig("def holder(self, of: str | NodeId, at: int) -> str | None"),
           "The source whose placement of a frame ends when the frame is released at `at`; None where nobody places it.")
      .def("prefer", &prefer, nb::kw_only(), "of"_a, "source"_a.none(), "start"_a = nb::none(), "end"_a = nb::none(),
           nb::sig("def prefer(self, *, of: str | NodeId, source: str | NodeId | None, start: int | None = None, end: int | "
                   "None = None) -> None"),
           "Settle which of several sources every query believes about a frame; None takes it back.")
      .def("add_frame", &add_frame, nb::sig("def add_frame(self, *names: str) -> None"),
           "Make frames known before anything is said of them.")
      .def(
          "clear", [](Self self) { core(self).forest->clear(); }, "Forget all samples. Structure and fixed poses stay.")
      .def(
          "frames_digest",
          [](Self self) { return hex(with_changes(self, [&](scene::Store& store) { return store.frames_digest(); })); },
          "Over all that was said of frames beside the nodes of the scene.")
      .def(
          "is_named",
          [](Self self, const std::string& name) {
            return with_changes(self, [&](scene::Store& store) { return store.is_named(store.frame_key(name)); });
          },
          "name"_a)
      .def_prop_ro(
          "time_epoch", [](Self self) { return with_changes(self, [&](scene::Store& store) { return store.time_epoch(); }); },
          "How often time was reset.")
      .def(
          "set_observed", [](Self self, bool is_observed) { core(self).is_observed = is_observed; }, "is_observed"_a)
      .def(
          "subtree",
          [](Self self, nb::handle name) { return frame_labels(core(self), core(self).forest->subtree(frame_id(self, name))); },
          "name"_a, nb::sig("def subtree(self, name: str) -> list[str]"), "A frame, and all that is or was placed under it.")
      .def("copy_from", &become, "other"_a, nb::sig("def copy_from(self, other: StoreCore) -> None"))
      .def(
          "fixed_poses",
          [](Self self) {
            nb::list found;
            for (const FixedInfo& info : core(self).forest->fixed_poses()) {
              const bool is_known = info.pose.certainty == Certainty::known;
              found.append(nb::make_tuple(core(self).store->frame_label(info.of), core(self).store->frame_label(info.in_frame),
                                          info.source, stamp_or_none(info.from), info.pose.value,
                                          is_known ? read_only_array(info.pose.covariance.values.data(), {6, 6}) : nb::none(),
                                          info.pose.certainty == Certainty::unknown));
            }
            return found;
          },
          nb::sig("def fixed_poses(self) -> list[tuple[str, str, str, int | None, Transform, NDArray[float64] | None, bool]]"))
      .def("structure_number", [](Self self) { return core(self).edits; })
      .def(
          "keep_relation",
          [](Self self, RelationId relation, std::int64_t history_ns, std::size_t max_samples, double thin_m, double thin_rad) {
            core(self).forest->keep(relation, retention_from(history_ns, max_samples, thin_m, thin_rad));
          },
          "relation"_a, "history_ns"_a, "max_samples"_a, "thin_m"_a, "thin_rad"_a)
      .def("retention", &retention_tuple, "relation"_a,
           nb::sig("def retention(self, relation: int) -> tuple[int, int, float, float]"))
      .def_prop_ro(
          "name", [](Self self) { return core(self).own_name; }, nb::sig("def name(self) -> str"),
          "The source of what is said without a source.");
  bind_world_writing(world, face);
  bind_world_twists(world, face);
  bind_world_twist_writing(world, face);
  bind_world_queries(world, face);
  bind_world_variables(world, face);
  bind_world_reports(m, world);
  bind_world_candidates(m, world);
  bind_world_waits(m, world);
  bind_world_changes(world);
  bind_sample_tap(m, world);
  bind_demands(m, world);
}

}  // namespace armillary::python
