#pragma once

#include <nanobind/nanobind.h>

#include "armillary/scene/past.hpp"
#include "armillary/scene/store.hpp"

namespace nb = nanobind;

namespace armillary::python {

/// A change record as Python holds it.
struct ChangeRecord {
  log::ChangePtr change;
};

/// One version of a scene, now or as it was at an instant; all questions to it are answered from it.
struct SceneView {
  scene::VersionPtr version;
  std::optional<Stamp> at;
  std::shared_ptr<const scene::Store> store;
};

[[nodiscard]] nb::object change_object(const log::ChangePtr& change);
/// A record that nobody has signed.
[[nodiscard]] nb::object unsigned_record(log::Payload payload);
/// The node that a payload is about, and its parent; none where it is about frames, or about all parents.
[[nodiscard]] std::optional<NodeId> node_of(const log::Payload& payload);
[[nodiscard]] std::optional<NodeId> parent_of(const log::Payload& payload);

}  // namespace armillary::python
