#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "convert.hpp"
#include "door.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "scene_store.hpp"
#include "scene_values.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;
using scene::Change;
using scene::ChangePtr;
using scene::HybridTimestamp;
using scene::Placement;

// A change in plain values, and back: what travels, and what is kept in files. What comes back may come from anywhere.

namespace {

constexpr std::string_view kChangeKinds[] = {
    "add_node",     "add_parent",         "remove_parents", "set_attributes", "add_frame",    "fix",        "unfix",
    "add_relation", "add_twist_relation", "add_body",       "prefer",         "remove_frame", "reset_time", "drive",
    "release",      "add_joints",         "remove_joints"};

constexpr int kStateVersion = 4;
constexpr std::size_t kParts = 17;

[[noreturn]] void refuse(const char* what) {
  raise("InvalidArgument", std::string("This is no change of a scene: ") + what + ".");
}

nb::tuple timestamp_tuple(const HybridTimestamp& timestamp) {
  return nb::make_tuple(timestamp.wall_ns, timestamp.count, timestamp.authority, timestamp.dot.author, timestamp.dot.sequence);
}

template <typename T>
T number(nb::handle value, const char* what) {
  T result{};
  if (!nb::try_cast(value, result)) refuse(what);
  return result;
}

nb::tuple as_tuple(nb::handle value, std::size_t length, const char* what) {
  if (!PyTuple_Check(value.ptr()) && !PyList_Check(value.ptr())) refuse(what);
  nb::tuple tuple = nb::steal<nb::tuple>(PySequence_Tuple(value.ptr()));
  if (nb::len(tuple) != length) refuse(what);
  return tuple;
}

HybridTimestamp as_timestamp(nb::handle value) {
  const nb::tuple parts = as_tuple(value, 5, "its mark has five parts");
  return {number<std::int64_t>(parts[0], "a stamp is a whole number"),
          number<std::uint32_t>(parts[1], "a count is a whole number"),
          number<std::uint8_t>(parts[2], "an authority is a whole number up to 255"),
          {number<std::uint64_t>(parts[3], "an author key is a whole number"),
           number<std::uint64_t>(parts[4], "a sequence is a whole number")}};
}

std::string as_string(nb::handle value, const char* what) {
  if (!PyUnicode_Check(value.ptr())) refuse(what);
  return std::string(text_of(value));
}

nb::object settings_list(const std::vector<scene::Setting>& settings) {
  nb::list list;
  for (const auto& [key, value] : settings)
    list.append(nb::make_tuple(key, value.has_value(), value ? attribute_object(*value) : nb::none()));
  return list;
}

std::vector<scene::Setting> settings_from(nb::handle value) {
  std::vector<scene::Setting> settings;
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) refuse("its attributes are a list");
  for (nb::handle item : value) {
    const nb::tuple parts = as_tuple(item, 3, "an attribute has three parts");
    std::string key = as_string(parts[0], "the name of an attribute is a text");
    std::optional<AttributeValue> set;
    if (number<bool>(parts[1], "an attribute is set or erased")) set = as_attribute(key, parts[2]);
    settings.push_back({std::move(key), std::move(set)});
  }
  return settings;
}

nb::object placement_tuple(const Placement* placement) {
  if (placement == nullptr) return nb::none();
  const nb::object covariance =
      placement->covariance ? read_only_array(placement->covariance->values.data(), {6, 6}) : nb::none();
  return nb::make_tuple(nb::cast(placement->parent_T_node), covariance, placement->is_fixed, placement->source, placement->frame);
}

nb::object payload_tuple(const scene::Payload* payload) {
  if (payload == nullptr) return nb::none();
  return nb::make_tuple(kept_object(payload->object),
                        nb::bytes(reinterpret_cast<const char*>(payload->digest.data()), payload->digest.size()));
}

nb::object removed_list(const std::vector<scene::Dot>& removed) {
  nb::list list;
  for (const scene::Dot& dot : removed) list.append(nb::make_tuple(dot.author, dot.sequence));
  return list;
}

