#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstring>

#include "convert.hpp"
#include "driven_values.hpp"
#include "frame_changes.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "scene_store.hpp"
#include "scene_values.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;
using scene::ChangeRequest;

// What armillary.store.changes asks of the store: one constructor for each payload, and for each value of an assertion.

namespace {

[[noreturn]] void refuse(const char* what) {
  raise("InvalidArgument", std::string("This is no change of a scene: ") + what + ".");
}

ChangeRequest request_of(log::Payload payload, nb::handle at) {
  ChangeRequest request;
  request.change.at = Stamp{as_stamp(at, "at")};
  request.change.payload = std::move(payload);
  return request;
}

/// The id of a node that others may name: the detached root is none.
NodeId named_node(nb::handle given) {
  const NodeId id = as_node_id(given);
  if (id == kDetachedNode) raise_object(error_class("UnknownNode")(nb::cast(id)));
  return id;
}

std::string text_from(nb::handle value, const char* what) {
  if (!PyUnicode_Check(value.ptr())) refuse(what);
  return std::string(text_of(value));
}

std::string name_from(nb::handle value) { return std::string(text_of(stored_name(value))); }

std::vector<std::string> names_from(nb::handle value) {
  if (!PyTuple_Check(value.ptr()) && !PyList_Check(value.ptr())) refuse("its names are a list");
  std::vector<std::string> names;
  for (nb::handle name : value) names.push_back(name_from(name));
  return names;
}

FixedPose pose_from(nb::handle transform, nb::handle covariance, bool is_unsure = false) {
  FixedPose pose{.value = as_transform(transform), .certainty = is_unsure ? Certainty::unknown : Certainty::exact};
  if (covariance.is_none()) return pose;
  pose.covariance = as_covariance(covariance, "covariance");
  pose.certainty = Certainty::known;
  return pose;
}

// -- Nodes

std::shared_ptr<const log::Content> content_from(nb::handle object, nb::handle digest) {
  if (!PyBytes_Check(digest.ptr()) || PyBytes_GET_SIZE(digest.ptr()) != 32) refuse("a digest has 32 bytes");
  auto content = std::make_shared<log::Content>();
  std::memcpy(content->digest.data(), PyBytes_AS_STRING(digest.ptr()), 32);
  content->object = kept(object);
  return content;
}

std::shared_ptr<const log::Placement> placement_from(nb::handle transform, nb::handle covariance, bool is_fixed,
                                                     nb::handle source) {
  return std::make_shared<const log::Placement>(
      log::Placement{pose_from(transform, covariance), is_fixed, text_from(source, "a source is a text")});
}

/// A node has what its kind needs.
void check_parts(const log::AddNode& node) {
  const bool carries = node.kind == NodeKind::geometry || node.kind == NodeKind::connection;
  if (is_transform(node.kind) != (node.placement != nullptr)) refuse("a place belongs to a Transform");
  if (carries != (node.content != nullptr)) refuse("a shape belongs to a Geometry, and ends to a Connection");
  if (node.kind == NodeKind::frame && node.frame_name.empty()) refuse("the node of a frame has its name");
  if (node.kind == NodeKind::connection && !node.frame_name.empty()) refuse("a Connection has no frame");
}

/// Without a parent it is the root of others.
ChangeRequest add_node(nb::handle kind, nb::handle node, nb::handle parent, nb::handle attributes, nb::handle at,
                       nb::handle content, nb::handle digest, nb::handle transform, nb::handle covariance, bool is_fixed,
                       nb::handle source, nb::handle frame_name) {
  ChangeRequest request;
  request.change.at = Stamp{as_stamp(at, "at")};
  auto& payload = request.change.payload.emplace<log::AddNode>();
  payload.kind = as_kind(text_of(kind));
  payload.node = node.is_none() ? NodeId::random() : as_node_id(node);
  payload.edge.parent = parent.is_none() ? kDetachedNode : named_node(parent);
  payload.settings = as_settings(attributes, false);
  if (!content.is_none()) payload.content = content_from(content, digest);
  if (!transform.is_none()) payload.placement = placement_from(transform, covariance, is_fixed, source);
  if (!frame_name.is_none()) payload.frame_name = text_from(frame_name, "the name of a frame is a text");
  check_parts(payload);
  if (payload.placement) log::make_canonical(request.change);
  return request;
}

/// The usual case of `add_node`, without the arguments that it does not have, and made in its place: nodes come by thousands.
nb::object add_group(nb::handle node, nb::handle parent, nb::handle attributes, nb::handle at) {
  static const nb::handle type = nb::type<ChangeRequest>();
  nb::object request = nb::inst_alloc(type);
  log::Change& change = (new (nb::inst_ptr<ChangeRequest>(request)) ChangeRequest{})->change;
  nb::inst_mark_ready(request);
  change.at = Stamp{as_stamp(at, "at")};
  auto& payload = std::get<log::AddNode>(change.payload);
  payload.node = node.is_none() ? NodeId::random() : as_node_id(node);
  payload.edge.parent = parent.is_none() ? kDetachedNode : named_node(parent);
  payload.settings = as_settings(attributes, false);
  return request;
}

/// Without a parent it is again the root of others, which is mounted nowhere.
ChangeRequest add_edge(nb::handle node, nb::handle parent, nb::handle at, bool restores) {
  log::AddEdge payload{.node = named_node(node)};
  payload.edge.parent = restores && parent.is_none() ? kDetachedNode : named_node(parent);
  ChangeRequest request = request_of(std::move(payload), at);
  request.restores = restores;
  return request;
}

ChangeRequest remove_edges(nb::handle node, nb::handle parent, nb::handle at, nb::handle with_frames_under) {
  log::RemoveEdges payload{.node = named_node(node)};
  if (!parent.is_none()) payload.parent = named_node(parent);
  ChangeRequest request = request_of(std::move(payload), at);
  request.with_frames_under = as_flag(with_frames_under, "subtree");
  return request;
}

ChangeRequest set_attributes(nb::handle node, nb::handle attributes, nb::handle at) {
  log::SetAttributes payload{.node = named_node(node), .settings = as_settings(attributes, true)};
  return request_of(std::move(payload), at);
}

ChangeRequest sample(nb::handle node, nb::handle transform, nb::handle covariance, nb::handle at) {
  ChangeRequest request;
  request.change.at = Stamp{as_stamp(at, "at")};
  request.sample = {.node = named_node(node), .at = request.change.at, .pose = pose_from(transform, covariance)};
  return request;
}

// -- Frames

ChangeRequest set_frames(nb::handle names, bool present, nb::handle at) {
  return request_of(log::SetFrames{names_from(names), present}, at);
}

ChangeRequest remove_frames(nb::handle names, nb::handle at, nb::handle subtree) {
  ChangeRequest request = request_of(log::RemoveFrames{names_from(names)}, at);
  request.with_frames_under = as_flag(subtree, "subtree");
  return request;
}

log::Assert assertion(nb::handle of, nb::handle source, nb::handle since, log::AssertedValue value) {
  log::Assert payload{.track = {log::TrackKind::pose, name_from(of), text_from(source, "a source is a text")},
                      .value = std::move(value)};
  if (!since.is_none()) payload.since = Stamp{as_stamp(since, "at")};
  if (log::parent_of(payload.value) == payload.track.of) refuse("a frame is not in itself");
  return payload;
}

ChangeRequest fixed(nb::handle of, nb::handle in_frame, nb::handle source, nb::handle since, nb::handle transform,
                    nb::handle covariance, nb::handle is_unsure, nb::handle recalibrate, nb::handle rank, nb::handle at) {
  const FixedPose pose = pose_from(transform, covariance, as_flag(is_unsure, "is_unsure"));
  log::Assert payload = assertion(of, source, since, log::Fixed{name_from(in_frame), std::make_shared<const FixedPose>(pose)});
  payload.recalibrate = as_flag(recalibrate, "recalibrate");
  payload.rank = rank_from(rank);
  ChangeRequest request = request_of(std::move(payload), at);
  log::make_canonical(request.change);
  return request;
}

ChangeRequest driven(nb::handle of, nb::handle in_frame, nb::handle source, nb::handle since, nb::handle form, nb::handle at) {
  return request_of(assertion(of, source, since, log::Driven{name_from(in_frame), form_from(form)}), at);
}

ChangeRequest sampled(nb::handle of, nb::handle in_frame, nb::handle source, nb::handle since, nb::handle at,
                      nb::handle interpolation) {
  if (since.is_none()) refuse("samples begin at an instant");
  const SampleInterpolation chosen = as_sample_interpolation(interpolation);
  return request_of(assertion(of, source, since, log::Sampled{name_from(in_frame), chosen}), at);
}

ChangeRequest sampled_twist(nb::handle of, nb::handle relative_to, nb::handle source, nb::handle at) {
  log::Assert payload = assertion(of, source, at, log::Sampled{name_from(relative_to)});
  payload.track.kind = log::TrackKind::twist;
  return request_of(std::move(payload), at);
}

ChangeRequest ended(nb::handle of, nb::handle source, nb::handle since, nb::handle at) {
  if (since.is_none()) refuse("a frame is released at an instant");
  return request_of(assertion(of, source, since, log::Ended{}), at);
}

ChangeRequest empty(nb::handle of, nb::handle source, nb::handle since, nb::handle at) {
  return request_of(assertion(of, source, since, log::Empty{}), at);
}

ChangeRequest set_body(nb::handle body, nb::handle frames, bool present, nb::handle at) {
  return request_of(log::SetBody{name_from(body), names_from(frames), present}, at);
}

ChangeRequest preference(log::Subject subject, nb::handle source, nb::handle start, nb::handle end, nb::handle at) {
  log::Prefer payload{.subject = std::move(subject)};
  if (!start.is_none()) payload.start = Stamp{as_stamp(start, "start")};
  if (!end.is_none()) payload.end = Stamp{as_stamp(end, "end")};
  if (payload.end <= payload.start) refuse("a preference ends after it begins");
  if (!source.is_none()) payload.source = text_from(source, "a source is a text");
  return request_of(std::move(payload), at);
}

ChangeRequest prefer(nb::handle of, nb::handle source, nb::handle start, nb::handle end, nb::handle at) {
  return preference({log::Subject::Kind::frame, name_from(of)}, source, start, end, at);
}

ChangeRequest prefer_joint(nb::handle name, nb::handle source, nb::handle start, nb::handle end, nb::handle at) {
  return preference({log::Subject::Kind::variable, name_from(name)}, source, start, end, at);
}

/// What `empties` names goes with the samples: nothing, relations that are left without samples, or the whole relation.
ChangeRequest forget(nb::handle of, nb::handle in_frame, nb::handle source, nb::handle start, nb::handle end, nb::handle kind,
                     std::string_view empties, nb::handle at) {
  log::Forget payload{.of = name_from(of)};
  if (!kind.is_none()) {
    const std::string name = text_from(kind, "kind is 'pose' or 'twist'");
    if (name != "pose" && name != "twist") refuse("kind is 'pose' or 'twist'");
    payload.kind = name == "pose" ? log::TrackKind::pose : log::TrackKind::twist;
  }
  if (!in_frame.is_none()) payload.in_frame = name_from(in_frame);
  if (!source.is_none()) payload.source = text_from(source, "a source is a text");
  if (!start.is_none()) payload.start = Stamp{as_stamp(start, "start")};
  if (!end.is_none()) payload.end = Stamp{as_stamp(end, "end") + 1};
  if (!(payload.start < payload.end)) refuse("`end` is before `start`");
  ChangeRequest request = request_of(std::move(payload), at);
  using Empties = ChangeRequest::Empties;
  request.empties = empties == "relation" ? Empties::relation : empties == "unsampled" ? Empties::unsampled : Empties::nothing;
  return request;
}

ChangeRequest set_variables(const nb::dict& kinds, nb::handle at) {
  log::SetVariables payload;
  for (const auto& [name, kind] : kinds) payload.variables.push_back({name_from(name), variable_kind(kind)});
  return request_of(std::move(payload), at);
}

ChangeRequest unset_variables(nb::handle names, nb::handle at) {
  log::SetVariables payload;
  for (const std::string& name : names_from(names)) payload.variables.push_back({name, std::nullopt});
  return request_of(std::move(payload), at);
}

ChangeRequest reset_time(nb::handle clock, nb::handle at) {
  log::ResetTime payload;
  if (!clock.is_none()) payload.clock = Stamp{as_stamp(clock, "to")};
  return request_of(std::move(payload), at);
}

// -- What a request asks for

std::optional<NodeId> requested_node(const ChangeRequest& request) {
  return request.sample ? std::optional(request.sample->node) : node_of(request.change.payload);
}

std::optional<NodeId> requested_parent(const ChangeRequest& request) {
  return request.sample ? std::nullopt : parent_of(request.change.payload);
}

const scene::NodeSample& sample_of(const ChangeRequest& request) {
  if (!request.sample) throw nb::attribute_error("A request for a change has no sample.");
  return *request.sample;
}

void bind_nodes(nb::class_<ChangeRequest>& request) {
  request
      .def_static(
          "add_node", &add_node, "kind"_a, "node"_a.none(), "parent"_a.none(), "attributes"_a.none(), "at"_a.none(),
          "content"_a = nb::none(), "digest"_a = nb::none(), "transform"_a.none() = nb::none(), "covariance"_a = nb::none(),
          "is_fixed"_a = false, "source"_a = "", "frame_name"_a = nb::none(),
          nb::sig("def add_node(kind: str, node: NodeId | None, parent: NodeId | None, attributes: Mapping[str, Any] | None, at: "
                  "int, content: object = None, digest: bytes | None = None, transform: Transform | None = None, covariance: "
                  "ArrayLike | None = None, is_fixed: bool = False, source: str = '', frame_name: str | None = None) -> "
                  "ChangeRequest"),
          "A new node; without a parent the root of others.")
      .def_static("add_group", &add_group, "node"_a.none(), "parent"_a.none(), "attributes"_a.none(), "at"_a.none(),
                  nb::sig("def add_group(node: NodeId | None, parent: NodeId | None, attributes: Mapping[str, Any] | None, at: "
                          "int) -> ChangeRequest"),
                  "A new group, as `add_node` makes it.")
      .def_static("add_edge", &add_edge, nb::kw_only(), "node"_a.none(), "parent"_a.none(), "at"_a.none(), "restores"_a = false,
                  nb::sig("def add_edge(*, node: NodeId, parent: NodeId | None, at: int, restores: bool = False) -> "
                          "ChangeRequest"),
                  "A further parent; with `restores` the node may be removed.")
      .def_static("remove_edges", &remove_edges, nb::kw_only(), "node"_a.none(), "parent"_a.none(), "at"_a.none(),
                  "with_frames_under"_a.none() = false,
                  nb::sig("def remove_edges(*, node: NodeId, parent: NodeId | None, at: int, with_frames_under: bool = False) -> "
                          "ChangeRequest"),
                  "The end of containment in one parent, or in all.")
      .def_static("set_attributes", &set_attributes, nb::kw_only(), "node"_a.none(), "attributes"_a.none(), "at"_a.none(),
                  nb::sig("def set_attributes(*, node: NodeId, attributes: Mapping[str, Any], at: int) -> ChangeRequest"),
                  "New values of some attributes.")
      .def_static("sample", &sample, nb::kw_only(), "node"_a.none(), "transform"_a.none(), "covariance"_a.none(), "at"_a.none(),
                  nb::sig("def sample(*, node: NodeId, transform: Transform, covariance: ArrayLike | None, at: int) -> "
                          "ChangeRequest"),
                  "A pose of a Transform at an instant, which is no change.");
}

void bind_frames(nb::class_<ChangeRequest>& request) {
  request
      .def_static("set_frames", &set_frames, nb::kw_only(), "names"_a, "present"_a = true, "at"_a.none(),
                  nb::sig("def set_frames(*, names: Sequence[str], present: bool = True, at: int) -> ChangeRequest"))
      .def_static("remove_frames", &remove_frames, nb::kw_only(), "names"_a, "at"_a.none(), "subtree"_a.none() = false,
                  nb::sig("def remove_frames(*, names: Sequence[str], at: int, subtree: bool = False) -> ChangeRequest"))
      .def_static("fixed", &fixed, nb::kw_only(), "of"_a, "in_frame"_a, "source"_a.none(), "since"_a.none(), "transform"_a.none(),
                  "covariance"_a.none() = nb::none(), "is_unsure"_a.none() = false, "recalibrate"_a.none() = false,
                  "rank"_a = "plain", "at"_a.none(),
                  nb::sig("def fixed(*, of: str, in_frame: str, source: str, since: int | None, transform: Transform, "
                          "covariance: ArrayLike | None = None, is_unsure: bool = False, recalibrate: bool = False, rank: "
                          "str = 'plain', at: int) -> ChangeRequest"))
      .def_static("driven", &driven, nb::kw_only(), "of"_a, "in_frame"_a, "source"_a.none(), "since"_a.none(), "form"_a.none(),
                  "at"_a.none(),
                  nb::sig("def driven(*, of: str, in_frame: str, source: str, since: int | None, form: tuple[Any, ...], at: int) "
                          "-> ChangeRequest"))
      .def_static("sampled", &sampled, nb::kw_only(), "of"_a, "in_frame"_a, "source"_a.none(), "since"_a.none(), "at"_a.none(),
                  "interpolation"_a = "linear",
                  nb::sig("def sampled(*, of: str, in_frame: str, source: str, since: int, at: int, interpolation: str = "
                          "'linear') -> ChangeRequest"))
      .def_static("sampled_twist", &sampled_twist, nb::kw_only(), "of"_a, "relative_to"_a, "source"_a.none(), "at"_a.none(),
                  nb::sig("def sampled_twist(*, of: str, relative_to: str, source: str, at: int) -> ChangeRequest"))
      .def_static("ended", &ended, nb::kw_only(), "of"_a, "source"_a.none(), "since"_a.none(), "at"_a.none(),
                  nb::sig("def ended(*, of: str, source: str, since: int, at: int) -> ChangeRequest"))
      .def_static("empty", &empty, nb::kw_only(), "of"_a, "source"_a.none(), "since"_a.none(), "at"_a.none(),
                  nb::sig("def empty(*, of: str, source: str, since: int | None, at: int) -> ChangeRequest"))
      .def_static("set_body", &set_body, nb::kw_only(), "body"_a, "frames"_a, "present"_a = true, "at"_a.none(),
                  nb::sig("def set_body(*, body: str, frames: Sequence[str], present: bool = True, at: int) -> ChangeRequest"))
      .def_static("prefer", &prefer, nb::kw_only(), "of"_a, "source"_a.none(), "start"_a.none(), "end"_a.none(), "at"_a.none(),
                  nb::sig("def prefer(*, of: str, source: str | None, start: int | None, end: int | None, at: int) -> "
                          "ChangeRequest"))
      .def_static("prefer_joint", &prefer_joint, nb::kw_only(), "name"_a, "source"_a.none(), "start"_a.none(), "end"_a.none(),
                  "at"_a.none(),
                  nb::sig("def prefer_joint(*, name: str, source: str | None, start: int | None, end: int | None, at: int) -> "
                          "ChangeRequest"))
      .def_static("forget", &forget, nb::kw_only(), "of"_a, "in_frame"_a.none(), "source"_a.none(), "start"_a.none(),
                  "end"_a.none(), "kind"_a.none(), "empties"_a, "at"_a.none(),
                  nb::sig("def forget(*, of: str, in_frame: str | None, source: str | None, start: int | None, end: int | None, "
                          "kind: str | None, empties: str, at: int) -> ChangeRequest"),
                  "Samples from `start` to `end` do not count any more; `empties`: 'nothing', 'unsampled' or 'relation'.")
      .def_static("set_variables", &set_variables, nb::kw_only(), "kinds"_a, "at"_a.none(),
                  nb::sig("def set_variables(*, kinds: dict[str, str], at: int) -> ChangeRequest"))
      .def_static("unset_variables", &unset_variables, nb::kw_only(), "names"_a, "at"_a.none(),
                  nb::sig("def unset_variables(*, names: Sequence[str], at: int) -> ChangeRequest"))
      .def_static("reset_time", &reset_time, nb::kw_only(), "clock"_a.none(), "at"_a.none(),
                  nb::sig("def reset_time(*, clock: int | None, at: int) -> ChangeRequest"));
}

}  // namespace

