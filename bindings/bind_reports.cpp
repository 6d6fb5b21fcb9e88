// What a world reports about its content: frames, relations, samples, and all frames at once.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <vector>

#include "armillary/graph/forest_view.hpp"
#include "convert.hpp"
#include "gil.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

/// Gives frames the names by which people know them.
void label(const StoreCore& world, Sweep& sweep) {
  if (world.store->version()->frame_claims.empty()) return;
  std::string names;
  std::vector<std::uint32_t> ends;
  for (std::size_t i = 0; i < sweep.found.size(); ++i) {
    names += world.store->frame_label(std::string(sweep.name(i)));
    ends.push_back(static_cast<std::uint32_t>(names.size()));
  }
  sweep.names = std::move(names);
  sweep.name_ends = std::move(ends);
  for (Sweep::Missing& missing : sweep.missing) missing.name = world.store->frame_label(std::move(missing.name));
}

nb::object sweep(Self self, nb::handle in_frame, nb::handle at, nb::handle outside, nb::handle policy, nb::handle interpolation,
                 nb::handle hold_up_to_s) {
  if (!is_native_policy(policy))
    return by_policy(self, "sweep", "in_frame"_a = in_frame, "at"_a = at, "outside"_a = outside, "policy"_a = policy,
                     "interpolation"_a = interpolation, "hold_up_to_s"_a = hold_up_to_s);
  StoreCore& world = core(self);
  const QueryContext context = as_context(world, outside, policy, interpolation, hold_up_to_s);
  const FrameId id = frame_id(self, in_frame);
  const When when = as_when(at, "at");
  Sweep found = received(world, [&] { return without_gil([&] { return world.forest->snapshot(id, when, context); }); });
  label(world, found);
  return nb::cast(std::move(found));
}

nb::str text(std::string_view name) { return nb::str(name.data(), name.size()); }

nb::dict positions(const Sweep& sweep) {
  nb::dict by_name;
  for (std::size_t i = 0; i < sweep.found.size(); ++i) by_name[text(sweep.name(i))] = i;
  return by_name;
}

nb::list all_transforms(const Sweep& sweep) {
  nb::list all;
  for (const auto& answer : sweep.found) all.append(answer.transform);
  return all;
}

nb::object xyz_wxyz(const Sweep& sweep) {
  std::vector<double> values;
  values.reserve(7 * (sweep.found.size() + 1));
  for (const auto& answer : sweep.found) {
    const auto& [q, t] = answer.transform;
    values.insert(values.end(), {t.x, t.y, t.z, q.w, q.x, q.y, q.z});
  }
  return read_only_array(values.data(), {sweep.found.size(), 7});
}

bool any_held(const Sweep& sweep) {
  return std::any_of(sweep.found.begin(), sweep.found.end(), [](const auto& answer) { return answer.held; });
}

nb::tuple held_samples(const Sweep& sweep, Self world) {
  sync_catalog(core(world));
  return held_tuple(&sweep.held, core(world).catalog);
}

nb::dict missing(const Sweep& sweep, Self world, nb::handle in_frame) {
  nb::dict by_name;
  for (const auto& [name, failure] : sweep.missing)
    by_name[text(name)] = error_of(core(world), failure, text(name), in_frame, false);
  return by_name;
}

/// Which frames are where they are in another one at every instant, for as long as the structure stays.
nb::list are_one_place(Self self, nb::handle in_frame, nb::handle frames) {
  const Forest& forest = *core(self).forest;
  const FrameId here = forest.find_frame(frame_key(core(self), in_frame));
  std::vector<FrameId> ids;
  for (const nb::handle frame : frames) ids.push_back(forest.find_frame(frame_key(core(self), frame)));
  const ForestView view(forest);
  nb::list are;
  for (const FrameId id : ids) are.append(view.is_one_place(id, here));
  return are;
}

nb::dict parents(Self self, nb::handle at) {
  nb::dict by_name;
  const scene::Store& store = *core(self).store;
  for (const auto& [frame, parent, source] : core(self).forest->parents(as_when(at, "at"))) {
    const bool is_placed = !parent.empty();
    by_name[text(store.frame_label(frame))] =
        is_placed ? nb::object(nb::make_tuple(text(store.frame_label(parent)), text(store.source_label(source))))
                  : nb::object(nb::none());
  }
  return by_name;
}

