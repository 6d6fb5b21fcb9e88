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
void raise_signature(Map& map, const Key& key, const Signature& signature) {
  Signature& held = map[key];
  held = std::max(held, signature);
}

/// The first ones go where there are too many, as they do when something ends them: in whatever order all that comes, the
/// same are left.
template <typename Timestamps>
void bound(Timestamps& signatures, std::size_t most) {
  while (signatures.size() > most) signatures.erase(signatures.begin());
}

}  // namespace

// -- Taking

void AssertionLog::name(const std::string& frame, const Signature& signature) {
  Signature& named = frames_[frame].named;
  named = std::max(named, signature);
}

bool is_of_frames(const log::Payload& payload) {
  return !std::holds_alternative<log::AddNode>(payload) && !std::holds_alternative<log::AddEdge>(payload) &&
         !std::holds_alternative<log::RemoveEdges>(payload) && !std::holds_alternative<log::SetAttributes>(payload);
}

const log::Assert* as_since(const log::Payload& payload) {
  const log::Assert* asserted = std::get_if<log::Assert>(&payload);
  const bool is_since = asserted != nullptr && asserted->track.kind == log::TrackKind::pose &&
                        !std::holds_alternative<log::Sampled>(asserted->value);
  return is_since ? asserted : nullptr;
}

/// A twist names what it is relative to, unless that is a body.
std::vector<std::string> AssertionLog::named_by(const log::Payload& payload) const {
  if (const auto* frames = std::get_if<log::SetFrames>(&payload)) return frames->names;
  if (const auto* body = std::get_if<log::SetBody>(&payload)) return body->frames;
  const auto* asserted = std::get_if<log::Assert>(&payload);
  const std::string& parent = asserted == nullptr ? std::string() : log::parent_of(asserted->value);
  if (parent.empty()) return {};
  const bool is_only_a_body = asserted->track.kind == log::TrackKind::twist && bodies_.contains(parent) && !has_frame(parent);
  return is_only_a_body ? std::vector{asserted->track.of} : std::vector{asserted->track.of, parent};
}

void AssertionLog::take(const Change& change) {
  for (const std::string& frame : named_by(change.payload)) name(frame, change.signature());
  std::visit([&](const auto& payload) { take(change, payload); }, change.payload);
}

void AssertionLog::take(const Change& change, const log::SetBody& payload) {
  const Signature signature = change.signature();
  if (const auto [known, is_new] = bodies_.emplace(payload.body, signature); !is_new)
    known->second = std::ranges::min(known->second, signature, {}, log::strength);
  for (const std::string& frame : payload.frames) {
    std::set<Signature>& claims = frames_[frame].bodies[payload.body];
    claims.insert(signature);
    bound(claims, max_runs_);
  }
}

void AssertionLog::take(const Change& change, const log::Prefer& payload) {
  Preference& preference = frames_[payload.subject.name].preference;
  if (change.signature() > preference.signature) preference = {change.signature(), payload.source};
}

void AssertionLog::take(const Change& change, const log::ResetTime&) {
  reset_ = std::max(reset_, change.signature());
  ++resets_;
}

void AssertionLog::keep_names(std::span<const ChangePtr> changes) {
  for (const ChangePtr& change : changes)
    for (const std::string& name : named_by(change->payload)) {
      Signature& kept = frames_[name].kept;
      kept = std::max(kept, change->signature());
    }
}

void AssertionLog::take(const Change& change, const log::Assert& payload) {
  const Signature signature = change.signature();
  Frame& frame = frames_[payload.track.of];
  const std::string& parent = log::parent_of(payload.value);
  if (payload.track.kind == log::TrackKind::twist)
    return raise_signature(frame.twists, std::pair(parent, payload.track.source), signature);
  Track& track = frame.tracks[payload.track.source];
  if (std::holds_alternative<log::Sampled>(payload.value)) {
    if (signature < track.always) return;
    track.sampled[parent].emplace(signature, payload.since);
    return bound(track.sampled[parent], max_runs_);
  }
  if (payload.since == Stamp::always()) track.always = std::max(track.always, signature);
  FixedAssertions& stored = track.fixed[payload.since];
  Fixed fixed{.signature = signature, .in_frame = parent, .recalibrate = payload.recalibrate};
  fixed.is_taken_back = std::holds_alternative<log::Empty>(payload.value);
  if (const auto* given = std::get_if<log::Fixed>(&payload.value)) fixed.pose = given->pose;
  if (const auto* given = std::get_if<log::Driven>(&payload.value)) fixed.form = given->form;
  stored[signature] = std::move(fixed);
  bound(stored, kAssertionsPerInstant);
  forget_before(track, track.always);
  bound(track.fixed, max_runs_);
}

