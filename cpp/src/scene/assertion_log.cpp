#include "armillary/scene/assertion_log.hpp"

#include <algorithm>

namespace armillary::scene {

namespace {

/// More are forgotten: only the last one before each new beginning of time can count.
constexpr std::size_t kWordsOfOneInstant = 8;

template <typename Map, typename Key>
const typename Map::mapped_type* lookup(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

template <typename Map, typename Key>
void raise_mark(Map& map, const Key& key, const Mark& mark) {
  Mark& held = map[key];
  held = std::max(held, mark);
}

/// The first ones go where there are too many, as they do when something ends them: in whatever order all that comes, the
/// same are left.
template <typename Marks>
void bound(Marks& marks, std::size_t most) {
  while (marks.size() > most) marks.erase(marks.begin());
}

}  // namespace

// -- Taking

void Facts::name(const std::string& frame, const Mark& mark) {
  Mark& named = frames_[frame].named;
  named = std::max(named, mark);
}

void Facts::take(const Change& change) {
  const FrameFact& fact = *change.fact;
  const Mark& mark = change.mark;
  if (change.kind != ChangeKind::remove_frame)
    for (const std::string& frame : fact.frames) name(frame, mark);
  switch (change.kind) {
    case ChangeKind::fix:
    case ChangeKind::unfix:
    case ChangeKind::drive:
    case ChangeKind::release:
      return take_fixed(change);
    case ChangeKind::add_joints:
    case ChangeKind::remove_joints:
      return take_joints(change);
    case ChangeKind::add_relation: {
      Track& track = frames_[fact.of].tracks[fact.source];
      if (mark < track.always) return;
      track.sampled[fact.in_frame].emplace(mark, fact.since);
      return bound(track.sampled[fact.in_frame], max_runs_);
    }
    case ChangeKind::add_twist_relation:
      return raise_mark(frames_[fact.of].twists, std::pair(fact.in_frame, fact.source), mark);
    case ChangeKind::add_body:
      if (const auto [known, is_new] = bodies_.emplace(fact.of, mark); !is_new)
        known->second = std::ranges::min(known->second, mark, {}, precedence);
      for (const std::string& frame : fact.frames) {
        std::set<Mark>& claims = frames_[frame].bodies[fact.of];
        claims.insert(mark);
        bound(claims, max_runs_);
      }
      return;
    case ChangeKind::prefer: {
      Preference& preference = frames_[fact.of].preference;
      if (mark > preference.mark) preference = {mark, fact.has_source ? std::optional(fact.source) : std::nullopt};
      return;
    }
    case ChangeKind::remove_frame:
      return take_removal(change);
    case ChangeKind::reset_time:
      reset_ = std::max(reset_, mark);
      ++resets_;
      return;
    default:
      return;
  }
}

void Facts::keep_names(std::span<const ChangePtr> changes) {
  for (const ChangePtr& change : changes) {
    if (!is_of_frames(change->kind) || change->kind == ChangeKind::remove_frame) continue;
    for (const std::string& name : change->fact->frames) {
      Mark& kept = frames_[name].kept;
      kept = std::max(kept, change->mark);
    }
  }
}

void Facts::take_fixed(const Change& change) {
  const FrameFact& fact = *change.fact;
  Track& track = frames_[fact.of].tracks[fact.source];
  if (fact.since == Stamp::always()) track.always = std::max(track.always, change.mark);
  Words& said = track.fixed[fact.since];
  const bool takes_back = change.kind == ChangeKind::unfix;
  said[change.mark] = {change.mark, fact.in_frame, fact.pose, fact.recalibrate, takes_back, fact.form};
  bound(said, kWordsOfOneInstant);
  forget_before(track, track.always);
  bound(track.fixed, max_runs_);
}

void Facts::forget_before(Track& track, const Mark& mark) {
  const auto is_over = [&](const auto& entry) { return entry.first < mark; };
  for (auto& [since, said] : track.fixed) std::erase_if(said, is_over);
  std::erase_if(track.fixed, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [parent, said] : track.sampled) std::erase_if(said, is_over);
}

void Facts::take_joints(const Change& change) {
  for (const auto& [name, kind] : change.fact->joints) {
    Joint& joint = joints_[name];
    if (change.mark < joint.mark) continue;
    joint = {change.mark, change.kind == ChangeKind::add_joints ? std::optional(kind) : std::nullopt};
  }
}

void Facts::take_removal(const Change& change) {
  for (const std::string& name : change.fact->frames) {
    Frame& frame = frames_[name];
    frame.removed = std::max(frame.removed, change.mark);
    const auto is_over = [&](const Mark& mark) { return mark < frame.removed; };
    for (auto& [source, track] : frame.tracks) forget_before(track, frame.removed);
    std::erase_if(frame.twists, [&](const auto& entry) { return is_over(entry.second); });
    for (auto& [body, claims] : frame.bodies) std::erase_if(claims, is_over);
    removed_.push_back(name);
  }
  forget_removed();
}

void Facts::forget_removed() {
  for (; removed_.size() > max_removed_; removed_.pop_front())
    if (const Frame* frame = find(removed_.front()); frame != nullptr && frame->named < frame->removed)
      frames_.erase(removed_.front());
}

// -- What counts

const Facts::Frame* Facts::find(const std::string& name) const { return lookup(frames_, name); }

bool Facts::has_frame(const std::string& name) const {
  const Frame* frame = find(name);
  return frame != nullptr && frame->named > frame->removed;
}

std::optional<bool> Facts::is_named(const std::string& name) const {
  const Frame* frame = find(name);
  return frame == nullptr ? std::nullopt : std::optional(frame->named > frame->removed);
}

bool Facts::is_removed(const std::string& frame, const Mark& mark) const {
  const Frame* found = find(frame);
  return found != nullptr && mark < found->removed;
}

bool Facts::counts(const Frame& frame, const std::string& other, const Mark& mark) const {
  return mark > frame.removed && !is_removed(other, mark);
}

const Facts::Track* Facts::find_track(const std::string& of, const std::string& source) const {
  const Frame* frame = find(of);
  return frame == nullptr ? nullptr : lookup(frame->tracks, source);
}

/// At one instant the last word counts; a pose that was taken back hides nothing.
std::vector<Word> Facts::all_words(const Frame& frame, const Track& track) const {
  std::map<std::pair<bool, Stamp>, Word> found;  // those before time began anew apart
  const auto add = [&](Word word) {
    Word& held = found[{word.mark > reset_, word.since}];
    if (word.mark > held.mark) held = std::move(word);
  };
  for (const auto& [since, all] : track.fixed) {
    const auto first_new = all.upper_bound(reset_);
    for (const auto end : {first_new, all.end()}) {
      const bool is_any = end == first_new ? end != all.begin() : first_new != end;
      if (!is_any) continue;
      const Fixed& said = std::prev(end)->second;
      if (!said.is_taken_back && said.mark >= track.always && counts(frame, said.in_frame, said.mark))
        add({since, said.in_frame, said.pose, said.mark, said.recalibrate, said.form, !said.pose && !said.form});
    }
  }
  for (const auto& [parent, said] : track.sampled)
    for (const bool is_new : {false, true}) {
      const auto first = std::ranges::find_if(
          said, [&](const auto& entry) { return (entry.first > reset_) == is_new && counts(frame, parent, entry.first); });
      if (first != said.end()) add({first->second, parent, nullptr, first->first});
    }
  std::vector<Word> words;
  for (auto& [key, word] : found) words.push_back(std::move(word));
  return words;
}

/// Of what was said before time began anew, the newest alone, and that for always.
std::vector<Word> Facts::words(const Frame& frame, const Track& track) const {
  std::vector<Word> found = all_words(frame, track);
  const auto since_then = std::ranges::find_if(found, [&](const Word& word) { return word.mark > reset_; });
  if (since_then == found.begin()) return found;
  Word newest = *std::prev(since_then);
  found.erase(found.begin(), since_then);
  newest.since = Stamp::always();
  const bool is_hidden = !found.empty() && (newest.is_samples() || found.front().since == Stamp::always());
  if (!is_hidden && !newest.is_closed) found.insert(found.begin(), std::move(newest));
  return found;
}

std::vector<Word> Facts::words(const std::string& of, const std::string& source) const {
  const Frame* frame = find(of);
  const Track* track = find_track(of, source);
  return track == nullptr ? std::vector<Word>{} : words(*frame, *track);
}

bool Facts::has_samples(const std::string& of, const std::string& source) const {
  const Track* track = find_track(of, source);
  return track != nullptr && !track->sampled.empty();
}

bool Facts::has_relation(const FrameFact& fact) const {
  const Frame* frame = find(fact.of);
  const Track* track = find_track(fact.of, fact.source);
  if (track == nullptr) return false;
  const Sampled* said = lookup(track->sampled, fact.in_frame);
  if (said != nullptr && !said->empty() && said->begin()->first > reset_ && counts(*frame, fact.in_frame, said->begin()->first))
    return true;
  return std::ranges::any_of(words(*frame, *track), [&](const Word& one) { return one.in_frame == fact.in_frame; });
}

std::vector<FrameFact> Facts::twists_relative_to(const std::string& name) const {
  std::vector<FrameFact> found;
  for (const auto& [of, frame] : frames_)
    for (const auto& [twist, mark] : frame.twists)
      if (twist.first == name) found.push_back({.of = of, .in_frame = name, .source = twist.second});
  return found;
}

bool Facts::has_twist(const FrameFact& fact) const {
  const Frame* frame = find(fact.of);
  if (frame == nullptr) return false;
  return std::ranges::any_of(frame->twists, [&](const auto& entry) {
    const auto& [reference, source] = entry.first;
    return source == fact.source && counts(*frame, reference, entry.second) && body_of(reference) == body_of(fact.in_frame);
  });
}

bool Facts::is_last_word(const Change& change) const {
  const Track* track = find_track(change.fact->of, change.fact->source);
  return track != nullptr && change.fact->since == Stamp::always() && track->always == change.mark;
}

std::vector<TrackName> Facts::tracks() const {
  std::vector<TrackName> found;
  for (const auto& [name, facts] : frames_)
    for (const auto& [source, track] : facts.tracks) found.emplace_back(name, source);
  return found;
}

std::vector<TrackName> Facts::tracks_at(const std::set<std::string>& frames) const {
  const auto is_sampled_in = [&](const auto& entry) { return frames.contains(entry.first); };
  const auto is_said_in = [&](const auto& entry) { return frames.contains(entry.second.in_frame); };
  const auto is_fixed_in = [&](const auto& entry) { return std::ranges::any_of(entry.second, is_said_in); };
  std::vector<TrackName> found;
  for (const auto& [name, facts] : frames_)
    for (const auto& [source, track] : facts.tracks)
      if (frames.contains(name) || std::ranges::any_of(track.sampled, is_sampled_in) ||
          std::ranges::any_of(track.fixed, is_fixed_in))
        found.emplace_back(name, source);
  return found;
}

std::vector<TrackName> Facts::tracks_driven_by(const FrameFact& joints) const {
  const auto is_named = [&](const std::string& joint) {
    return std::ranges::find(joints.joints, joint, &std::pair<std::string, VariableKind>::first) != joints.joints.end();
  };
  const auto names_it = [&](const auto& entry) {
    const DrivenForm* form = entry.second.form.get();
    return form != nullptr && (std::ranges::any_of(form->positions, is_named) || std::ranges::any_of(form->velocities, is_named));
  };
  const auto is_driven = [&](const auto& entry) { return std::ranges::any_of(entry.second, names_it); };
  std::vector<TrackName> found;
  for (const auto& [name, frame] : frames_)
    for (const auto& [source, track] : frame.tracks)
      if (std::ranges::any_of(track.fixed, is_driven)) found.emplace_back(name, source);
  return found;
}

std::optional<VariableKind> Facts::joint(const std::string& name) const {
  const Joint* joint = lookup(joints_, name);
  return joint == nullptr ? std::nullopt : joint->kind;
}

std::optional<std::string> Facts::preferred(const std::string& of) const {
  const Frame* frame = find(of);
  if (frame == nullptr || frame->preference.mark < frame->removed) return std::nullopt;
  return frame->preference.source;
}

bool Facts::has_preference(const std::string& of) const {
  const Frame* frame = find(of);
  return frame != nullptr && frame->preference.mark > frame->removed;
}

std::string Facts::body_of(const std::string& name) const {
  const std::string* body = lookup(rigid_.on, name);
  return body == nullptr ? name : *body;
}

std::vector<BodyClaim> Facts::body_claims() const {
  std::vector<BodyClaim> claims;
  for (const auto& [body, mark] : bodies_) claims.push_back({{}, body, mark});
  for (const auto& [name, frame] : frames_)
    for (const auto& [body, marks] : frame.bodies)
      if (const auto since = marks.upper_bound(frame.removed); since != marks.end())
        claims.push_back({name, body, *std::ranges::min_element(since, marks.end(), {}, precedence)});
  return claims;
}

// -- Taking back

namespace {

Change change_with(ChangeKind kind, FrameFact fact) {
  Change change;
  change.kind = kind;
  change.fact = std::make_shared<const FrameFact>(std::move(fact));
  return change;
}

/// What says it again.
Change change_saying(const Word& said, const std::string& of, const std::string& source) {
  FrameFact fact{
      .of = of, .in_frame = said.in_frame, .source = source, .since = said.since, .pose = said.pose, .form = said.form};
  fact.recalibrate = said.pose != nullptr;
  fact.frames = {of};
  if (!said.is_closed) fact.frames.push_back(fact.in_frame);
  const ChangeKind kind = said.pose ? ChangeKind::fix : said.form ? ChangeKind::drive : ChangeKind::release;
  return change_with(said.is_samples() ? ChangeKind::add_relation : kind, std::move(fact));
}

}  // namespace

/// Joints that were there stay, and come back as they were.
std::vector<Change> Facts::opposite_of_joints(const Change& change) const {
  FrameFact gone, back;
  for (const auto& [name, kind] : change.fact->joints) {
    const std::optional<VariableKind> before = joint(name);
    if (before)
      back.joints.emplace_back(name, *before);
    else
      gone.joints.emplace_back(name, kind);
  }
  std::vector<Change> changes;
  if (!gone.joints.empty() && change.kind == ChangeKind::add_joints)
    changes.push_back(change_with(ChangeKind::remove_joints, std::move(gone)));
  if (!back.joints.empty() && change.kind == ChangeKind::remove_joints)
    changes.push_back(change_with(ChangeKind::add_joints, std::move(back)));
  return changes;
}

std::optional<std::vector<Change>> Facts::opposite_of_fix(const Change& change) const {
  const FrameFact& fact = *change.fact;
  const std::vector<Word> before = words(fact.of, fact.source);
  const auto same =
      std::ranges::find_if(before, [&](const Word& word) { return !word.is_samples() && word.since == fact.since; });
  const bool is_always = fact.since == Stamp::always();
  const Frame* frame = find(fact.of);
  const Track* track = find_track(fact.of, fact.source);
  const std::size_t known = track == nullptr ? 0 : all_words(*frame, *track).size();
  const bool forgets_more = is_always && known > (same == before.end() ? 0U : 1U);
  if (forgets_more) return std::nullopt;
  std::vector<Change> changes;
  if (same != before.end()) {
    changes.push_back(change_saying(*same, fact.of, fact.source));
  } else {
    FrameFact back{.of = fact.of, .in_frame = fact.in_frame, .source = fact.source, .since = fact.since, .recalibrate = true};
    changes.push_back(change_with(ChangeKind::unfix, std::move(back)));
  }
  FrameFact made{.takes_back = true};
  for (const std::string& name : fact.frames)
    if (!has_frame(name)) made.frames.push_back(name);
  if (!made.frames.empty()) changes.push_back(change_with(ChangeKind::remove_frame, std::move(made)));
  return changes;
}

std::optional<std::vector<Change>> Facts::opposite(const Change& change) const {
  const FrameFact& fact = *change.fact;
  std::vector<Change> changes;
  switch (change.kind) {
    case ChangeKind::fix:
    case ChangeKind::drive:
    case ChangeKind::release:
      return opposite_of_fix(change);
    case ChangeKind::add_joints:
    case ChangeKind::remove_joints:
      return opposite_of_joints(change);
    case ChangeKind::unfix: {
      for (const Word& said : words(fact.of, fact.source))
        if (!said.is_samples() && said.since == fact.since) changes.push_back(change_saying(said, fact.of, fact.source));
      return changes;
    }
    case ChangeKind::add_frame: {
      FrameFact made{.takes_back = true};
      std::ranges::copy_if(fact.frames, std::back_inserter(made.frames), [&](const auto& name) { return !has_frame(name); });
      if (!made.frames.empty()) changes.push_back(change_with(ChangeKind::remove_frame, std::move(made)));
      return changes;
    }
    case ChangeKind::remove_frame:
      if (!fact.takes_back) return std::nullopt;  // what was said of them, and their samples, is gone
      changes.push_back(change_with(ChangeKind::add_frame, {.frames = fact.frames}));
      return changes;
    case ChangeKind::prefer: {
      const std::optional<std::string> before = preferred(fact.of);
      changes.push_back(
          change_with(ChangeKind::prefer, {.of = fact.of, .source = before.value_or(""), .has_source = before.has_value()}));
      return changes;
    }
    case ChangeKind::add_relation:
    case ChangeKind::add_twist_relation:
      return changes;
    default:
      return std::nullopt;
  }
}

bool Facts::is_newest(const Change& change, const std::function<bool(const Mark&)>& is_own) const {
  const FrameFact& fact = *change.fact;
  if (change.kind == ChangeKind::prefer) {
    const Frame* frame = find(fact.of);
    return frame != nullptr && is_own(frame->preference.mark);
  }
  if (change.kind == ChangeKind::add_joints || change.kind == ChangeKind::remove_joints)
    return std::ranges::all_of(fact.joints, [&](const auto& joint) { return is_own(joints_.at(joint.first).mark); });
  if (!is_since(change.kind)) return true;
  const Track* track = find_track(fact.of, fact.source);
  const Words* said = track == nullptr ? nullptr : lookup(track->fixed, fact.since);
  if (said == nullptr) {  // gone with its frame
    const Frame* frame = find(fact.of);
    return change.kind == ChangeKind::unfix || (frame != nullptr && is_own(frame->removed));
  }
  return is_own(said->rbegin()->first);
}

std::vector<std::string> Facts::unused_since(const std::vector<std::string>& frames, const Mark& mark) const {
  std::vector<std::string> unused;
  for (const std::string& name : frames)
    if (const Frame* frame = find(name); frame != nullptr && frame->kept <= mark) unused.push_back(name);
  return unused;
}

// -- Saying again

void Facts::say_poses(const std::string& name, const Frame& frame, std::vector<Change>& changes) const {
  for (const auto& [source, track] : frame.tracks)
    for (const Word& said : words(frame, track)) {
      Word word = said;
      const bool began_before = said.is_samples() && said.since == Stamp::always();  // time began anew
      if (began_before) word.since = track.sampled.at(said.in_frame).begin()->second;
      changes.push_back(change_saying(word, name, source));
    }
}

std::vector<Change> Facts::said() const {
  std::vector<Change> changes;
  std::map<std::string, std::vector<std::string>> bodies;
  for (const auto& [name, mark] : bodies_) bodies[name];
  for (const auto& [name, frame] : frames_) {
    if (frame.named > frame.removed) changes.push_back(change_with(ChangeKind::add_frame, {.frames = {name}}));
    say_poses(name, frame, changes);
    for (const auto& [twist, mark] : frame.twists)
      if (counts(frame, twist.first, mark))
        changes.push_back(
            change_with(ChangeKind::add_twist_relation, {.of = name, .in_frame = twist.first, .source = twist.second}));
    for (const auto& [body, claims] : frame.bodies)
      if (claims.upper_bound(frame.removed) != claims.end()) bodies[body].push_back(name);
    if (const std::optional<std::string> source = preferred(name))
      changes.push_back(change_with(ChangeKind::prefer, {.of = name, .source = *source}));
  }
  FrameFact joints;
  for (const auto& [name, joint] : joints_)
    if (joint.kind) joints.joints.emplace_back(name, *joint.kind);
  if (!joints.joints.empty()) changes.push_back(change_with(ChangeKind::add_joints, std::move(joints)));
  for (auto& [name, frames] : bodies)
    changes.push_back(change_with(ChangeKind::add_body, {.of = name, .frames = std::move(frames)}));
  return changes;
}

}  // namespace armillary::scene
