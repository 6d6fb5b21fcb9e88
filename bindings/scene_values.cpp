#include "scene_values.hpp"

#include <nanobind/stl/string.h>

#include <cstring>
#include <mutex>

#include "armillary/detail/at_fork.hpp"
#include "convert.hpp"
#include "raise.hpp"
#include "values.hpp"

namespace armillary::python {

// -- Ids

NodeId as_node_id(nb::handle value) {
  const NodeId id = as_node_id_or_nil(value);
  if (id == NodeId{}) raise("InvalidArgument", "The nil id, all zeros, names no node.", value);
  return id;
}

NodeId as_node_id_or_nil(nb::handle value) {
  if (const NodeId* id = value_of<NodeId>(value)) return *id;
  if (nb::hasattr(value, "hex") && nb::hasattr(value, "bytes")) {
    const nb::object bytes = value.attr("bytes");
    if (PyBytes_Check(bytes.ptr()) && PyBytes_GET_SIZE(bytes.ptr()) == 16) {
      NodeId id;
      std::memcpy(id.bytes.data(), PyBytes_AS_STRING(bytes.ptr()), 16);
      return id;
    }
  }
  raise("InvalidArgument", "A node is named by its NodeId (or a uuid.UUID), got " + shown(value) + ".", value);
}

nb::list id_list(const std::vector<NodeId>& ids) {
  nb::list list;
  for (const NodeId& id : ids) list.append(nb::cast(id));
  return list;
}

nb::dict names_of(const scene::Version& version, const std::vector<NodeId>& nodes) {
  nb::dict names;
  for (const NodeId& node : nodes) {
    const scene::NodeRecord* record = version.recall(node);
    if (record == nullptr) continue;
    record->for_each_attribute([&](const scene::Attribute& attribute) {
      const auto* name = *attribute.key.text == "name" ? attribute.value->get_if<std::string>() : nullptr;
      if (name != nullptr) names[nb::cast(node)] = nb::str(name->data(), name->size());
    });
    if (record->frame_name != nullptr) names[nb::cast(node)] = text_object(*record->frame_name);
  }
  return names;
}

nb::str text_object(const std::string& text) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
}

// -- Attributes

namespace {

constexpr int kDeepestList = 8;

[[noreturn]] void refuse(const std::string& key, nb::handle value, const char* why) {
  raise_object(error_class("InvalidAttribute")(key, value, why));
}

AttributeValue attribute_within(const std::string& key, nb::handle value, int depth) {
  PyObject* object = value.ptr();
  if (PyBool_Check(object)) return object == Py_True;
  if (PyUnicode_Check(object)) return std::string(text_of(value));
  if (PyLong_Check(object)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) refuse(key, value, "whole numbers must fit into 64 bits");
    return std::int64_t{number};
  }
  if (PyFloat_Check(object)) {
    const double number = PyFloat_AS_DOUBLE(object);
    if (number != number) refuse(key, value, "not a number (NaN) cannot be compared or found again");
    return number;
  }
  if (PyList_Check(object) || PyTuple_Check(object)) {
    if (depth >= kDeepestList) refuse(key, value, "lists may be nested eight deep");
    AttributeValue::List list;
    for (nb::handle item : value) list.push_back(attribute_within(key, item, depth + 1));
    return list;
  }
  if (nb::hasattr(value, "tolist") && nb::hasattr(value, "dtype")) {
    const nb::object plain = value.attr("tolist")();
    if (!nb::hasattr(plain, "dtype")) return attribute_within(key, plain, depth);
  }
  refuse(key, value, "a value is a text, a number, a truth value, or a list of these");
}

}  // namespace

AttributeValue as_attribute(const std::string& key, nb::handle value) { return attribute_within(key, value, 0); }

