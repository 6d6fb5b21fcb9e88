#include "armillary/scene/assertion_log.hpp"

#include <algorithm>

namespace armillary::scene {

namespace {

/// More are forgotten: only the last one before each new beginning of time can count.
constexpr std::size_t kAssertionsPerInstant = 8;

template <typename Map, typename Key>
const typename Map::mapped_type* lookup(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

template <typename Map, typename Key>
void raise_timestamp(Map& map, const Key& key, const HybridTimestamp& timestamp) {
  HybridTimestamp& held = map[key];
  held = std::max(held, timestamp);
}

/// The first ones go where there are too many, as they do when something ends them: in whatever order all that comes, the
/// same are left.
template <typename Timestamps>
void bound(Timestamps& timestamps, std::size_t most) {
  while (timestamps.size() > most) timestamps.erase(timestamps.begin());
}

}  // namespace

// -- Taking

void AssertionLog::name(const std::string& frame, const HybridTimestamp& timestamp) {
  HybridTimestamp& named = frames_[frame].named;
  named = std::max(named, timestamp);
}

void AssertionLog::take(const Change& change) {
  const FrameAssertion& assertion = *change.assertion;
  const HybridTimestamp& timestamp = change.timestamp;
  if (change.kind != ChangeKind::remove_frame)
    for (const std::string& frame : assertion.frames) name(frame, timestamp);
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
      Track& track = frames_[assertion.of].tracks[assertion.source];
      if (timestamp < track.always) return;
      track.sampled[assertion.in_frame].emplace(timestamp, assertion.since);
      return bound(track.sampled[assertion.in_frame], max_runs_);
    }
    case ChangeKind::add_twist_relation:
      return raise_timestamp(frames_[assertion.of].twists, std::pair(assertion.in_frame, assertion.source), timestamp);
    case ChangeKind::add_body:
      if (const auto [known, is_new] = bodies_.emplace(assertion.of, timestamp); !is_new)
        known->second = std::ranges::min(known->second, timestamp, {}, precedence);
      for (const std::string& frame : assertion.frames) {
        std::set<HybridTimestamp>& claims = frames_[frame].bodies[assertion.of];
        claims.insert(timestamp);
        bound(claims, max_runs_);
      }
      return;
    case ChangeKind::prefer: {
      Preference& preference = frames_[assertion.of].preference;
      if (timestamp > preference.timestamp)
        preference = {timestamp, assertion.has_source ? std::optional(assertion.source) : std::nullopt};
      return;
    }
    case ChangeKind::remove_frame:
      return take_removal(change);
    case ChangeKind::reset_time:
      reset_ = std::max(reset_, timestamp);
      ++resets_;
      return;
    default:
      return;
  }
}

void AssertionLog::keep_names(std::span<const ChangePtr> changes) {
  for (const ChangePtr& change : changes) {
    if (!is_of_frames(change->kind) || change->kind == ChangeKind::remove_frame) continue;
    for (const std::string& name : change->assertion->frames) {
      HybridTimestamp& kept = frames_[name].kept;
      kept = std::max(kept, change->timestamp);
    }
  }
}

void AssertionLog::take_fixed(const Change& change) {
  const FrameAssertion& assertion = *change.assertion;
  Track& track = frames_[assertion.of].tracks[assertion.source];
  if (assertion.since == Stamp::always()) track.always = std::max(track.always, change.timestamp);
  FixedAssertions& stored = track.fixed[assertion.since];
  const bool takes_back = change.kind == ChangeKind::unfix;
  stored[change.timestamp] = {change.timestamp,      assertion.in_frame, assertion.pose,
                              assertion.recalibrate, takes_back,         assertion.form};
  bound(stored, kAssertionsPerInstant);
  forget_before(track, track.always);
  bound(track.fixed, max_runs_);
}

void AssertionLog::forget_before(Track& track, const HybridTimestamp& timestamp) {
  const auto is_over = [&](const auto& entry) { return entry.first < timestamp; };
  for (auto& [since, stored] : track.fixed) std::erase_if(stored, is_over);
  std::erase_if(track.fixed, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [parent, stored] : track.sampled) std::erase_if(stored, is_over);
}

