#pragma once

// What a scene keeps, as Python gives and gets it.

#include <nanobind/nanobind.h>

#include "armillary/scene/store.hpp"

namespace nb = nanobind;

namespace armillary::python {

/// A NodeId or a uuid.UUID that names a node; nil names none.
[[nodiscard]] NodeId as_node_id(nb::handle value);
/// The same, or nil.
[[nodiscard]] NodeId as_node_id_or_nil(nb::handle value);

[[nodiscard]] nb::str text_object(const std::string& text);

[[nodiscard]] AttributeValue as_attribute(const std::string& key, nb::handle value);
[[nodiscard]] nb::object attribute_object(const AttributeValue& value);

/// From a mapping of texts to values; None erases where that is allowed.
[[nodiscard]] std::vector<log::Setting> as_settings(nb::handle mapping, bool may_erase);

/// Keeps a Python object for the native side. It is let go later, with the GIL held, whoever drops it.
[[nodiscard]] std::shared_ptr<const void> kept(nb::handle object);
[[nodiscard]] nb::object kept_object(const std::shared_ptr<const void>& object);

/// (6, 6), or None where it is not known.
[[nodiscard]] nb::object covariance_object(const FixedPose& pose);

[[nodiscard]] nb::list id_list(const std::vector<NodeId>& ids);

/// What nodes are called that are there, or were: those of them that have the attribute `name`, with it.
[[nodiscard]] nb::dict names_of(const scene::Version& version, const std::vector<NodeId>& nodes);

[[nodiscard]] NodeKind as_kind(std::string_view name);

}  // namespace armillary::python
