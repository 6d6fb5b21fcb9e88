#include <nanobind/stl/string.h>

#include <charconv>

#include "armillary/log/change.hpp"
#include "armillary/log/resolve.hpp"
#include "convert.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "scene_store.hpp"
#include "scene_values.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;
using log::ChangePtr;

namespace {

// The log and what it resolves to: for tests, until the store is built on them.

/// What a log resolved to, with the log itself: attributes are read there.
struct Resolved {
  const log::ChangeLog* log;
  log::ResolvedTopology topology;
};

nb::tuple dot_tuple(const log::Dot& dot) { return nb::make_tuple(log::author_text(dot.author), dot.sequence); }

std::uint64_t author_from(nb::handle text) {
  const std::string_view digits = text_of(text);
  std::uint64_t author = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), author, 16);
  return author;
}

log::HybridTimestamp time_from(nb::handle wall, nb::handle count) {
  return {nb::cast<std::int64_t>(wall), nb::cast<std::uint32_t>(count)};
}

log::SampleRow row_from(const nb::dict& row) {
  log::SampleRow out{.stamp = {nb::cast<std::int64_t>(row["stamp"])},
                     .author = author_from(row["author"]),
                     .rewrites = nb::cast<std::uint32_t>(row["rewrites"]),
                     .base = time_from(row["base"][0], row["base"][1])};
  if (row.contains("in_frame")) out.in_frame = nb::cast<std::string>(row["in_frame"]);
  if (const nb::object epoch = row["epoch"]; !epoch.is_none())
    out.epoch = log::Signature{time_from(epoch[0], epoch[1]),
                               nb::cast<std::uint8_t>(epoch[2]),
                               {author_from(epoch[3]), nb::cast<std::uint64_t>(epoch[4])}};
  return out;
}

log::Samples samples_from(const nb::list& rows) {
  log::Samples samples;
  for (nb::handle item : rows) {
    const auto row = nb::borrow<nb::dict>(item);
    if (row.contains("node")) {
      const nb::object at = row["incarnation"];
      const log::Incarnation incarnation{
          time_from(at[0], at[1]), nb::cast<std::uint8_t>(at[2]), {author_from(at[3]), nb::cast<std::uint64_t>(at[4])}};
      samples.nodes[{*NodeId::parse(text_of(row["node"])), incarnation}].push_back(row_from(row));
    } else {
      const nb::object track = row["track"];
      const bool is_twist = text_of(track[0]) == "twist";
      samples
          .tracks[{is_twist ? log::TrackKind::twist : log::TrackKind::pose, nb::cast<std::string>(track[1]),
                   nb::cast<std::string>(track[2])}]
          .push_back(row_from(row));
    }
  }
  return samples;
}

/// Track, parent, provider, id of the record, rank, whether it has a value there, and whether it would close a cycle.
nb::list pieces_at(const Resolved& self, std::int64_t at) {
  nb::list found;
  for (const auto& [track, pieces] : self.topology.tracks)
    for (const log::Piece& piece : pieces)
      if (piece.when.contains({at}))
        found.append(nb::make_tuple(nb::make_tuple(log::name_of(track.kind), track.of, track.source), piece.parent,
                                    log::name_of(piece.provider), dot_tuple(piece.record->id), log::name_of(piece.rank),
                                    piece.holds({at}), piece.cut.contains({at})));
  return found;
}

nb::list inactive_at(const Resolved& self, std::int64_t at) {
  nb::list found;
  for (const log::Inactive& row : self.topology.inactive)
    if (row.when.contains({at})) found.append(nb::make_tuple(dot_tuple(row.id), log::name_of(row.reason)));
  return found;
}

/// Living nodes by id: what each is, its frame, its parents and its attributes.
nb::dict nodes_at(const Resolved& self, std::int64_t at) {
  nb::dict found;
  for (const auto& [id, node] : self.topology.nodes)
    for (const log::NodeIncarnation& one : node.incarnations) {
      if (!node.alive.contains({at}) || !one.current.contains({at})) continue;
      nb::list parents;
      for (const NodeId& parent : self.topology.parents(id, {at})) parents.append(parent.text());
      nb::dict attributes;
      for (const auto& [key, value] : log::attributes_at(*self.log, id, one.incarnation, {at}))
        attributes[text_object(key)] = attribute_object(value);
      const char* kind = log::name_of(std::get<log::AddNode>(one.head->payload).kind);
      found[text_object(id.text())] = nb::make_tuple(kind, one.frame, parents, attributes);
    }
  return found;
}