void AssertionLog::take_joints(const Change& change) {
  for (const auto& [name, kind] : change.assertion->joints) {
    Joint& joint = joints_[name];
    if (change.timestamp < joint.timestamp) continue;
    joint = {change.timestamp, change.kind == ChangeKind::add_joints ? std::optional(kind) : std::nullopt};
  }
}

void AssertionLog::take_removal(const Change& change) {
  for (const std::string& name : change.assertion->frames) {
    Frame& frame = frames_[name];
    frame.removed = std::max(frame.removed, change.timestamp);
    const auto is_over = [&](const HybridTimestamp& timestamp) { return timestamp < frame.removed; };
    for (auto& [source, track] : frame.tracks) forget_before(track, frame.removed);
    std::erase_if(frame.twists, [&](const auto& entry) { return is_over(entry.second); });
    for (auto& [body, claims] : frame.bodies) std::erase_if(claims, is_over);
    removed_.push_back(name);
  }
  forget_removed();
}

void AssertionLog::forget_removed() {
  for (; removed_.size() > max_removed_; removed_.pop_front())
    if (const Frame* frame = find(removed_.front()); frame != nullptr && frame->named < frame->removed)
      frames_.erase(removed_.front());
}

// -- What counts

const AssertionLog::Frame* AssertionLog::find(const std::string& name) const { return lookup(frames_, name); }

bool AssertionLog::has_frame(const std::string& name) const {
  const Frame* frame = find(name);
  return frame != nullptr && frame->named > frame->removed;
}

std::optional<bool> AssertionLog::is_named(const std::string& name) const {
  const Frame* frame = find(name);
  return frame == nullptr ? std::nullopt : std::optional(frame->named > frame->removed);
}

bool AssertionLog::is_removed(const std::string& frame, const HybridTimestamp& timestamp) const {
  const Frame* found = find(frame);
  return found != nullptr && timestamp < found->removed;
}

bool AssertionLog::counts(const Frame& frame, const std::string& other, const HybridTimestamp& timestamp) const {
  return timestamp > frame.removed && !is_removed(other, timestamp);
}

const AssertionLog::Track* AssertionLog::find_track(const std::string& of, const std::string& source) const {
  const Frame* frame = find(of);
  return frame == nullptr ? nullptr : lookup(frame->tracks, source);
}

/// At one instant the latest assertion wins; a pose that was undone hides nothing.
std::vector<PoseAssertion> AssertionLog::all_assertions(const Frame& frame, const Track& track) const {
  std::map<std::pair<bool, Stamp>, PoseAssertion> found;  // those before time began anew apart
  const auto add = [&](PoseAssertion asserted) {
    PoseAssertion& held = found[{asserted.timestamp > reset_, asserted.since}];
    if (asserted.timestamp > held.timestamp) held = std::move(asserted);
  };
  for (const auto& [since, all] : track.fixed) {
    const auto first_new = all.upper_bound(reset_);
    for (const auto end : {first_new, all.end()}) {
      const bool is_any = end == first_new ? end != all.begin() : first_new != end;
      if (!is_any) continue;
      const Fixed& stored = std::prev(end)->second;
      if (!stored.is_taken_back && stored.timestamp >= track.always && counts(frame, stored.in_frame, stored.timestamp))
        add({since, stored.in_frame, stored.pose, stored.timestamp, stored.recalibrate, stored.form,
             !stored.pose && !stored.form});
    }
  }
  for (const auto& [parent, stored] : track.sampled)
    for (const bool is_new : {false, true}) {
      const auto first = std::ranges::find_if(
          stored, [&](const auto& entry) { return (entry.first > reset_) == is_new && counts(frame, parent, entry.first); });
      if (first != stored.end()) add({first->second, parent, nullptr, first->first});
    }
  std::vector<PoseAssertion> pose_assertions;
  for (auto& [key, asserted] : found) pose_assertions.push_back(std::move(asserted));
  return pose_assertions;
}

