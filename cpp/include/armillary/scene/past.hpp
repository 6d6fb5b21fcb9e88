#pragma once

#include "armillary/scene/ancestry.hpp"
#include "armillary/scene/search.hpp"

namespace armillary::scene {

/// A scene as it was at one instant of valid time, as far as this version knows. For one thread.
class Past {
 public:
  /// Whether nodes were not there before they were added, or have always been in what they were added to.
  enum class Beginnings : std::uint8_t { count, are_ignored };

  Past(VersionPtr version, Stamp at, Beginnings beginnings = Beginnings::count)
      : version_(std::move(version)), at_(at), beginnings_(beginnings) {}

  [[nodiscard]] Stamp at() const { return at_; }
  [[nodiscard]] const Version& version() const { return *version_; }
  /// The incarnation that the node had then; null where it was not alive.
  [[nodiscard]] const NodeRecord* find(const NodeId& id) const;
  /// The incarnation that the node had then, whether or not the root reached it.
  [[nodiscard]] const NodeRecord* incarnation_of(const NodeId& id) const;
  /// Whether a containment was active then, be its parent alive or not.
  [[nodiscard]] bool counts(const NodeRecord& record, const Edge& edge) const;
  [[nodiscard]] std::vector<NodeId> parents(const NodeRecord& record) const;
  [[nodiscard]] std::vector<NodeId> children(const NodeRecord& record) const;
  /// The node whose frame the node was in.
  [[nodiscard]] const NodeRecord& framed(const NodeRecord& record) const;
  [[nodiscard]] std::vector<NodeId> subtree(const NodeId& under) const;
  [[nodiscard]] std::vector<NodeId> find(std::span<const Condition> conditions, const NodeId& under) const;

  /// Attributes that held then: f(const Attribute&).
  template <typename F>
  void for_each_attribute(const NodeRecord& record, F f) const {
    const Attribute* newest = nullptr;
    for (const Attribute& attribute : record.attributes) {
      if (newest != nullptr && newest->key.text != attribute.key.text) give(*newest, f), newest = nullptr;
      if (attribute.at <= at_) newest = &attribute;
    }
    if (newest != nullptr) give(*newest, f);
  }

 private:
  template <typename F>
  static void give(const Attribute& attribute, F& f) {
    if (attribute.value != nullptr) f(attribute);
  }
  [[nodiscard]] bool held(const NodeRecord& record, const Edge& edge) const;
  [[nodiscard]] bool is_link(const NodeRecord& record, const Edge& edge) const;
  [[nodiscard]] bool closes_cycle(const NodeRecord& record, const Edge& edge) const;

  VersionPtr version_;
  Stamp at_;
  Beginnings beginnings_;
  mutable Ancestry alive_{kRootNode, kDetachedNode};  // as far as that was asked for
};

/// Whether a node was added with this edge.
[[nodiscard]] bool is_first(const NodeRecord& record, const Edge& edge);

}  // namespace armillary::scene
