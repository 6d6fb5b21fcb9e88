#pragma once

#include <cstdint>

namespace armillary {

enum class NodeKind : std::uint8_t { unknown, group, transform, uncertain_transform, geometry, connection, frame };

[[nodiscard]] constexpr bool may_have_children(NodeKind kind) {
  return kind != NodeKind::geometry && kind != NodeKind::connection && kind != NodeKind::unknown;
}

[[nodiscard]] constexpr bool is_transform(NodeKind kind) {
  return kind == NodeKind::transform || kind == NodeKind::uncertain_transform;
}

}  // namespace armillary
