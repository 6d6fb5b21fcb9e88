#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "armillary/log/assertions.hpp"
#include "armillary/log/bodies.hpp"
#include "armillary/log/inactive.hpp"
#include "armillary/series/intervals.hpp"

// Which assertions of a change log hold, and when: a function of the set of changes and of the set of samples.
//
// It is computed in strata; none of them reads a later one.
//   S0  barriers and epochs   a removal of a frame voids what was asserted of it before; what was written in an earlier time
//                             epoch, and held last there, holds since always
//   S1  slots                 of two writes of one slot the newer wins; one that is empty, or whose parent was removed later,
//                             leaves nothing: what it superseded never comes back
//   S2  containment           which nodes are alive: edges in strength order, but for cycles, from the anchors down
//   S3  relations of nodes    each edge in force places the node's own frame in that of the parent
//   S4  bodies                declarations, claims and relations in strength order; within a body nothing moves
//   S5  tracks                what one source says of one frame, from its slots and samples; where it says nothing, S3
//   S6  cycles                at each instant pieces in strength order, those of S3 first, but for those that close a cycle
//   S7  preferences           per subject the newest preference that covers an instant
//   S8  variables             joints that wait for their variables
//
// Two orders decide, and never the same question: *newer* between two writes of one slot, *stronger* between different things
// that cannot hold together (timestamp.hpp).

namespace armillary::log {

/// One sample, as far as structure is concerned. `base`: the newest timestamp that its writer held.
struct SampleRow {
  Stamp stamp{};
  std::string in_frame{};  ///< of a relation; empty for a node
  std::uint64_t author = 0;
  std::uint32_t rewrites = 0;  ///< how often its author had given this stamp before
  HybridTimestamp base{};
  Epoch epoch{};
};

/// All samples of a world, of relations by track and of Transforms by node.
struct Samples {
  std::map<Track, std::vector<SampleRow>> tracks{};
  std::map<std::pair<NodeId, Incarnation>, std::vector<SampleRow>> nodes{};
};

enum class Provider : std::uint8_t { fixed, driven, sampled, identity, node };
[[nodiscard]] const char* name_of(Provider provider);

/// What a track says of its frame for a while.
struct Piece {
  Interval when{};
  std::string parent{};
  Provider provider = Provider::fixed;
  ChangePtr record{};  ///< of several sampled slots of one parent the strongest; of a node that of the edge
  Rank rank = Rank::plain;
  bool is_base = false;  ///< from containment (S3)
  Interval covered{};    ///< where it has a value: all time but for samples
  Intervals cut{};       ///< where it would close a cycle

  [[nodiscard]] bool holds(Stamp at) const { return when.contains(at) && covered.contains(at); }
};

/// One incarnation of a node, when it is the one that its id means.
struct NodeIncarnation {
  Incarnation incarnation{};
  ChangePtr head{};  ///< says what the node is: of several AddNode the strongest
  std::string frame{};
  Stamp created_at{};
  Intervals current{}, current_for_places{};  ///< for places there is no time before a node was added
};

struct ResolvedNode {
  std::vector<NodeIncarnation> incarnations{};  ///< the oldest first
  bool is_stand_in = false;
  Intervals alive{}, alive_for_places{};
};

/// One containment edge, with its interval in the present epoch.
struct ResolvedEdge {
  NodeId node{}, parent{};
  Incarnation incarnation{}, parent_incarnation{};
  ChangePtr record{};
  const Edge* given = nullptr;  ///< in the record
  Interval when{};
  Intervals taken{}, taken_for_places{};
};

struct ResolvedTopology {
  std::set<std::string> frames{};
  std::map<Track, std::vector<Piece>> tracks{};  ///< pieces in the order of time; they do not overlap
  std::map<NodeId, ResolvedNode> nodes{};
  std::vector<ResolvedEdge> edges{};                ///< the strongest first
  std::set<std::string> bodies{};                   ///< declared
  std::map<std::string, std::string> on{};          ///< the declared body of a frame; a body is on itself
  std::map<std::string, std::string> moves_with{};  ///< a frame and a representative of all that never move relative to it
  std::map<Subject, std::vector<PreferenceStep>> preferences{};
  std::map<std::string, VariableKind> variables{};
  std::vector<Inactive> inactive{};
  Epoch epoch{};

  /// Living parents of a node at an instant, the one of the strongest edge first; DETACHED only where there is no other.
  [[nodiscard]] std::vector<NodeId> parents(const NodeId& node, Stamp at) const;
};

/// Attributes of one incarnation at an instant: per key the newest step at or before it.
[[nodiscard]] std::map<std::string, AttributeValue> attributes_at(const ChangeLog& log, const NodeId& node,
                                                                  const Incarnation& incarnation, Stamp at);

/// Resolves everything from the beginning.
[[nodiscard]] ResolvedTopology resolve_full(const ChangeLog& log, const Samples& samples, const std::string& root_frame);

}  // namespace armillary::log
