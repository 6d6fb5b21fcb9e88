#pragma once

#include <cstdint>

namespace armillary {

// Dense numbers behind names. Frame ids are reused after removal, relation ids never.
using FrameId = std::uint32_t;
using RelationId = std::uint32_t;
using SourceId = std::uint32_t;
using BodyId = std::uint32_t;

inline constexpr std::uint32_t kNone = 0xffffffff;

}  // namespace armillary
