#include "armillary/graph/selection.hpp"

#include <algorithm>

namespace armillary {

namespace {

/// The first instant after one.
Stamp after(Stamp at) { return at == Stamp::never() ? at : Stamp{at.ns + 1}; }

/// A pose that a node was made with is a fallback until it is given another one.
Rank rank_of(const Run& run, Stamp newest) {
  if (run.rank == Rank::identity) return Rank::plain;
  const bool has_moved = run.rank == Rank::fallback && run.provider.kind == ProviderKind::sampled && newest > run.from;
  return has_moved ? Rank::plain : run.rank;
}

}  // namespace

void Selection::choose(const TrackSet& set, Stamp at, Duration rival_timeout) {
  contestants_.clear();
  tracks_.clear();
  runs_.clear();
  valid_ = {};
  unreceived_ = kNone;
  const auto next = std::ranges::upper_bound(set.preferences, at, {}, &PreferenceStep::from);
  narrow(next == set.preferences.begin() ? Stamp::always() : std::prev(next)->from,
         next == set.preferences.end() ? Stamp::never() : next->from);
  for (const Track& track : set.tracks) look_at(track, at, rival_timeout);
  choose_among(preferred_at(set.preferences, at));
}

void Selection::narrow(Stamp from, Stamp to) { valid_ = {std::max(valid_.from, from), std::min(valid_.to, to)}; }

/// Notes what a track has at `at`, and until when that stays so.
void Selection::look_at(const Track& track, Stamp at, Duration rival_timeout) {
  const auto [run, next] = track.runs().at(at);
  narrow(run == nullptr ? Stamp::always() : run->from, next == nullptr ? Stamp::never() : next->from);
  if (run == nullptr || run->is_closed()) return;
  Coverage open{Stamp::always(), Stamp::never()};
  Stamp newest = run->from;
  if (run->provider.kind == ProviderKind::sampled) {
    newest = run->provider.series().newest();
    if (run->provider.series().has_ended_before(at)) unreceived_ = run->relation;
    const bool lasts = run->provider.is_step() && newest != Stamp::always();
    open.last = lasts ? Stamp::never() : open_until(run->provider.series(), rival_timeout);
  } else if (run->provider.kind == ProviderKind::driven) {
    open = run->provider.driven().coverage();
    if (run->provider.driven().has_ended_before(at)) unreceived_ = run->relation;
    newest = open.empty() || at < open.first ? Stamp::always() : std::min(open.last, at);
  }
  const bool is_open = open.first <= at && at <= open.last;
  if (is_open)
    narrow(open.first, after(open.last));
  else if (at > open.last)
    narrow(after(open.last), Stamp::never());
  else
    narrow(Stamp::always(), open.first);
  contestants_.push_back({&track, run, newest, rank_of(*run, newest), is_open});
}

void Selection::take(const Contestant& one) {
  tracks_.push_back(one.track);
  runs_.push_back(one.run);
}

/// That a thing is in another does not say where in it: it does not count beside a fallback, nor beside who says where.
void Selection::drop_containment() {
  const auto is_said = [this](const Contestant& containment) {
    return std::ranges::any_of(contestants_, [&](const Contestant& one) {
      if (!one.is_open || one.run->rank == Rank::identity) return false;
      return one.rank == Rank::fallback || one.run->parent == containment.run->parent;
    });
  };
  for (std::size_t i = contestants_.size(); i-- > 0;)
    if (contestants_[i].run->rank == Rank::identity && is_said(contestants_[i]))
      contestants_.erase(contestants_.begin() + static_cast<std::ptrdiff_t>(i));
}

void Selection::choose_among(SourceId preferred) {
  drop_containment();
  Rank highest = Rank::fallback;
  for (const Contestant& one : contestants_) {
    if (!one.is_open) continue;
    if (one.track->source == preferred) return take(one);
    highest = std::max(highest, one.rank);
  }
  if (highest == Rank::fallback) return fall_back();
  for (const Contestant& one : contestants_)
    if (one.is_open && one.rank == highest) take(one);
}

/// The newest fallback; where there is none, the source that gave something last.
void Selection::fall_back() {
  const Contestant* fallback = nullptr;
  const Contestant* silent = nullptr;
  for (const Contestant& one : contestants_) {
    const Contestant*& best = one.is_open ? fallback : silent;
    if (best == nullptr || std::pair(one.newest, one.rank) > std::pair(best->newest, best->rank)) best = &one;
  }
  if (const Contestant* chosen = fallback != nullptr ? fallback : silent) take(*chosen);
}

bool Selection::is_guess() const { return !contestants_.empty() && std::ranges::none_of(contestants_, &Contestant::is_open); }

Stamp Selection::newest() const {
  Stamp newest = Stamp::always();
  for (const Contestant& one : contestants_) newest = std::max(newest, one.newest);
  return newest;
}

}  // namespace armillary
