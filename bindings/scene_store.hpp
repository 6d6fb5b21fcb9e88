#pragma once

#include <nanobind/nanobind.h>

#include "armillary/scene/past.hpp"
#include "armillary/scene/store.hpp"

namespace nb = nanobind;

namespace armillary::python {

/// A change as Python holds it.
struct ChangeHandle {
  scene::ChangePtr change;
};

/// One version of a scene, now or as it was at an instant; all questions to it are answered from it.
struct SceneView {
  scene::VersionPtr version;
  std::optional<Stamp> at;
  std::shared_ptr<const scene::Store> store;
};

[[nodiscard]] nb::object change_object(const scene::ChangePtr& change);
[[nodiscard]] std::shared_ptr<const scene::Payload> payload_from(nb::handle value);
[[nodiscard]] std::shared_ptr<const scene::Placement> placement_from(nb::handle value);
/// Of its name, as `ChangeRecord.kind` tells it.
[[nodiscard]] scene::ChangeKind change_kind(const std::string& name);
void check_parts(const scene::Change& change);

}  // namespace armillary::python