void AssertionLog::forget_before(Track& track, const Signature& signature) {
  const auto is_over = [&](const auto& entry) { return entry.first < signature; };
  for (auto& [since, stored] : track.fixed) std::erase_if(stored, is_over);
  std::erase_if(track.fixed, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [parent, stored] : track.sampled) std::erase_if(stored, is_over);
}

void AssertionLog::take(const Change& change, const log::SetVariables& payload) {
  for (const log::VariableSetting& setting : payload.variables) {
    Joint& joint = joints_[setting.name];
    if (change.signature() > joint.signature) joint = {change.signature(), setting.kind};
  }
}

void AssertionLog::take(const Change& change, const log::RemoveFrames& payload) {
  for (const std::string& name : payload.names) {
    Frame& frame = frames_[name];
    frame.removed = std::max(frame.removed, change.signature());
    const auto is_over = [&](const Signature& signature) { return signature < frame.removed; };
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

bool AssertionLog::is_removed(const std::string& frame, const Signature& signature) const {
  const Frame* found = find(frame);
  return found != nullptr && signature < found->removed;
}

bool AssertionLog::counts(const Frame& frame, const std::string& other, const Signature& signature) const {
  return signature > frame.removed && !is_removed(other, signature);
}

const AssertionLog::Track* AssertionLog::find_track(const std::string& of, const std::string& source) const {
  const Frame* frame = find(of);
  return frame == nullptr ? nullptr : lookup(frame->tracks, source);
}

/// At one instant the latest assertion wins; a pose that was undone hides nothing.
std::vector<PoseAssertion> AssertionLog::all_assertions(const Frame& frame, const Track& track) const {
  std::map<std::pair<bool, Stamp>, PoseAssertion> found;  // those before time began anew apart
  const auto add = [&](PoseAssertion asserted) {
    PoseAssertion& held = found[{asserted.signature > reset_, asserted.since}];
    if (asserted.signature > held.signature) held = std::move(asserted);
  };
  for (const auto& [since, all] : track.fixed) {
    const auto first_new = all.upper_bound(reset_);
    for (const auto end : {first_new, all.end()}) {
      const bool is_any = end == first_new ? end != all.begin() : first_new != end;
      if (!is_any) continue;
      const Fixed& stored = std::prev(end)->second;
      if (!stored.is_taken_back && stored.signature >= track.always && counts(frame, stored.in_frame, stored.signature))
        add({since, stored.in_frame, stored.pose, stored.signature, stored.recalibrate, stored.form,
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
  const auto since_then = std::ranges::find_if(found, [&](const PoseAssertion& asserted) { return asserted.signature > reset_; });
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

bool AssertionLog::has_relation(const RelationName& relation) const {
  const Frame* frame = find(relation.of);
  const Track* track = find_track(relation.of, relation.source);
  if (track == nullptr) return false;
  const Sampled* stored = lookup(track->sampled, relation.in_frame);
  if (stored != nullptr && !stored->empty() && stored->begin()->first > reset_ &&
      counts(*frame, relation.in_frame, stored->begin()->first))
    return true;
  return std::ranges::any_of(pose_assertions(*frame, *track),
                             [&](const PoseAssertion& one) { return one.in_frame == relation.in_frame; });
}

std::vector<RelationName> AssertionLog::twists_relative_to(const std::string& name) const {
  std::vector<RelationName> found;
  for (const auto& [of, frame] : frames_)
    for (const auto& [twist, signature] : frame.twists)
      if (twist.first == name) found.push_back({.of = of, .in_frame = name, .source = twist.second});
  return found;
}

bool AssertionLog::has_twist(const RelationName& relation) const {
  const Frame* frame = find(relation.of);
  if (frame == nullptr) return false;
  return std::ranges::any_of(frame->twists, [&](const auto& entry) {
    const auto& [reference, source] = entry.first;
    return source == relation.source && counts(*frame, reference, entry.second) &&
           body_of(reference) == body_of(relation.in_frame);
  });
}

bool AssertionLog::is_latest(const Change& change, const log::Assert& payload) const {
  const Track* track = find_track(payload.track.of, payload.track.source);
  return track != nullptr && payload.since == Stamp::always() && track->always == change.signature();
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

std::vector<TrackName> AssertionLog::tracks_driven_by(const log::SetVariables& variables) const {
  const auto is_named = [&](const std::string& joint) {
    return std::ranges::find(variables.variables, joint, &log::VariableSetting::name) != variables.variables.end();
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
  if (frame == nullptr || frame->preference.signature < frame->removed) return std::nullopt;
  return frame->preference.source;
}

bool AssertionLog::has_preference(const std::string& of) const {
  const Frame* frame = find(of);
  return frame != nullptr && frame->preference.signature > frame->removed;
}

std::string AssertionLog::body_of(const std::string& name) const {
  const std::string* body = lookup(rigid_.on, name);
  return body == nullptr ? name : *body;
}

std::vector<BodyClaim> AssertionLog::body_claims() const {
  std::vector<BodyClaim> claims;
  for (const auto& [body, signature] : bodies_) claims.push_back({{}, body, signature});
  for (const auto& [name, frame] : frames_)
    for (const auto& [body, signatures] : frame.bodies)
      if (const auto since = signatures.upper_bound(frame.removed); since != signatures.end())
        claims.push_back({name, body, *std::ranges::min_element(since, signatures.end(), {}, log::strength)});
  return claims;
}

// -- Taking back

namespace {

log::AssertedValue value_of(const PoseAssertion& stored) {
  if (stored.pose) return log::Fixed{stored.in_frame, stored.pose};
  if (stored.form) return log::Driven{stored.in_frame, stored.form};
  if (stored.is_closed) return log::Ended{};
  return log::Sampled{stored.in_frame};
}

/// What asserts it again.
log::Assert asserting(const PoseAssertion& stored, const std::string& of, const std::string& source) {
  return {.track = {log::TrackKind::pose, of, source},
          .since = stored.since,
          .value = value_of(stored),
          .recalibrate = stored.pose != nullptr};
}

}  // namespace

/// Joints that were there stay, and come back as they were.
Inverse AssertionLog::inverse_of(const log::SetVariables& payload) const {
  log::SetVariables back;
  for (const log::VariableSetting& setting : payload.variables)
    if (const std::optional<VariableKind> before = joint(setting.name); before.has_value() != setting.kind.has_value())
      back.variables.push_back({setting.name, before});
  if (back.variables.empty()) return Inverse(std::in_place);
  return std::vector<log::Payload>{std::move(back)};
}

Inverse AssertionLog::inverse_of(const log::Assert& payload) const {
  const auto& [kind, of, source] = payload.track;
  const bool is_samples = std::holds_alternative<log::Sampled>(payload.value);
  if (kind == log::TrackKind::twist || is_samples) return Inverse(std::in_place);
  const std::vector<PoseAssertion> before = pose_assertions(of, source);
  const auto same = std::ranges::find_if(
      before, [&](const PoseAssertion& asserted) { return !asserted.is_samples() && asserted.since == payload.since; });
  std::vector<log::Payload> payloads;
  if (same != before.end()) payloads.emplace_back(asserting(*same, of, source));
  if (std::holds_alternative<log::Empty>(payload.value)) return payloads;
  const Track* track = find_track(of, source);
  const std::size_t known = track == nullptr ? 0 : all_assertions(*find(of), *track).size();
  const bool forgets_more = payload.since == Stamp::always() && known > payloads.size();
  if (forgets_more) return std::nullopt;
  if (payloads.empty())
    payloads.emplace_back(log::Assert{.track = payload.track, .since = payload.since, .recalibrate = true});
  log::RemoveFrames made;
  for (const std::string& name : named_by(payload))
    if (!has_frame(name)) made.names.push_back(name);
  if (!made.names.empty()) payloads.emplace_back(std::move(made));
  return payloads;
}

Inverse AssertionLog::inverse_of(const log::SetFrames& payload) const {
  log::RemoveFrames made;
  std::ranges::copy_if(payload.names, std::back_inserter(made.names), [&](const auto& name) { return !has_frame(name); });
  if (made.names.empty()) return Inverse(std::in_place);
  return std::vector<log::Payload>{std::move(made)};
}

Inverse AssertionLog::inverse_of(const log::Prefer& payload) const {
  return std::vector<log::Payload>{log::Prefer{.subject = payload.subject, .source = preferred(payload.subject.name)}};
}

Inverse AssertionLog::inverse(const Change& change) const {
  if (const auto* removed = std::get_if<log::RemoveFrames>(&change.payload)) {
    if (change.origin != kUndoOrigin) return std::nullopt;  // their assertions and samples are gone
    return std::vector<log::Payload>{log::SetFrames{removed->names}};
  }
  return std::visit(
      [this](const auto& payload) -> Inverse {
        if constexpr (requires { inverse_of(payload); })
          return inverse_of(payload);
        else
          return std::nullopt;
      },
      change.payload);
}

bool AssertionLog::is_newest(const Change& change, const std::function<bool(const Signature&)>& is_own) const {
  if (const auto* prefer = std::get_if<log::Prefer>(&change.payload)) {
    const Frame* frame = find(prefer->subject.name);
    return frame != nullptr && is_own(frame->preference.signature);
  }
  if (const auto* variables = std::get_if<log::SetVariables>(&change.payload))
    return std::ranges::all_of(variables->variables,
                               [&](const log::VariableSetting& one) { return is_own(joints_.at(one.name).signature); });
  const log::Assert* payload = as_since(change.payload);
  if (payload == nullptr) return true;
  const Track* track = find_track(payload->track.of, payload->track.source);
  const FixedAssertions* stored = track == nullptr ? nullptr : lookup(track->fixed, payload->since);
  if (stored == nullptr) {  // gone with its frame
    const Frame* frame = find(payload->track.of);
    return std::holds_alternative<log::Empty>(payload->value) || (frame != nullptr && is_own(frame->removed));
  }
  return is_own(stored->rbegin()->first);
}

std::vector<std::string> AssertionLog::unused_since(const std::vector<std::string>& frames,
                                                    const Signature& signature) const {
  std::vector<std::string> unused;
  for (const std::string& name : frames)
    if (const Frame* frame = find(name); frame != nullptr && frame->kept <= signature) unused.push_back(name);
  return unused;
}

// -- Snapshot

void AssertionLog::add_poses(const std::string& name, const Frame& frame, std::vector<log::Payload>& payloads) const {
  for (const auto& [source, track] : frame.tracks)
    for (const PoseAssertion& stored : pose_assertions(frame, track)) {
      PoseAssertion asserted = stored;
      const bool began_before = stored.is_samples() && stored.since == Stamp::always();  // time began anew
      if (began_before) asserted.since = track.sampled.at(stored.in_frame).begin()->second;
      payloads.emplace_back(asserting(asserted, name, source));
    }
}

std::vector<log::Payload> AssertionLog::snapshot() const {
  std::vector<log::Payload> payloads;
  std::map<std::string, std::vector<std::string>> bodies;
  for (const auto& [name, signature] : bodies_) bodies[name];
  for (const auto& [name, frame] : frames_) {
    if (frame.named > frame.removed) payloads.emplace_back(log::SetFrames{{name}});
    add_poses(name, frame, payloads);
    for (const auto& [twist, signature] : frame.twists)
      if (counts(frame, twist.first, signature))
        payloads.emplace_back(
            log::Assert{.track = {log::TrackKind::twist, name, twist.second}, .value = log::Sampled{twist.first}});
    for (const auto& [body, claims] : frame.bodies)
      if (claims.upper_bound(frame.removed) != claims.end()) bodies[body].push_back(name);
    if (const std::optional<std::string> source = preferred(name))
      payloads.emplace_back(log::Prefer{.subject = {log::Subject::Kind::frame, name}, .source = *source});
  }
  log::SetVariables variables;
  for (const auto& [name, joint] : joints_)
    if (joint.kind) variables.variables.push_back({name, joint.kind});
  if (!variables.variables.empty()) payloads.emplace_back(std::move(variables));
  for (auto& [name, frames] : bodies) payloads.emplace_back(log::SetBody{name, std::move(frames)});
  return payloads;
}

}  // namespace armillary::scene
