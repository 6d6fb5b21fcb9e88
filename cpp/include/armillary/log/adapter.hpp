#pragma once

#include <span>
#include <vector>

#include "armillary/log/change.hpp"
#include "armillary/scene/change.hpp"

namespace armillary::log {

/// The records of today's store as changes of the log, all of them together: the time epoch of a record is that of the newest
/// reset among them that is older.
///
/// Removals that `undo` made of frames which only the undone change named stay removals: who merges them cannot tell them from
/// others. The shadow tests compare what a log of these resolves to with what the store made of the records.
[[nodiscard]] std::vector<ChangePtr> adapted(std::span<const scene::ChangePtr> records);

}  // namespace armillary::log
