#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "convert.hpp"
#include "driven_values.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "scene_store.hpp"
#include "scene_values.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;
using log::Json;

std::optional<NodeId> node_of(const log::Payload& payload) {
  return std::visit(
      [](const auto& one) -> std::optional<NodeId> {
        if constexpr (requires { one.node; })
          return one.node;
        else
          return std::nullopt;
      },
      payload);
}

std::optional<NodeId> parent_of(const log::Payload& payload) {
  if (const auto* removed = std::get_if<log::RemoveEdges>(&payload)) return removed->parent;
  return std::visit(
      [](const auto& one) -> std::optional<NodeId> {
        if constexpr (requires { one.edge; })
          return one.edge.parent;
        else
          return std::nullopt;
      },
      payload);
}

namespace {

// -- Fields as plain values

/// Lists become tuples: what a record gives cannot be edited.
struct PlainValue {
  nb::object operator()(std::nullptr_t) const { return nb::none(); }
  nb::object operator()(bool truth) const { return nb::bool_(truth); }
  nb::object operator()(std::int64_t number) const { return nb::int_(number); }
  nb::object operator()(double number) const { return nb::float_(number); }
  nb::object operator()(const std::string& text) const { return text_object(text); }
  nb::object operator()(const Json::Array& items) const {
    nb::list list;
    for (const Json& item : items) list.append(std::visit(*this, item.value));
    return nb::tuple(list);
  }
  nb::object operator()(const Json::Object& fields) const {
    nb::dict dict;
    for (const auto& [name, value] : fields) dict[text_object(name)] = std::visit(*this, value.value);
    return dict;
  }
};

[[noreturn]] void raise_without(const ChangeRecord& self, const std::string& name) {
  const std::string message = "A change of type '" + std::string(self.change->type()) + "' has no field '" + name + "'.";
  throw nb::attribute_error(message.c_str());
}

nb::object field_object(const ChangeRecord& self, const std::string& name) {
  const std::optional<Json> field = log::field_of(*self.change, name);
  if (!field) raise_without(self, name);
  return std::visit(PlainValue{}, field->value);
}

nb::object node_object(const ChangeRecord& self) {
  const std::optional<NodeId> node = node_of(self.change->payload);
  if (!node) raise_without(self, "node");
  return nb::cast(*node);
}

nb::object parent_object(const ChangeRecord& self) {
  const log::Payload& payload = self.change->payload;
  const std::optional<NodeId> parent = parent_of(payload);
  if (parent) return nb::cast(*parent);
  if (!std::holds_alternative<log::RemoveEdges>(payload)) raise_without(self, "parent");
  return nb::none();
}

std::string author_name(const ChangeRecord& self) { return self.change->author ? self.change->author->name : std::string(); }

// -- Parts as the values that changes are made of

const log::Assert& assertion_of(const ChangeRecord& self, const char* name) {
  const log::Assert* assertion = std::get_if<log::Assert>(&self.change->payload);
  if (assertion == nullptr) raise_without(self, name);
  return *assertion;
}

const char* value_type(const ChangeRecord& self) {
  return std::visit([](const auto& value) { return value.kType; }, assertion_of(self, "value_type").value);
}

const char* interpolation(const ChangeRecord& self) {
  const auto* sampled = std::get_if<log::Sampled>(&assertion_of(self, "interpolation").value);
  return log::name_of(sampled == nullptr ? SampleInterpolation::linear : sampled->interpolation);
}

nb::object in_frame_object(const ChangeRecord& self) {
  const log::Assert* assertion = std::get_if<log::Assert>(&self.change->payload);
  if (assertion == nullptr) return field_object(self, "in_frame");
  const std::string& parent = log::parent_of(assertion->value);
  return parent.empty() ? nb::none() : nb::object(text_object(parent));
}

/// Where a Transform is when it is made, or a fixed frame is.
const FixedPose* pose_of(const ChangeRecord& self) {
  if (const log::AddNode* node = std::get_if<log::AddNode>(&self.change->payload))
    return node->placement ? &node->placement->pose : nullptr;
  const log::Assert* assertion = std::get_if<log::Assert>(&self.change->payload);
  const log::Fixed* fixed = assertion == nullptr ? nullptr : std::get_if<log::Fixed>(&assertion->value);
  return fixed == nullptr ? nullptr : fixed->pose.get();
}

nb::object form_object(const ChangeRecord& self) {
  const log::Driven* driven = std::get_if<log::Driven>(&assertion_of(self, "form").value);
  if (driven == nullptr) raise_without(self, "form");
  return form_tuple(driven->form.get());
}

nb::object content_object(const ChangeRecord& self) {
  const log::AddNode* node = std::get_if<log::AddNode>(&self.change->payload);
  return node == nullptr || !node->content ? nb::none() : kept_object(node->content->object);
}

nb::dict attributes_dict(const ChangeRecord& self) {
  const log::AddNode* node = std::get_if<log::AddNode>(&self.change->payload);
  const log::SetAttributes* set = std::get_if<log::SetAttributes>(&self.change->payload);
  if (node == nullptr && set == nullptr) raise_without(self, "attributes");
  nb::dict attributes;
  for (const auto& [key, value] : node != nullptr ? node->settings : set->settings)
    attributes[text_object(key)] = value ? attribute_object(*value) : nb::none();
  return attributes;
}

// -- Reading and writing

ChangeRecord record_from(nb::handle text, nb::handle content) {
  if (!PyUnicode_Check(text.ptr())) raise("InvalidArgument", "A change is read from a text, got " + shown(text) + ".", text);
  log::Change change;
  try {
    change = log::change_from_json(log::parse_json(text_of(text)));
  } catch (const log::InvalidChange& invalid) {
    raise("InvalidArgument", invalid.what());
  }
  log::AddNode* node = std::get_if<log::AddNode>(&change.payload);
  if (node != nullptr && node->content && !content.is_none())
    node->content = std::make_shared<const log::Content>(log::Content{node->content->digest, kept(content)});
  return {std::make_shared<const log::Change>(std::move(change))};
}

std::string json_of(const ChangeRecord& self) { return log::write_json(log::to_json(*self.change)); }

bool are_equal(const ChangeRecord& self, nb::handle other) {
  const ChangeRecord* record = value_of<ChangeRecord>(other);
  if (record == nullptr || record->change->id != self.change->id) return false;
  return record->change == self.change || json_of(*record) == json_of(self);
}

/// The frame, body or subject that a payload is about; empty where it is about none, or about all.
struct FrameOf {
  static std::string first(const std::vector<std::string>& names) { return names.empty() ? std::string() : names.front(); }