const char* kind_text(ProviderKind kind) {
  switch (kind) {
    case ProviderKind::fixed:
      return "fixed";
    case ProviderKind::sampled:
      return "sampled";
    case ProviderKind::driven:
      return "driven";
    case ProviderKind::twist:
      return "twist";
    case ProviderKind::none:
      break;
  }
  return "none";
}

nb::tuple relations(Self self) {
  nb::list rows;
  const auto label = [&](const std::string& key) { return core(self).store->frame_label(key); };
  for (const RelationInfo& info : core(self).forest->relations()) {
    const bool sampled = info.samples > 0;
    rows.append(nb::make_tuple(label(info.of), label(info.in_frame), core(self).store->source_label(info.source),
                               info.integrated ? "integrated" : kind_text(info.kind), info.samples,
                               sampled ? stamp_or_none(info.coverage.first) : nb::none(),
                               sampled ? stamp_or_none(info.coverage.last) : nb::none(), log::name_of(info.interpolation)));
  }
  return nb::tuple(rows);
}

nb::tuple sample_arrays(Self self, RelationId relation, nb::handle start, nb::handle end) {
  const Stamp from = start.is_none() ? Stamp::always() : Stamp{as_stamp(start, "start")};
  const Stamp to = end.is_none() ? Stamp::never() : Stamp{as_stamp(end, "end")};
  const Forest& forest = *core(self).forest;
  return arrays_of(without_gil([&] { return forest.samples(relation, from, to); }));
}

nb::object relation_span(Self self, RelationId relation) {
  const std::optional<RelationInfo> info = core(self).forest->relation(relation);
  if (!info || info->samples == 0) return nb::none();
  return nb::make_tuple(stamp_or_none(info->coverage.first), stamp_or_none(info->coverage.last));
}

}  // namespace