nb::tuple state_of(const Change& change) {
  return nb::make_tuple(kStateVersion, static_cast<int>(change.kind), change.author, change.replica_id,
                        timestamp_tuple(change.timestamp), change.at.ns, nb::cast(change.node),
                        timestamp_tuple(change.incarnation), nb::cast(change.parent), timestamp_tuple(change.parent_incarnation),
                        kind_name(change.node_kind), payload_tuple(change.payload.get()), placement_tuple(change.placement.get()),
                        assertion_tuple(change.assertion.get()), change.restores, settings_list(change.settings),
                        removed_list(change.removed));
}

std::vector<scene::Dot> removed_from(nb::handle value) {
  std::vector<scene::Dot> removed;
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) refuse("what it removes is a list");
  for (nb::handle item : value) {
    const nb::tuple parts = as_tuple(item, 2, "what it removes has an author and a sequence");
    removed.push_back({number<std::uint64_t>(parts[0], "an author key is a whole number"),
                       number<std::uint64_t>(parts[1], "a sequence is a whole number")});
  }
  return removed;
}

ChangePtr change_from(nb::handle value) {
  const nb::tuple state = as_tuple(value, kParts, "it has seventeen parts");
  if (number<int>(state[0], "its version is a whole number") != kStateVersion) refuse("it is of another version");
  auto change = std::make_shared<Change>();
  const int kind = number<int>(state[1], "its kind is a whole number");
  if (kind < 0 || kind >= static_cast<int>(std::size(kChangeKinds))) refuse("there is no such kind");
  change->kind = static_cast<scene::ChangeKind>(kind);
  change->author = as_string(state[2], "its author is a text");
  change->replica_id = number<std::uint64_t>(state[3], "its bearer is a whole number");
  change->timestamp = as_timestamp(state[4]);
  if (change->timestamp.dot.author != scene::author_key(change->author, change->replica_id))
    refuse("its author is not the one of its mark");
  if (change->timestamp.dot.sequence == 0) refuse("sequences begin at one");
  change->at = Stamp{number<std::int64_t>(state[5], "a stamp is a whole number")};
  if (!is_sample_stamp(change->at)) refuse("its stamp is out of all bounds");
  if (scene::is_of_frames(change->kind)) {
    change->assertion = assertion_from(change->kind, state[13]);
    return change;
  }
  if (!nb::handle(state[13]).is_none()) refuse("what is said of frames is a change of its own");
  change->node = as_node_id(state[6]);
  change->incarnation = as_timestamp(state[7]);
  change->parent = as_node_id_or_nil(state[8]);
  change->parent_incarnation = as_timestamp(state[9]);
  if (change->node == kRootNode || change->node == kDetachedNode)
    if (change->kind != scene::ChangeKind::set_attributes) refuse("the two roots have no parents");
  if (change->kind == scene::ChangeKind::add_node) {
    change->node_kind = as_kind(as_string(state[10], "the kind of a node is a text"));
    const bool is_shared = change->node_kind == scene::NodeKind::frame || change->parent == kDetachedNode;
    if (!is_shared && change->incarnation != change->timestamp) refuse("a node begins with its first change");
    change->payload = payload_from(state[11]);
    change->placement = placement_from(state[12]);
    check_parts(*change);
  }
  change->restores = number<bool>(state[14], "it brings a node back or not");
  change->settings = settings_from(state[15]);
  change->removed = removed_from(state[16]);
  return change;
}

/// The frame that a change speaks of; empty where it is of none, or of all.
std::string frame_of(const scene::FrameAssertion& assertion) {
  return assertion.of.empty() && !assertion.frames.empty() ? assertion.frames.front() : assertion.of;
}

/// What it is, of which node or frame, and by whom.
nb::str shown_change(const ChangeHandle& self) {
  const Change& change = *self.change;
  const std::string frame = change.assertion ? frame_of(*change.assertion) : std::string{};
  const std::string what = !change.assertion ? " " + change.node.short_text() : frame.empty() ? "" : " '" + frame + "'";
  const std::string kind(kChangeKinds[static_cast<int>(change.kind)]), number = std::to_string(change.timestamp.dot.sequence);
  const std::string text = "ChangeRecord(" + kind + what + " by '" + change.author + "', " + number + ")";
  return nb::str(text.data(), text.size());
}

}  // namespace