/// The assertions since time began anew, and the newest one before, for always.
std::vector<PoseAssertion> AssertionLog::pose_assertions(const Frame& frame, const Track& track) const {
  std::vector<PoseAssertion> found = all_assertions(frame, track);
  const auto since_then = std::ranges::find_if(found, [&](const PoseAssertion& asserted) { return asserted.timestamp > reset_; });
  if (since_then == found.begin()) return found;
  PoseAssertion newest = *std::prev(since_then);
  found.erase(found.begin(), since_then);
  newest.since = Stamp::always();
  const bool is_hidden = !found.empty() && (newest.is_samples() || found.front().since == Stamp::always());
  if (!is_hidden && !newest.is_closed) found.insert(found.begin(), std::move(newest));
  return found;
}

std::vector<PoseAssertion> AssertionLog::pose_assertions(const std::string& of, const std::string& source) const {
  const Frame* frame = find(of);
  const Track* track = find_track(of, source);
  return track == nullptr ? std::vector<PoseAssertion>{} : pose_assertions(*frame, *track);
}

bool AssertionLog::has_samples(const std::string& of, const std::string& source) const {
  const Track* track = find_track(of, source);
  return track != nullptr && !track->sampled.empty();
}

bool AssertionLog::has_relation(const FrameAssertion& assertion) const {
  const Frame* frame = find(assertion.of);
  const Track* track = find_track(assertion.of, assertion.source);
  if (track == nullptr) return false;
  const Sampled* stored = lookup(track->sampled, assertion.in_frame);
  if (stored != nullptr && !stored->empty() && stored->begin()->first > reset_ &&
      counts(*frame, assertion.in_frame, stored->begin()->first))
    return true;
  return std::ranges::any_of(pose_assertions(*frame, *track),
                             [&](const PoseAssertion& one) { return one.in_frame == assertion.in_frame; });
}

std::vector<FrameAssertion> AssertionLog::twists_relative_to(const std::string& name) const {
  std::vector<FrameAssertion> found;
  for (const auto& [of, frame] : frames_)
    for (const auto& [twist, timestamp] : frame.twists)
      if (twist.first == name) found.push_back({.of = of, .in_frame = name, .source = twist.second});
  return found;
}

bool AssertionLog::has_twist(const FrameAssertion& assertion) const {
  const Frame* frame = find(assertion.of);
  if (frame == nullptr) return false;
  return std::ranges::any_of(frame->twists, [&](const auto& entry) {
    const auto& [reference, source] = entry.first;
    return source == assertion.source && counts(*frame, reference, entry.second) &&
           body_of(reference) == body_of(assertion.in_frame);
  });
}

bool AssertionLog::is_latest(const Change& change) const {
  const Track* track = find_track(change.assertion->of, change.assertion->source);
  return track != nullptr && change.assertion->since == Stamp::always() && track->always == change.timestamp;
}

std::vector<TrackName> AssertionLog::tracks() const {
  std::vector<TrackName> found;
  for (const auto& [name, assertions] : frames_)
    for (const auto& [source, track] : assertions.tracks) found.emplace_back(name, source);
  return found;
}

std::vector<TrackName> AssertionLog::tracks_at(const std::set<std::string>& frames) const {
  const auto is_sampled_in = [&](const auto& entry) { return frames.contains(entry.first); };
  const auto is_asserted_in = [&](const auto& entry) { return frames.contains(entry.second.in_frame); };
  const auto is_fixed_in = [&](const auto& entry) { return std::ranges::any_of(entry.second, is_asserted_in); };
  std::vector<TrackName> found;
  for (const auto& [name, assertions] : frames_)
    for (const auto& [source, track] : assertions.tracks)
      if (frames.contains(name) || std::ranges::any_of(track.sampled, is_sampled_in) ||
          std::ranges::any_of(track.fixed, is_fixed_in))
        found.emplace_back(name, source);
  return found;
}