nb::object attribute_object(const AttributeValue& value) {
  if (const bool* truth = value.get_if<bool>()) return nb::bool_(*truth);
  if (const std::int64_t* number = value.get_if<std::int64_t>()) return nb::int_(*number);
  if (const double* number = value.get_if<double>()) return nb::float_(*number);
  if (const std::string* text = value.get_if<std::string>()) return nb::str(text->data(), text->size());
  nb::list list;
  for (const AttributeValue& item : *value.get_if<AttributeValue::List>()) list.append(attribute_object(item));
  return list;
}

std::vector<log::Setting> as_settings(nb::handle mapping, bool may_erase) {
  std::vector<log::Setting> settings;
  if (mapping.is_none()) return settings;
  if (!PyDict_Check(mapping.ptr()) && !nb::hasattr(mapping, "keys"))
    raise("InvalidArgument",
          "Attributes are a mapping of names to values, as in {\"name\": \"cup\"}, got " + shown(mapping) + ".", mapping);
  const nb::object items =
      PyDict_Check(mapping.ptr()) ? nb::borrow(mapping) : nb::handle(reinterpret_cast<PyObject*>(&PyDict_Type))(mapping);
  for (const auto& [name, value] : nb::borrow<nb::dict>(items)) {
    if (!PyUnicode_Check(name.ptr()) || PyUnicode_GET_LENGTH(name.ptr()) == 0)
      raise("InvalidArgument", "The name of an attribute is a text that is not empty, got " + shown(name) + ".", name);
    std::string key(text_of(name));
    if (value.is_none() && !may_erase) refuse(key, value, "a new node has the attributes it is given; leave this one out");
    std::optional<AttributeValue> set;
    if (!value.is_none()) set = as_attribute(key, value);
    settings.push_back({std::move(key), std::move(set)});
  }
  return settings;
}

// -- Python objects that native versions hold

namespace {

std::mutex& waiting_lock() {
  static std::mutex lock;
  return lock;
}

/// So that a fork finds it free; made with the first object.
void keep_whole() {
  static const auto* const at_fork [[maybe_unused]] = new detail::AtFork({.try_hold = [] { return waiting_lock().try_lock(); },
                                                                          .release = [] { waiting_lock().unlock(); },
                                                                          .renew = [] { waiting_lock().unlock(); }});
}

std::vector<PyObject*>& waiting() {
  static std::vector<PyObject*> objects;
  return objects;
}

int let_go(void*) {
  std::vector<PyObject*> objects;
  {
    const std::lock_guard guard(waiting_lock());
    objects.swap(waiting());
  }
  for (PyObject* object : objects) Py_DECREF(object);
  return 0;
}

/// A version ends in any thread, under locks: its objects are let go by the interpreter when it is free to.
void let_go_later(PyObject* object) {
  if (!Py_IsInitialized()) return;
  bool is_first = false;
  {
    const std::lock_guard guard(waiting_lock());
    is_first = waiting().empty();
    waiting().push_back(object);
  }
  if (is_first) Py_AddPendingCall(&let_go, nullptr);
}

}  // namespace

std::shared_ptr<const void> kept(nb::handle object) {
  keep_whole();
  object.inc_ref();
  return {object.ptr(), [](PyObject* held) { let_go_later(held); }};
}

nb::object kept_object(const std::shared_ptr<const void>& object) {
  if (!object) return nb::none();
  return nb::borrow(static_cast<PyObject*>(const_cast<void*>(object.get())));
}

nb::object covariance_object(const FixedPose& pose) {
  return pose.certainty == Certainty::known ? read_only_array(pose.covariance.values.data(), {6, 6}) : nb::none();
}

// -- Kinds

namespace {
constexpr NodeKind kKinds[] = {NodeKind::group,    NodeKind::transform,  NodeKind::uncertain_transform,
                               NodeKind::geometry, NodeKind::connection, NodeKind::frame};
}

NodeKind as_kind(std::string_view name) {
  for (const NodeKind kind : kKinds)
    if (name == log::name_of(kind)) return kind;
  raise("InvalidArgument", "There is no kind of node called '" + std::string(name) + "'.");
}

}  // namespace armillary::python
