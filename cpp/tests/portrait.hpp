#pragma once

// Everything a reader can see of a forest, as text: two forests that answer alike have equal portraits.

#include <sstream>

#include "worlds.hpp"

namespace tests {

inline void draw(std::ostream& out, const Transform& pose) {
  const auto& [q, t] = pose;
  for (const double value : {t.x, t.y, t.z, q.w, q.x, q.y, q.z}) out << value << ' ';
}

inline void draw(std::ostream& out, const Result<PoseAnswer>& answer) {
  if (!answer) {
    out << to_string(answer.failure.kind()) << ' ' << answer.failure->ended << ' ' << answer.failure->first.ns << ' '
        << answer.failure->last.ns;
    return;
  }
  draw(out, answer.value.transform);
  out << answer.value.stamp.ns << ' ' << (answer.value.held != nullptr) << ' ' << answer.value.integrated << " by";
  for (const RelationId id : answer.value.relations.ids()) out << ' ' << id;
}

inline void draw_relations(std::ostream& out, const Forest& forest) {
  out << forest.relations_made() << " made\n";
  for (const RelationInfo& info : forest.relations()) {
    out << info.id << ": " << info.of << " in " << info.in_frame << " by " << info.source << ", " << static_cast<int>(info.kind)
        << ' ' << info.samples << ' ' << info.coverage.first.ns << ' ' << info.coverage.last.ns << ' ' << info.integrated << ';';
    for (const double value : forest.samples(info.id, Stamp::always(), Stamp::never()).values) out << ' ' << value;
    out << '\n';
  }
}

inline void draw_frames(std::ostream& out, const Forest& forest) {
  for (const std::string& name : forest.frame_names()) {
    const FrameId id = forest.find_frame(name);
    out << name << " on " << forest.body_name(forest.body_of(id)) << " by";
    for (const std::string& source : forest.sources_of(id)) out << " '" << source << "' " << forest.find_source(source);
    for (const std::string& other : forest.frames_under(std::span(&name, 1), {5})) out << ", under it " << other;
    out << '\n';
  }
  for (const std::string& body : forest.body_names()) {
    out << "body " << body << ':';
    for (const std::string& frame : forest.frames_of(forest.find_body(body))) out << ' ' << frame;
    out << '\n';
  }
}

/// Every pair of frames at some instants, also between and after them.
inline void draw_poses(std::ostream& out, const Forest& forest, std::int64_t last) {
  for (const std::string& of : forest.frame_names())
    for (const std::string& in : forest.frame_names())
      for (std::int64_t at = -1; at <= last + 1; ++at)
        for (const QueryContext& context : {QueryContext{}, holding()}) {
          const When when = at > last ? When::newest() : When::exactly({at});
          draw(out,
               forest.pose({.of = forest.find_frame(of), .in_frame = forest.find_frame(in), .at = when, .context = context}));
          out << '\n';
        }
}

inline std::string portrait(const Forest& forest, std::int64_t last = 12) {
  std::ostringstream out;
  out.precision(12);
  draw_frames(out, forest);
  draw_relations(out, forest);
  draw_poses(out, forest, last);
  out << "with " << forest.companion().get();
  return out.str();
}

}  // namespace tests