nb::dict preferences_at(const Resolved& self, std::int64_t at) {
  nb::dict found;
  for (const auto& [subject, steps] : self.topology.preferences)
    for (const log::PreferenceStep& step : steps)
      if (step.when.contains({at}))
        found[nb::make_tuple(subject.kind == log::Subject::Kind::frame ? "frame" : "variable", subject.name)] =
            text_object(step.source);
  return found;
}

template <typename Names>
nb::list names_list(const Names& names) {
  nb::list list;
  for (const std::string& name : names) list.append(text_object(name));
  return list;
}

nb::dict text_dict(const std::map<std::string, std::string>& texts) {
  nb::dict dict;
  for (const auto& [key, value] : texts) dict[text_object(key)] = text_object(value);
  return dict;
}

nb::dict variables_of(const Resolved& self) {
  nb::dict dict;
  for (const auto& [name, kind] : self.topology.variables) dict[text_object(name)] = log::name_of(kind);
  return dict;
}

nb::dict held_by(const log::ChangeLog& self) {
  nb::dict dict;
  for (const auto& [author, ranges] : self.held().entries()) {
    nb::list parts;
    for (const auto& [first, last] : ranges) parts.append(nb::make_tuple(first, last));
    dict[text_object(log::author_text(author))] = nb::tuple(parts);
  }
  return dict;
}

nb::list records_of(const log::ChangeLog& self) {
  nb::list list;
  for (const ChangePtr& record : self.records()) list.append(nb::cast(ChangeRecord{record}));
  return list;
}

}  // namespace

void bind_log(nb::module_& m) {
  nb::class_<Resolved>(m, "ResolvedTopology", "What a change log means: which assertions hold, and when.")
      .def_prop_ro(
          "frames", [](const Resolved& self) { return names_list(self.topology.frames); },
          nb::sig("def frames(self) -> list[str]"), "Frames that exist.")
      .def_prop_ro(
          "bodies", [](const Resolved& self) { return names_list(self.topology.bodies); },
          nb::sig("def bodies(self) -> list[str]"), "Declared bodies.")
      .def_prop_ro(
          "on", [](const Resolved& self) { return text_dict(self.topology.on); }, nb::sig("def on(self) -> dict[str, str]"),
          "The declared body of each frame that is on one.")
      .def_prop_ro(
          "moves_with", [](const Resolved& self) { return text_dict(self.topology.moves_with); },
          nb::sig("def moves_with(self) -> dict[str, str]"), "Frames that never move relative to one another have one value.")
      .def_prop_ro("variables", &variables_of, nb::sig("def variables(self) -> dict[str, str]"), "Kinds of variables.")
      .def("pieces", &pieces_at, "at"_a, nb::sig("def pieces(self, at: int) -> list[tuple[Any, ...]]"),
           "Track, parent, provider, id of the record, rank, whether it has a value then, and whether it would close a cycle.")
      .def("inactive", &inactive_at, "at"_a, nb::sig("def inactive(self, at: int) -> list[tuple[tuple[str, int], str]]"),
           "Records that do not take effect, with the reason.")
      .def("nodes", &nodes_at, "at"_a, nb::sig("def nodes(self, at: int) -> dict[str, tuple[Any, ...]]"),
           "Living nodes by id: kind, frame, parents, attributes.")
      .def("preferences", &preferences_at, "at"_a, nb::sig("def preferences(self, at: int) -> dict[tuple[str, str], str]"),
           "Preferred sources of frames and variables.");
  nb::class_<log::ChangeLog>(m, "ChangeLog", "All changes that can still matter, whatever the order in which they came.")
      .def(nb::init<>())
      .def(
          "append", [](log::ChangeLog& self, const ChangeRecord& change) { return self.append(change.change); }, "change"_a,
          "Take a change; False where it is held already.")
      .def("held", &held_by, nb::sig("def held(self) -> dict[str, tuple[tuple[int, int], ...]]"),
           "Which changes were taken, also those that are superseded: per author ranges of numbers.")
      .def("records", &records_of, nb::sig("def records(self) -> list[ChangeRecord]"), "The changes that are kept, by id.")
      .def("__len__", &log::ChangeLog::size)
      .def(
          "resolve",
          [](const log::ChangeLog& self, const nb::list& samples, const std::string& root_frame) {
            return Resolved{&self, log::resolve_full(self, samples_from(samples), root_frame)};
          },
          "samples"_a, "root_frame"_a = "map", nb::keep_alive<0, 1>(),
          nb::sig("def resolve(self, samples: list[dict[str, Any]], root_frame: str = \"map\") -> ResolvedTopology"),
          "Resolve everything from the beginning.");
}

}  // namespace armillary::python
