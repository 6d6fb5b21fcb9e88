// The digest of an assertion log: a line for each assertion that holds.

#include <algorithm>
#include <array>

#include "armillary/scene/assertion_log.hpp"

namespace armillary::scene {

namespace {

std::string quoted(const std::string& text) { return std::to_string(text.size()) + ":" + text; }

std::string bytes_of(const FixedPose& pose) {
  const auto text = [](const auto& numbers) {
    return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  };
  const Rotation& q = pose.value.rotation;
  const Vector3& p = pose.value.translation;
  std::string all = text(std::array{q.w, q.x, q.y, q.z, p.x, p.y, p.z});
  if (pose.certainty == Certainty::known) all += text(pose.covariance.values);
  return all + (pose.certainty == Certainty::unknown ? "unsure" : "");
}

const char* word_for(const log::Slot& slot) {
  return slot.is<log::Fixed>() ? "fixed " : slot.is<log::Driven>() ? "driven " : "closed ";
}

std::string value_of(const log::Slot& slot) {
  if (slot.is<log::Fixed>()) return bytes_of(*std::get<log::Fixed>(slot.payload->value).pose);
  return slot.is<log::Driven>() ? std::get<log::Driven>(slot.payload->value).form->description() : std::string();
}

void describe(const log::Track& track, const log::Slot& slot, std::vector<std::string>& lines) {
  const std::string names = quoted(track.of) + quoted(slot.parent()) + quoted(track.source);
  if (track.kind == log::TrackKind::twist) return lines.push_back("twist " + names);
  if (!slot.is<log::Ended>()) lines.push_back("pose " + names);
  if (slot.is<log::Sampled>()) return;
  const Rank rank = slot.payload->rank;
  lines.push_back(word_for(slot) + names + std::to_string(slot.since.ns) + value_of(slot) +
                  (rank == Rank::plain ? "" : log::name_of(rank)));
}

std::string described(const log::PreferenceStep& step) {
  const bool is_always = step.when == Interval{};
  return quoted(step.source) + (is_always ? "" : std::to_string(step.when.from.ns) + " " + std::to_string(step.when.to.ns));
}

}  // namespace

std::vector<std::string> AssertionLog::lines() const {
  std::vector<std::string> all;
  for (const auto& [name, frame] : log_.frames()) {
    if (has_frame(name)) all.push_back("frame " + quoted(name));
    for (const auto& [key, track] : frame.tracks) {
      const std::vector<log::Slot> slots = log::slots_of(log_, track).slots;
      for (const log::Slot& slot : slots) describe({key.first, name, key.second}, slot, all);
      for (const auto& [parent, interpolation] : log::interpolations_of(slots))
        all.push_back("interpolation " + quoted(name) + quoted(parent) + quoted(key.second) + log::name_of(interpolation));
    }
    for (const auto& [body, claim] : frame.claims)
      if (std::get<log::SetBody>(claim->payload).present) all.push_back("on " + quoted(name) + quoted(body));
    for (const log::PreferenceStep& step : preference_steps({log::Subject::Kind::frame, name}))
      all.push_back("prefer " + quoted(name) + described(step));
  }
  for (const auto& [name, record] : log_.bodies())
    if (log::is_declared_body(log_, name)) all.push_back("body " + quoted(name));
  for (const auto& [name, record] : log_.variables())
    if (const std::optional<VariableKind> kind = variable(name))
      all.push_back("joint " + quoted(name) + std::to_string(static_cast<int>(*kind)));
  for (const auto& [name, step] : joint_preferences()) all.push_back("prefer joint " + quoted(name) + described(step));
  all.push_back("epoch " + std::to_string(time_epoch()));
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Digest AssertionLog::digest() const {
  Sha256 hash;
  for (const std::string& line : lines()) hash.add(quoted(line));
  return hash.finish();
}

}  // namespace armillary::scene
