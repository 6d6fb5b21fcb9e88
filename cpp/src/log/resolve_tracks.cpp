// S5 and S6: what each track says of its frame, and what of it would close a cycle.

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "armillary/graph/cut_cycles.hpp"
#include "log/resolver_state.hpp"

namespace armillary::log {

namespace {

/// From `stamp` on a track says something else: a slot, or a sample.
struct Event {
  Stamp stamp{};
  const Slot* slot = nullptr;  // null: a sample
  const std::string* parent = nullptr;

  [[nodiscard]] bool is_run() const { return slot == nullptr || slot->is<Sampled>(); }
};

/// When a relation began anew: samples whose writer held less do not count.
HybridTimestamp void_before(const ResolverState& state, const Track& track, const std::string& parent) {
  HybridTimestamp newest{std::numeric_limits<std::int64_t>::min(), 0};
  if (const FrameEntry* frame = state.log.find_frame(track.of)) {
    if (frame->barrier) newest = std::max(newest, frame->barrier->time);
    const auto found = frame->tracks.find({track.kind, track.source});
    if (found != frame->tracks.end() && found->second.always) newest = std::max(newest, found->second.always->time);
  }
  const FrameEntry* above = state.log.find_frame(parent);
  return above != nullptr && above->barrier ? std::max(newest, above->barrier->time) : newest;
}

/// Samples of relations that some slot announces; of one stamp that of the highest (rewrites, author).
std::map<Stamp, const SampleRow*> rows_of(const ResolverState& state, const Track& track, const std::vector<Slot>& slots) {
  std::map<Stamp, const SampleRow*> rows;
  const auto found = state.samples.tracks.find(track);
  if (found == state.samples.tracks.end()) return rows;
  std::map<std::string, HybridTimestamp> known;
  for (const Slot& slot : slots)
    if (slot.is<Sampled>()) known.emplace(slot.parent(), void_before(state, track, slot.parent()));
  for (const SampleRow& row : found->second) {
    const auto relation = known.find(row.in_frame);
    if (relation == known.end() || row.base < relation->second || row.epoch != state.out.epoch) continue;
    if (state.is_forgotten(row, track.kind, track.of, track.source)) continue;
    const SampleRow*& held = rows[row.stamp];
    if (held == nullptr || std::pair(held->rewrites, held->author) < std::pair(row.rewrites, row.author)) held = &row;
  }
  return rows;
}

/// In the order of time. At one stamp structure goes before a sample, which does not count then.
std::vector<Event> events_of(const std::vector<Slot>& slots, const std::map<Stamp, const SampleRow*>& rows) {
  std::vector<Event> events;
  std::set<Stamp> stated;
  for (const Slot& slot : slots) {
    if (slot.is_boundary) events.push_back({slot.since, &slot, &slot.parent()});
    if (!slot.is<Sampled>()) stated.insert(slot.since);
  }
  for (const auto& [stamp, row] : rows)
    if (!stated.contains(stamp)) events.push_back({stamp, nullptr, &row->in_frame});
  std::ranges::stable_sort(events, [](const Event& a, const Event& b) {
    return std::pair(a.stamp, a.slot == nullptr) < std::pair(b.stamp, b.slot == nullptr);
  });
  return events;
}

/// The strongest of the slots that announce samples under a parent.
const Slot& announcing(const std::vector<Slot>& slots, const std::string& parent) {
  const Slot* found = nullptr;
  for (const Slot& slot : slots)
    if (slot.is<Sampled>() && slot.parent() == parent &&
        (found == nullptr || stronger(slot.record->signature(), found->record->signature())))
      found = &slot;
  return *found;
}

Piece piece_of(const Slot& slot, const Interval& when) {
  return {.when = when,
          .parent = slot.parent(),
          .provider = slot.is<Fixed>()    ? Provider::fixed
                      : slot.is<Driven>() ? Provider::driven
                                          : Provider::sampled,
          .record = slot.record,
          .rank = slot.payload->rank};
}

/// Invariant: in the order of time, without overlap. Consecutive samples of one parent are one piece (a run); a sampled slot
/// is a boundary without a row.
std::vector<Piece> asserted_pieces(const std::vector<Slot>& slots, const std::vector<Event>& events) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < events.size();) {
    std::size_t next = i + 1;
    const bool is_run = events[i].is_run();
    while (is_run && next < events.size() && events[next].is_run() && *events[next].parent == *events[i].parent) ++next;
    const Interval when{events[i].stamp, next < events.size() ? events[next].stamp : Stamp::never()};
    const bool is_ended = events[i].slot != nullptr && events[i].slot->is<Ended>();
    if (!is_ended && !when.empty()) {
      pieces.push_back(piece_of(is_run ? announcing(slots, *events[i].parent) : *events[i].slot, when));
      Interval& covered = pieces.back().covered;
      if (is_run) covered = {Stamp::never(), Stamp::always()};
      for (std::size_t k = i; is_run && k < next; ++k)
        if (events[k].slot == nullptr) covered = {std::min(covered.from, events[k].stamp), Stamp{events[k].stamp.ns + 1}};
    }
    i = next;
  }
  return pieces;
}

