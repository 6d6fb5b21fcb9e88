#pragma once

// What the strata of the resolver hand on to one another. Each one is a function that reads what those before it wrote.

#include "armillary/log/resolve.hpp"
#include "armillary/log/slots.hpp"

namespace armillary::log {

struct ResolverState {
  const ChangeLog& log;
  const Samples& samples;
  const std::string& root_frame;
  std::map<Track, std::vector<Slot>> slots{};                                // S1: by since
  std::set<std::string> named{};                                             // S1 and S2: frames that a live record names
  std::set<Dot> breaks_body{};                                               // S4: assertions that a body makes inactive
  std::map<std::pair<NodeId, Incarnation>, std::vector<Stamp>> node_rows{};  // S5: of Transforms, those that count
  ResolvedTopology out{};

  /// A stamp of a record on the present time axis: what was written in an earlier epoch holds since always.
  [[nodiscard]] Stamp here(const Change& change, Stamp stamp) const {
    return change.epoch == out.epoch ? stamp : Stamp::always();
  }
  /// Whether a Forget of the present epoch takes a row back. Without an `in_frame` the row is of a Transform.
  [[nodiscard]] bool is_forgotten(const SampleRow& row, TrackKind kind, const std::string& of, const std::string& source) const;

  void report(const ChangePtr& record, Reason reason) { out.inactive.push_back({record->id, reason}); }
};

void resolve_slots(ResolverState& state);        // S0, S1
void resolve_containment(ResolverState& state);  // S2
void count_rows_of_nodes(ResolverState& state);  // S5, for S3
void resolve_base_pieces(ResolverState& state);  // S3
void resolve_tracks(ResolverState& state);       // S5
void resolve_cycles(ResolverState& state);       // S6
void resolve_motion(ResolverState& state);       // frames that never move relative to one another
void resolve_preferences(ResolverState& state);  // S7
void resolve_variables(ResolverState& state);    // S8

}  // namespace armillary::log
