#pragma once

#include <functional>
#include <span>

#include "armillary/scene/version.hpp"

namespace armillary::scene {

/// What an attribute must be. A text, a truth value and a list are exact; numbers may be within bounds.
struct Condition {
  enum class Kind : std::uint8_t { equals, between, exists, absent, matches };
  std::string key{};
  Kind kind = Kind::exists;
  AttributeValue value{false};                  ///< of `equals`
  std::optional<AttributeValue> low{}, high{};  ///< of `between`: numbers
  bool low_included = true, high_included = true;
  std::function<bool(const AttributeValue&)> test{};  ///< of `matches`; asked once per different value
};

/// Whether one value is what a condition asks; absent is null.
[[nodiscard]] bool holds(const Condition& condition, const AttributeValue* value);

/// The nodes under one, itself included, of which all conditions hold; oldest first.
///
/// Costs what the most selective condition finds in the index, not the number of nodes.
[[nodiscard]] std::vector<NodeId> find(const Version& version, std::span<const Condition> conditions, const NodeId& under);

/// Whether a living node is `ancestor` or below it, along active edges.
[[nodiscard]] bool is_under(const Version& version, const NodeId& node, const NodeId& ancestor);

/// All living nodes under one, itself first, each once; parents before children along the first way met.
[[nodiscard]] std::vector<NodeId> subtree(const Version& version, const NodeId& under);

/// Digest of the nodes under one; of everything for the root.
[[nodiscard]] Digest digest(const Version& version, const NodeId& under);

}  // namespace armillary::scene