void bind_world_reports(nb::module_& m, nb::class_<StoreCore>& world) {
  static const std::string sweep_sig =
      signature("def sweep(self, *, in_frame: str | NodeId, at: int | Latest = LATEST", "SweepAnswer");
  world
      .def("sweep", &sweep, nb::kw_only(), "in_frame"_a, "at"_a = latest(), "outside"_a.none() = words().raise,
           "policy"_a.none() = words().unique, "interpolation"_a = nb::none(), "hold_up_to_s"_a = nb::none(),
           nb::sig(sweep_sig.c_str()))
      .def(
          "frames", [](Self self) { return nb::tuple(nb::cast(frame_labels(core(self), core(self).forest->frame_names()))); },
          nb::sig("def frames(self) -> tuple[str, ...]"), "Names of all frames, in the order they came.")
      .def(
          "has_frame",
          [](Self self, nb::handle name) { return core(self).forest->find_frame(frame_key(core(self), name)) != kNone; },
          "name"_a, nb::sig("def has_frame(self, name: str | NodeId) -> bool"))
      .def(
          "frame_key", [](Self self, nb::handle name) { return frame_key(core(self), name); }, "name"_a,
          nb::sig("def frame_key(self, name: str | NodeId) -> str"),
          "The name by which records know a frame: that of a node's frame is the id of the node.")
      .def(
          "frame_label", [](Self self, nb::handle name) { return frame_label(core(self), name); }, "name"_a,
          nb::sig("def frame_label(self, name: str | NodeId) -> str"),
          "The name by which people know a frame. What no frame has stays as it is.")
      .def(
          "node_of_frame",
          [](Self self, nb::handle name) {
            const std::string key = frame_key(core(self), name);
            const std::optional<NodeId> node = NodeId::parse(std::string_view(key).substr(0, key.find('/')));
            return node ? nb::cast(*node) : nb::none();
          },
          "name"_a, nb::sig("def node_of_frame(self, name: str | NodeId) -> NodeId | None"),
          "The node that made a frame; None where it is no frame of a node.")
      .def("relation_rows", &relations,
           nb::sig("def relation_rows(self) -> tuple[tuple[str, str, str, str, int, int | None, int | None, str], ...]"))
      .def(
          "relation_id",
          [](Self self, nb::handle of, nb::handle in_frame, nb::handle source) {
            const FrameId id = frame_id(self, of), other = frame_id(self, in_frame);
            const Forest& forest = *core(self).forest;
            const RelationId plain = PyUnicode_Check(source.ptr()) ? forest.find_relation(id, other, text_of(source)) : kNone;
            return plain == kNone ? forest.find_relation(id, other, source_key(core(self), id, source)) : plain;
          },
          "of"_a, "in_frame"_a, "source"_a,
          nb::sig("def relation_id(self, of: str | NodeId, in_frame: str | NodeId, source: str | NodeId) -> int"))
      .def(
          "twist_relation_id",
          [](Self self, nb::handle of, nb::handle relative_to, nb::handle source) {
            const std::string key = frame_key(core(self), of), other = frame_key(core(self), relative_to);
            return core(self).forest->find_twist({key, other, text_of(source)});
          },
          "of"_a, "relative_to"_a, "source"_a,
          nb::sig("def twist_relation_id(self, of: str | NodeId, relative_to: str | NodeId, source: str) -> int"))
      .def("relation_span", &relation_span, "relation"_a,
           nb::sig("def relation_span(self, relation: int) -> tuple[int, int] | None"),
           "The first and the last instant of the samples of a relation; None where it has none.")
      .def("sample_rows", &sample_arrays, "relation"_a, "start"_a.none(), "end"_a.none(),
           nb::sig("def sample_rows(self, relation: int, start: int | None, end: int | None) -> tuple[NDArray[int64], "
                   "NDArray[float64], NDArray[float64] | None]"))
      .def(
          "moves_after",
          [](Self self, nb::handle at) {
            std::vector<std::int64_t> moves;
            for (const Stamp move : core(self).forest->moves_after(at.is_none() ? Stamp::always() : Stamp{as_stamp(at, "at")}))
              moves.push_back(move.ns);
            return moves;
          },
          "at"_a.none(), nb::sig("def moves_after(self, at: int | None) -> list[int]"))
      .def(
          "frames_changed", [](Self self) { return core(self).forest->frames_changed(); },
          "How many frames were published until now, each as often as it was.")
      .def(
          "frames_changed_since",
          [](Self self, std::uint64_t number) {
            return without_gil([&] { return core(self).forest->frames_changed_since(number); });
          },
          "number"_a, nb::sig("def frames_changed_since(self, number: int) -> list[str] | None"),
          "The frames that were published since, and all that are or were below them, by key; None: that is forgotten.")
      .def("are_one_place", &are_one_place, "in_frame"_a, "frames"_a,
           nb::sig("def are_one_place(self, in_frame: str | NodeId, frames: Sequence[str]) -> list[bool]"))
      .def("parents", &parents, "at"_a, nb::sig("def parents(self, at: int | Latest) -> dict[str, tuple[str, str] | None]"));
  nb::class_<Sweep>(m, "SweepAnswer", "What one sweep over all frames found.")
      .def("__len__", [](const Sweep& a) { return a.found.size(); })
      .def("positions", &positions, nb::sig("def positions(self) -> dict[str, int]"), "Name to row.")
      .def("missing", &missing, "store"_a, "in_frame"_a,
           nb::sig("def missing(self, world: StoreCore, in_frame: str | NodeId) -> dict[str, ArmillaryError]"),
           "Name to the reason.")
      .def("xyz_wxyz", &xyz_wxyz, nb::sig("def xyz_wxyz(self) -> NDArray[float64]"), "(N, 7), all rows.")
      .def("any_held", &any_held)
      .def("held_samples", &held_samples, "world"_a,
           nb::sig("def held_samples(self, world: StoreCore) -> tuple[HeldSample, ...]"), "What was held for any of the rows.")
      .def("transforms", &all_transforms, nb::sig("def transforms(self) -> list[Transform]"), "Of all rows.")
      .def(
          "transform", [](const Sweep& a, std::size_t row) { return a.found.at(row).transform; }, "row"_a)
      .def(
          "stamp", [](const Sweep& a, std::size_t row) { return stamp_or_none(a.found.at(row).stamp); }, "row"_a,
          nb::sig("def stamp(self, row: int) -> int | None"))
      .def(
          "held", [](const Sweep& a, std::size_t row) { return a.found.at(row).held; }, "row"_a)
      .def("predicted", [](const Sweep& a, std::size_t row) { return a.found.at(row).predicted; }, "row"_a);
}

}  // namespace armillary::python