std::vector<TrackName> AssertionLog::tracks_driven_by(const FrameAssertion& joints) const {
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

std::optional<VariableKind> AssertionLog::joint(const std::string& name) const {
  const Joint* joint = lookup(joints_, name);
  return joint == nullptr ? std::nullopt : joint->kind;
}

std::optional<std::string> AssertionLog::preferred(const std::string& of) const {
  const Frame* frame = find(of);
  if (frame == nullptr || frame->preference.timestamp < frame->removed) return std::nullopt;
  return frame->preference.source;
}

bool AssertionLog::has_preference(const std::string& of) const {
  const Frame* frame = find(of);
  return frame != nullptr && frame->preference.timestamp > frame->removed;
}

std::string AssertionLog::body_of(const std::string& name) const {
  const std::string* body = lookup(rigid_.on, name);
  return body == nullptr ? name : *body;
}

std::vector<BodyClaim> AssertionLog::body_claims() const {
  std::vector<BodyClaim> claims;
  for (const auto& [body, timestamp] : bodies_) claims.push_back({{}, body, timestamp});
  for (const auto& [name, frame] : frames_)
    for (const auto& [body, timestamps] : frame.bodies)
      if (const auto since = timestamps.upper_bound(frame.removed); since != timestamps.end())
        claims.push_back({name, body, *std::ranges::min_element(since, timestamps.end(), {}, precedence)});
  return claims;
}

// -- Taking back

namespace {

Change change_with(ChangeKind kind, FrameAssertion assertion) {
  Change change;
  change.kind = kind;
  change.assertion = std::make_shared<const FrameAssertion>(std::move(assertion));
  return change;
}

/// The change that asserts it again.
Change change_asserting(const PoseAssertion& stored, const std::string& of, const std::string& source) {
  FrameAssertion assertion{
      .of = of, .in_frame = stored.in_frame, .source = source, .since = stored.since, .pose = stored.pose, .form = stored.form};
  assertion.recalibrate = stored.pose != nullptr;
  assertion.frames = {of};
  if (!stored.is_closed) assertion.frames.push_back(assertion.in_frame);
  const ChangeKind kind = stored.pose ? ChangeKind::fix : stored.form ? ChangeKind::drive : ChangeKind::release;
  return change_with(stored.is_samples() ? ChangeKind::add_relation : kind, std::move(assertion));
}

}  // namespace

/// Joints that were there stay, and come back as they were.
std::vector<Change> AssertionLog::inverse_of_joints(const Change& change) const {
  FrameAssertion gone, back;
  for (const auto& [name, kind] : change.assertion->joints) {
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

std::optional<std::vector<Change>> AssertionLog::inverse_of_fix(const Change& change) const {
  const FrameAssertion& given = *change.assertion;
  const std::vector<PoseAssertion> before = pose_assertions(given.of, given.source);
  const auto same = std::ranges::find_if(
      before, [&](const PoseAssertion& asserted) { return !asserted.is_samples() && asserted.since == given.since; });
  const bool is_always = given.since == Stamp::always();
  const Frame* frame = find(given.of);
  const Track* track = find_track(given.of, given.source);
  const std::size_t known = track == nullptr ? 0 : all_assertions(*frame, *track).size();
  const bool forgets_more = is_always && known > (same == before.end() ? 0U : 1U);
  if (forgets_more) return std::nullopt;
  std::vector<Change> changes;
  if (same != before.end()) {
    changes.push_back(change_asserting(*same, given.of, given.source));
  } else {
    FrameAssertion back{
        .of = given.of, .in_frame = given.in_frame, .source = given.source, .since = given.since, .recalibrate = true};
    changes.push_back(change_with(ChangeKind::unfix, std::move(back)));
  }
  FrameAssertion made{.takes_back = true};
  for (const std::string& name : given.frames)
    if (!has_frame(name)) made.frames.push_back(name);
  if (!made.frames.empty()) changes.push_back(change_with(ChangeKind::remove_frame, std::move(made)));
  return changes;
}

std::optional<std::vector<Change>> AssertionLog::inverse(const Change& change) const {
  const FrameAssertion& assertion = *change.assertion;
  std::vector<Change> changes;
  switch (change.kind) {
    case ChangeKind::fix:
    case ChangeKind::drive:
    case ChangeKind::release:
      return inverse_of_fix(change);
    case ChangeKind::add_joints:
    case ChangeKind::remove_joints:
      return inverse_of_joints(change);
    case ChangeKind::unfix: {
      for (const PoseAssertion& stored : pose_assertions(assertion.of, assertion.source))
        if (!stored.is_samples() && stored.since == assertion.since)
          changes.push_back(change_asserting(stored, assertion.of, assertion.source));
      return changes;
    }
    case ChangeKind::add_frame: {
      FrameAssertion made{.takes_back = true};
      std::ranges::copy_if(assertion.frames, std::back_inserter(made.frames), [&](const auto& name) { return !has_frame(name); });
      if (!made.frames.empty()) changes.push_back(change_with(ChangeKind::remove_frame, std::move(made)));
      return changes;
    }
    case ChangeKind::remove_frame:
      if (!assertion.takes_back) return std::nullopt;  // their assertions and samples are gone
      changes.push_back(change_with(ChangeKind::add_frame, {.frames = assertion.frames}));
      return changes;
    case ChangeKind::prefer: {
      const std::optional<std::string> before = preferred(assertion.of);
      changes.push_back(
          change_with(ChangeKind::prefer, {.of = assertion.of, .source = before.value_or(""), .has_source = before.has_value()}));
      return changes;
    }
    case ChangeKind::add_relation:
    case ChangeKind::add_twist_relation:
      return changes;
    default:
      return std::nullopt;
  }
}

bool AssertionLog::is_newest(const Change& change, const std::function<bool(const HybridTimestamp&)>& is_own) const {
  const FrameAssertion& assertion = *change.assertion;
  if (change.kind == ChangeKind::prefer) {
    const Frame* frame = find(assertion.of);
    return frame != nullptr && is_own(frame->preference.timestamp);
  }
  if (change.kind == ChangeKind::add_joints || change.kind == ChangeKind::remove_joints)
    return std::ranges::all_of(assertion.joints, [&](const auto& joint) { return is_own(joints_.at(joint.first).timestamp); });
  if (!is_since(change.kind)) return true;
  const Track* track = find_track(assertion.of, assertion.source);
  const FixedAssertions* stored = track == nullptr ? nullptr : lookup(track->fixed, assertion.since);
  if (stored == nullptr) {  // gone with its frame
    const Frame* frame = find(assertion.of);
    return change.kind == ChangeKind::unfix || (frame != nullptr && is_own(frame->removed));
  }
  return is_own(stored->rbegin()->first);
}

std::vector<std::string> AssertionLog::unused_since(const std::vector<std::string>& frames,
                                                    const HybridTimestamp& timestamp) const {
  std::vector<std::string> unused;
  for (const std::string& name : frames)
    if (const Frame* frame = find(name); frame != nullptr && frame->kept <= timestamp) unused.push_back(name);
  return unused;
}

// -- Snapshot

void AssertionLog::add_pose_changes(const std::string& name, const Frame& frame, std::vector<Change>& changes) const {
  for (const auto& [source, track] : frame.tracks)
    for (const PoseAssertion& stored : pose_assertions(frame, track)) {
      PoseAssertion asserted = stored;
      const bool began_before = stored.is_samples() && stored.since == Stamp::always();  // time began anew
      if (began_before) asserted.since = track.sampled.at(stored.in_frame).begin()->second;
      changes.push_back(change_asserting(asserted, name, source));
    }
}

std::vector<Change> AssertionLog::snapshot() const {
  std::vector<Change> changes;
  std::map<std::string, std::vector<std::string>> bodies;
  for (const auto& [name, timestamp] : bodies_) bodies[name];
  for (const auto& [name, frame] : frames_) {
    if (frame.named > frame.removed) changes.push_back(change_with(ChangeKind::add_frame, {.frames = {name}}));
    add_pose_changes(name, frame, changes);
    for (const auto& [twist, timestamp] : frame.twists)
      if (counts(frame, twist.first, timestamp))
        changes.push_back(
            change_with(ChangeKind::add_twist_relation, {.of = name, .in_frame = twist.first, .source = twist.second}));
    for (const auto& [body, claims] : frame.bodies)
      if (claims.upper_bound(frame.removed) != claims.end()) bodies[body].push_back(name);
    if (const std::optional<std::string> source = preferred(name))
      changes.push_back(change_with(ChangeKind::prefer, {.of = name, .source = *source}));
  }
  FrameAssertion joints;
  for (const auto& [name, joint] : joints_)
    if (joint.kind) joints.joints.emplace_back(name, *joint.kind);
  if (!joints.joints.empty()) changes.push_back(change_with(ChangeKind::add_joints, std::move(joints)));
  for (auto& [name, frames] : bodies)
    changes.push_back(change_with(ChangeKind::add_body, {.of = name, .frames = std::move(frames)}));
  return changes;
}

}  // namespace armillary::scene
