#pragma once

#include "armillary/scene/version.hpp"

namespace armillary::scene {

/// The changes that the nodes of a version consist of, with their ids, in no order: merged anywhere they give the same nodes.
/// What was superseded, or ended longer ago than is remembered, is not among them.
[[nodiscard]] std::vector<Change> node_records(const Version& version);

}  // namespace armillary::scene