std::shared_ptr<const scene::Payload> payload_from(nb::handle value) {
  if (value.is_none()) return nullptr;
  const nb::tuple parts = as_tuple(value, 2, "what a node carries has two parts");
  if (!PyBytes_Check(nb::handle(parts[1]).ptr()) || PyBytes_GET_SIZE(nb::handle(parts[1]).ptr()) != 32)
    refuse("a digest has 32 bytes");
  auto payload = std::make_shared<scene::Payload>();
  std::memcpy(payload->digest.data(), PyBytes_AS_STRING(nb::handle(parts[1]).ptr()), 32);
  payload->object = kept(parts[0]);
  return payload;
}

std::shared_ptr<const Placement> placement_from(nb::handle value) {
  if (value.is_none()) return nullptr;
  const nb::tuple parts = as_tuple(value, 5, "a placement has five parts");
  auto placement = std::make_shared<Placement>();
  placement->parent_T_node = as_transform(parts[0]);
  if (!nb::handle(parts[1]).is_none()) placement->covariance = as_covariance(parts[1], "covariance");
  placement->is_fixed = number<bool>(parts[2], "a pose is fixed or not");
  placement->source = as_string(parts[3], "a source is a text");
  placement->frame = as_string(parts[4], "the name of a frame is a text");
  return placement;
}

/// A node has what its kind needs.
void check_parts(const Change& change) {
  const scene::NodeKind kind = change.node_kind;
  const bool is_transform = kind == scene::NodeKind::transform || kind == scene::NodeKind::uncertain_transform;
  const bool carries = kind == scene::NodeKind::geometry || kind == scene::NodeKind::connection;
  if ((is_transform || kind == scene::NodeKind::frame) != (change.placement != nullptr)) refuse("a place belongs to a Transform");
  if (carries != (change.payload != nullptr)) refuse("a shape belongs to a Geometry, and ends to a Connection");
  if (kind == scene::NodeKind::frame && change.placement->frame.empty()) refuse("a frame has a name");
}

scene::ChangeKind change_kind(const std::string& name) {
  const auto* found = std::ranges::find(kChangeKinds, name);
  if (found == std::end(kChangeKinds)) refuse("there is no such kind");
  return static_cast<scene::ChangeKind>(found - std::begin(kChangeKinds));
}

nb::object change_object(const ChangePtr& change) { return nb::cast(ChangeHandle{change}); }

void bind_change(nb::module_& m) {
  nb::class_<ChangeHandle>(m, "ChangeRecord", "One fact about the structure of a world: authored, ordered, immutable.")
      .def_static(
          "from_state", [](nb::handle state) { return ChangeHandle{change_from(state)}; }, "state"_a.none(),
          nb::sig("def from_state(state: tuple[object, ...]) -> ChangeRecord"))
      .def(
          "state", [](const ChangeHandle& self) { return state_of(*self.change); }, nb::sig("def state(self) -> tuple[Any, ...]"),
          "All of it in plain values.")
      .def(
          "__getstate__", [](const ChangeHandle& self) { return state_of(*self.change); },
          nb::sig("def __getstate__(self) -> tuple[Any, ...]"))
      .def(
          "__setstate__", [](ChangeHandle& self, nb::tuple state) { new (&self) ChangeHandle{change_from(state)}; },
          nb::sig("def __setstate__(self, state: tuple[Any, ...], /) -> None"))
      .def_prop_ro("kind", [](const ChangeHandle& self) { return kChangeKinds[static_cast<int>(self.change->kind)].data(); })
      .def_prop_ro("author", [](const ChangeHandle& self) { return self.change->author; })
      .def_prop_ro("authority", [](const ChangeHandle& self) { return self.change->timestamp.authority; })
      .def_prop_ro("sequence", [](const ChangeHandle& self) { return self.change->timestamp.dot.sequence; })
      .def_prop_ro("at", [](const ChangeHandle& self) { return self.change->at.ns; })
      .def_prop_ro("node", [](const ChangeHandle& self) { return self.change->node; })
      .def(
          "__eq__",
          [](const ChangeHandle& self, nb::handle other) {
            const ChangeHandle* change = value_of<ChangeHandle>(other);
            return change != nullptr && change->change->timestamp == self.change->timestamp;
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", &shown_change)
      .def("__hash__", [](const ChangeHandle& self) {
        return static_cast<Py_hash_t>(
            (self.change->timestamp.dot.author ^ self.change->timestamp.dot.sequence * 0x9e3779b97f4a7c15) >> 1);
      });
}

}  // namespace armillary::python
