#include "armillary/log/change.hpp"

#include <algorithm>
#include <array>

#include "log/change_fields.hpp"

namespace armillary::log {

namespace {

constexpr std::string_view kNodeKinds[] = {"unknown",  "group",      "transform", "uncertain_transform",
                                           "geometry", "connection", "frame"};
constexpr std::string_view kRanks[] = {"fallback", "plain", "statement"};
constexpr std::string_view kInterpolations[] = {"linear", "screw", "step"};
constexpr std::string_view kTrackKinds[] = {"pose", "twist"};
constexpr std::string_view kVariableKinds[] = {"linear", "wrap", "hold", "unit_quaternion", "velocity"};
constexpr std::string_view kCertainties[] = {"unknown", "exact", "known"};

std::array<double, 4> parts(const Rotation& q) { return {q.w, q.x, q.y, q.z}; }

/// Normalised until it stays the same, or goes to and fro between two: then the lesser of them.
Rotation canonical(Rotation unit) {
  constexpr int kEnough = 8;
  Rotation next = unit.normalized();
  for (int times = 0; times < kEnough && parts(next) != parts(unit); ++times) {
    unit = next;
    next = unit.normalized();
  }
  return std::min(unit, next, [](const Rotation& a, const Rotation& b) { return parts(a) < parts(b); });
}

void make_canonical(FixedPosePtr& pose) {
  if (!pose || parts(canonical(pose->value.rotation)) == parts(pose->value.rotation)) return;
  auto made = std::make_shared<FixedPose>(*pose);
  made->value.rotation = canonical(pose->value.rotation);
  pose = std::move(made);
}

void make_canonical(std::shared_ptr<const Placement>& placement) {
  if (!placement || parts(canonical(placement->pose.value.rotation)) == parts(placement->pose.value.rotation)) return;
  auto made = std::make_shared<Placement>(*placement);
  made->pose.value.rotation = canonical(placement->pose.value.rotation);
  placement = std::move(made);
}

void make_canonical(std::vector<Setting>& settings) { std::ranges::sort(settings, {}, &Setting::key); }

struct Canonical {
  void operator()(AddNode& payload) const {
    make_canonical(payload.settings);
    make_canonical(payload.placement);
    make_canonical(payload.edge.pose);
  }
  void operator()(AddEdge& payload) const { make_canonical(payload.edge.pose); }
  void operator()(SetAttributes& payload) const { make_canonical(payload.settings); }
  void operator()(Assert& payload) const {
    if (Fixed* fixed = std::get_if<Fixed>(&payload.value)) make_canonical(fixed->pose);
  }
  void operator()(auto&) const {}
};

}  // namespace

const std::string& parent_of(const AssertedValue& value) {
  static const std::string none;
  if (const Fixed* fixed = std::get_if<Fixed>(&value)) return fixed->in_frame;
  if (const Driven* driven = std::get_if<Driven>(&value)) return driven->in_frame;
  if (const Sampled* sampled = std::get_if<Sampled>(&value)) return sampled->in_frame;
  return none;
}

const std::string& sampled_in(const AssertedValue& value) {
  static const std::string none;
  if (const Sampled* sampled = std::get_if<Sampled>(&value)) return sampled->in_frame;
  const Empty* empty = std::get_if<Empty>(&value);
  return empty == nullptr ? none : empty->sampled_in;
}

const char* Change::type() const {
  return std::visit([](const auto& part) { return part.kType; }, payload);
}

void make_canonical(Change& change) { std::visit(Canonical{}, change.payload); }

std::span<const std::string_view> names_of(NodeKind) { return kNodeKinds; }
std::span<const std::string_view> names_of(Rank) { return kRanks; }
std::span<const std::string_view> names_of(SampleInterpolation) { return kInterpolations; }
std::span<const std::string_view> names_of(TrackKind) { return kTrackKinds; }
std::span<const std::string_view> names_of(VariableKind) { return kVariableKinds; }
std::span<const std::string_view> names_of(Certainty) { return kCertainties; }

std::string hex_text(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[static_cast<std::uint8_t>(byte) >> 4];
    text += kDigits[static_cast<std::uint8_t>(byte) & 0xF];
  }
  return text;
}

const char* name_of(NodeKind kind) { return names_of(kind)[static_cast<std::size_t>(kind)].data(); }
const char* name_of(Rank rank) { return names_of(rank)[static_cast<std::size_t>(rank)].data(); }
const char* name_of(SampleInterpolation kind) { return names_of(kind)[static_cast<std::size_t>(kind)].data(); }
const char* name_of(TrackKind kind) { return names_of(kind)[static_cast<std::size_t>(kind)].data(); }
const char* name_of(VariableKind kind) { return names_of(kind)[static_cast<std::size_t>(kind)].data(); }
const char* name_of(Certainty kind) { return names_of(kind)[static_cast<std::size_t>(kind)].data(); }

std::string author_text(std::uint64_t author) {
  std::array<std::byte, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(author >> (56 - 8 * i));
  return hex_text(bytes);
}

NodeId stand_in_of(std::string_view frame) { return NodeId::of_name("frame", frame); }

}  // namespace armillary::log