  std::string operator()(const log::SetFrames& payload) const { return first(payload.names); }
  std::string operator()(const log::RemoveFrames& payload) const { return first(payload.names); }
  std::string operator()(const log::Assert& payload) const { return payload.track.of; }
  std::string operator()(const log::SetBody& payload) const { return payload.body; }
  std::string operator()(const log::Prefer& payload) const { return payload.subject.name; }
  std::string operator()(const log::Forget& payload) const { return payload.of; }
  std::string operator()(const auto&) const { return {}; }
};

nb::str shown_record(const ChangeRecord& self) {
  const log::Change& change = *self.change;
  const std::optional<NodeId> node = node_of(change.payload);
  const std::string frame = std::visit(FrameOf{}, change.payload);
  const std::string what = node ? " " + node->short_text() : frame.empty() ? "" : " '" + frame + "'";
  return text_object("ChangeRecord(" + std::string(change.type()) + what + " by '" + author_name(self) + "', " +
                     std::to_string(change.id.sequence) + ")");
}

}  // namespace

nb::object change_object(const log::ChangePtr& change) { return nb::cast(ChangeRecord{change}); }

nb::object unsigned_record(log::Payload payload) {
  return change_object(std::make_shared<const log::Change>(log::Change{.payload = std::move(payload)}));
}