/// When the frame of a node may be placed by others: while the node is alive. Other frames always may.
std::map<std::string, Intervals> availability(const ResolverState& state) {
  std::map<std::string, Intervals> available;
  for (const auto& [id, node] : state.out.nodes)
    if (!node.is_stand_in)
      for (const NodeIncarnation& one : node.incarnations) available[one.frame];
  available.erase(state.root_frame);
  for (const auto& [id, node] : state.out.nodes)
    for (const NodeIncarnation& one : node.incarnations)
      if (const auto own = available.find(one.frame); own != available.end())
        own->second = own->second | (node.alive_for_places & one.current_for_places);
  return available;
}

/// Parts of pieces within some time.
std::vector<Piece> within(const std::vector<Piece>& pieces, const Intervals& time) {
  std::vector<Piece> parts;
  for (const Piece& piece : pieces)
    for (const Interval& when : Intervals(piece.when) & time) {
      parts.push_back(piece);
      parts.back().when = when;
    }
  return parts;
}

Intervals extent(const std::vector<Piece>& pieces) {
  Intervals all;
  for (const Piece& piece : pieces) all = all | Intervals(piece.when);
  return all;
}

}  // namespace

/// Where the asserted layer says something it holds; elsewhere the base layer does.
void resolve_tracks(ResolverState& state) {
  const std::map<std::string, Intervals> available = availability(state);
  for (const auto& [track, all] : state.slots) {
    std::vector<Slot> slots;
    std::ranges::copy_if(all, std::back_inserter(slots),
                         [&](const Slot& slot) { return !state.breaks_body.contains(slot.record->id); });
    std::vector<Piece> asserted = asserted_pieces(slots, events_of(slots, rows_of(state, track, slots)));
    if (const auto own = available.find(track.of); own != available.end()) asserted = within(asserted, own->second);
    if (asserted.empty()) continue;
    std::vector<Piece>& pieces = state.out.tracks[track];
    pieces = within(pieces, Intervals::everything() - extent(asserted));
    std::ranges::move(asserted, std::back_inserter(pieces));
  }
  for (auto& [track, pieces] : state.out.tracks)
    std::ranges::sort(pieces, {}, [](const Piece& piece) { return piece.when.from; });
}

void resolve_cycles(ResolverState& state) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::vector<const std::string*> names;
  const auto number = [&](const std::string& name) {
    const auto [found, is_new] = numbers.emplace(name, static_cast<std::uint32_t>(numbers.size()));
    if (is_new) names.push_back(&found->first);
    return found->second;
  };
  struct Contender {
    const Track* track;
    Piece* piece;
  };
  std::vector<Contender> contenders;
  for (auto& [track, pieces] : state.out.tracks)
    for (Piece& piece : pieces)
      if (track.kind == TrackKind::pose) contenders.push_back({&track, &piece});
  std::ranges::sort(contenders, [](const Contender& a, const Contender& b) {
    if (a.piece->is_base != b.piece->is_base) return a.piece->is_base;
    const Signature one = a.piece->record->signature(), other = b.piece->record->signature();
    if (one != other) return stronger(one, other);
    return std::pair(*a.track, a.piece->when.from) < std::pair(*b.track, b.piece->when.from);
  });
  std::vector<Link> links;
  for (const auto& [track, piece] : contenders)
    links.push_back({number(track->of), number(piece->parent), Intervals(common(piece->when, piece->covered))});
  const std::vector<Cut> cuts = cut_cycles(names.size(), links);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (cuts[i].when.empty()) continue;
    contenders[i].piece->cut = cuts[i].when;
    Inactive row{contenders[i].piece->record->id, Reason::cycle, cuts[i].when};
    for (const std::uint32_t frame : cuts[i].path) row.path.push_back(*names[frame]);
    state.out.inactive.push_back(std::move(row));
  }
}

namespace {

bool never_moves(const Piece& piece) {
  const bool is_constant = piece.provider == Provider::fixed || piece.provider == Provider::identity ||
                           piece.provider == Provider::node;  // a Transform that is covered always is fixed
  return is_constant && piece.when == Interval{} && piece.covered == Interval{} && piece.cut.empty();
}

}  // namespace

/// Declared bodies, and frames that are fixed to one another for always, declared or not.
void resolve_motion(ResolverState& state) {
  std::map<std::string, std::string> above;  // union-find, the lesser name on top
  const auto top = [&](std::string name) {
    for (auto found = above.find(name); found != above.end() && found->second != name; found = above.find(name))
      name = found->second;
    return name;
  };
  const auto join = [&](const std::string& a, const std::string& b) {
    const auto [first, second] = std::minmax({top(a), top(b)});
    above[first] = first;
    above[second] = first;
  };
  for (const auto& [frame, body] : state.out.on) join(frame, body);
  for (const auto& [track, pieces] : state.out.tracks)
    if (track.kind == TrackKind::pose && pieces.size() == 1 && never_moves(pieces.front())) join(track.of, pieces.front().parent);
  for (const auto& [name, parent] : above) state.out.moves_with.emplace(name, top(name));
}

}  // namespace armillary::log