void bind_change_request(nb::module_& m) {
  nb::class_<ChangeRequest> request(m, "ChangeRequest",
                                    "A change before the store accepts it, made by armillary.store.changes.\n\n"
                                    "Its constructors are named after the types of records, and of what they assert.");
  bind_nodes(request);
  bind_frames(request);
  request
      .def_prop_ro(
          "type", [](const ChangeRequest& self) { return self.sample ? "sample" : self.change.type(); },
          "The type of the record that it asks for, or 'sample'.")
      .def_prop_ro("node", &requested_node, nb::sig("def node(self) -> NodeId | None"))
      .def_prop_ro("parent", &requested_parent, nb::sig("def parent(self) -> NodeId | None"),
                   "The parent that it names; None: all parents, or none.")
      .def_prop_ro("at", [](const ChangeRequest& self) { return self.change.at.ns; })
      .def_prop_ro(
          "removes_relation", [](const ChangeRequest& self) { return self.empties == ChangeRequest::Empties::relation; },
          "Of a request to forget samples: whether their relation goes with them.")
      .def_prop_ro("with_frames_under", [](const ChangeRequest& self) { return self.with_frames_under; })
      .def_prop_ro(
          "transform", [](const ChangeRequest& self) { return sample_of(self).pose.value; }, "Of a sample.")
      .def_prop_ro(
          "covariance", [](const ChangeRequest& self) { return covariance_object(sample_of(self).pose); },
          nb::sig("def covariance(self) -> NDArray[float64] | None"), "Of a sample.");
}

}  // namespace armillary::python