void bind_change(nb::module_& m) {
  nb::class_<ChangeRecord> record(
      m, "ChangeRecord",
      "One accepted change of structure: signed, ordered, immutable.\n\n"
      "Its fields are those of its JSON form; one that its type does not have raises AttributeError.");
  for (const std::string& name : log::field_names())
    record.def_prop_ro(
        name.c_str(), [name](const ChangeRecord& self) { return field_object(self, name); },
        nb::sig(("def " + name + "(self) -> Any").c_str()));
  record
      .def_static("from_json", &record_from, "text"_a.none(), "content"_a.none() = nb::none(),
                  nb::sig("def from_json(text: str, content: object = None) -> ChangeRecord"),
                  "Read what `to_json` gave; anything else is refused. `content` is what the new node carries.")
      .def(
          "to_json", [](const ChangeRecord& self) { return text_object(json_of(self)); }, "All of it, but for the content.")
      .def_prop_ro(
          "type", [](const ChangeRecord& self) { return self.change->type(); }, "Which of its types it is.")
      .def_prop_ro("author", &author_name, "The name of who signed it; empty where it is not known.")
      .def_prop_ro(
          "sequence", [](const ChangeRecord& self) { return self.change->id.sequence; }, "Its number among those of its author.")
      .def_prop_ro(
          "authority", [](const ChangeRecord& self) { return self.change->authority; }, "The authority of its author.")
      .def_prop_ro(
          "at", [](const ChangeRecord& self) { return stamp_or_none(self.change->at); }, nb::sig("def at(self) -> Any"),
          "Since when it holds; None: always.")
      .def_prop_ro("node", &node_object, nb::sig("def node(self) -> NodeId"), "The node that it is about.")
      .def_prop_ro("parent", &parent_object, nb::sig("def parent(self) -> NodeId | None"),
                   "The parent that it names; None: all parents.")
      .def_prop_ro("attributes", &attributes_dict, nb::sig("def attributes(self) -> dict[str, Any]"),
                   "What it sets; None erases.")
      .def_prop_ro("content_object", &content_object, nb::sig("def content_object(self) -> Any"),
                   "What a new node carries, or None.")
      .def_prop_ro("value_type", &value_type, "Of what is asserted: empty, fixed, driven, sampled or ended.")
      .def_prop_ro("interpolation", &interpolation, "How samples that are asserted follow one another.")
      .def_prop_ro("in_frame", &in_frame_object, nb::sig("def in_frame(self) -> Any"),
                   "The parent frame that is asserted; None where none is.")
      .def_prop_ro(
          "transform",
          [](const ChangeRecord& self) { return pose_of(self) == nullptr ? nb::none() : nb::cast(pose_of(self)->value); },
          nb::sig("def transform(self) -> Any"), "The pose of a new Transform or of a fixed frame; None of others.")
      .def_prop_ro(
          "covariance",
          [](const ChangeRecord& self) { return pose_of(self) == nullptr ? nb::none() : covariance_object(*pose_of(self)); },
          nb::sig("def covariance(self) -> Any"), "The covariance of this pose; None where it has none.")
      .def_prop_ro(
          "is_unsure",
          [](const ChangeRecord& self) { return pose_of(self) != nullptr && pose_of(self)->certainty == Certainty::unknown; },
          "Whether this pose has a covariance that is not known.")
      .def_prop_ro(
          "is_fixed",
          [](const ChangeRecord& self) {
            const log::AddNode* node = std::get_if<log::AddNode>(&self.change->payload);
            return node != nullptr && node->placement && node->placement->is_fixed;
          },
          "Whether a new Transform is always where it is made.")
      .def_prop_ro("form", &form_object, nb::sig("def form(self) -> tuple[Any, ...]"), "How joints drive a pose.")
      .def("__eq__", &are_equal, "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const ChangeRecord& self) {
             return static_cast<Py_hash_t>((self.change->id.author ^ self.change->id.sequence * 0x9e3779b97f4a7c15) >> 1);
           })
      .def("__repr__", &shown_record)
      .def(
          "__getstate__",
          [](const ChangeRecord& self) { return nb::make_tuple(text_object(json_of(self)), content_object(self)); },
          nb::sig("def __getstate__(self) -> tuple[Any, ...]"))
      .def(
          "__setstate__",
          [](ChangeRecord& self, const nb::tuple& state) {
            check_state(state, 2);
            new (&self) ChangeRecord(record_from(state[0], state[1]));
          },
          nb::sig("def __setstate__(self, state: tuple[Any, ...], /) -> None"));
}

}  // namespace armillary::python
