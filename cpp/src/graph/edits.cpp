// Edits that replay assertions of others about frames, or their removal. Within a transaction alone.

#include <algorithm>

#include "graph/journal.hpp"

namespace armillary {

namespace {

Failure unknown(const std::string& name) { return Evidence{.kind = FailureKind::unknown_frame, .name = name}; }

}  // namespace

Failure Forest::State::apply(const EraseFixed& edit) {
  const FrameId of = find_frame(edit.of);
  const SourceId source = find_source(edit.source);
  TrackRecord* track = of == kNone || source == kNone ? nullptr : find_track(of, source);
  return track == nullptr ? Failure{} : erase_fixed(*track, edit.since);
}

Failure Forest::State::apply(const AwaitSamples& edit) { return await_samples(edit); }

Failure Forest::State::apply(const AwaitTwists& edit) {
  const BodyId body = find_body(edit.of);
  const bool is_within_body = body != kNone && body == find_body(edit.relative_to) && !tolerates_cycles;
  if (edit.of == edit.relative_to || is_within_body || moves_on_mounts({edit.of, edit.relative_to, edit.source}))
    return Evidence{.kind = FailureKind::relative_to_itself,
                    .name = edit.of,
                    .other = body == find_body(edit.relative_to) ? body_name(body) : std::string()};
  const FrameId of = add_frame(edit.of);
  if (find_body(edit.relative_to) == kNone) add_frame(edit.relative_to);
  touch(of);
  remember_bodies();
  make_twist(of, edit.relative_to, add_source(edit.source));
  publish(of);
  return {};
}

Failure Forest::State::apply(const DropTwists& edit) {
  for (const auto& [of_name, relative_to, source_name] : edit.twists) {
    const FrameId of = find_frame(of_name);
    const BodyId reference = find_body(relative_to);
    const SourceId source = find_source(source_name);
    if (of == kNone || reference == kNone || source == kNone) continue;
    const TwistRecord* twist = find_twist(of, reference, source);
    if (twist == nullptr) continue;
    touch(of);
    remember_bodies();
    erase_twist(twist->id);
    publish(of);
  }
  return {};
}

Failure Forest::State::apply(const JoinBody& edit) {
  const std::vector<std::string_view> frames_of_it(edit.frames.begin(), edit.frames.end());
  return join_body(edit.name, frames_of_it);
}

Failure Forest::State::apply(const PreferSources& edit) {
  std::vector<PreferenceStep> steps;
  for (const PreferSources::Step& step : edit.steps) steps.push_back({step.from, step.source ? add_source(*step.source) : kNone});
  if (edit.is_of_joint) {
    const VariableId id = variables.find(edit.of);
    if (id != kNone && variables[id].lead->id == id) prefer_variable(id, std::move(steps));
    return {};
  }
  const FrameId of = find_frame(edit.of);
  if (of == kNone) return unknown(edit.of);
  if (edit.known) return check_source(of, *edit.known);
  set_preferences(of, std::move(steps));
  return {};
}

Failure Forest::State::apply(const EraseFrames& edit) {
  std::vector<FrameId> all;
  for (const std::string& name : edit.frames) {
    const FrameId id = find_frame(name);
    if (id == kNone && !edit.lets_others_go) return unknown(name);
    if (id != kNone) all.push_back(id);
  }
  const auto remains = [&](FrameId id) { return std::ranges::find(all, id) == all.end(); };
  for (const FrameId id : all) {
    std::vector<FrameId> path{id};
    for (const RelationId relation : frames[id].child_relations)
      if (remains(relations[relation]->of) && !(edit.lets_others_go && relations[relation]->is_of_scene))
        path.push_back(relations[relation]->of);
    if (path.size() == 1) continue;
    if (!edit.lets_others_go) return Evidence{.kind = FailureKind::frame_in_use, .of = id, .path = std::move(path)};
    if (Failure failure = let_go(id)) return failure;
  }
  for (const FrameId id : all) {
    if (is_of_scene(id))
      if (Failure failure = strip_frame(id)) return failure;
    if (!is_of_scene(id)) erase_frame(id), circular.erase(id);
  }
  publish(all);
  refresh_cycles();
  return {};
}

Failure Forest::State::apply(const RestartTime&) {
  for (FrameId id = 0; id < frames.size(); ++id)
    if (frames[id].alive) touch(id);
  remember_bodies();
  restart_time();
  return {};
}

}  // namespace armillary
