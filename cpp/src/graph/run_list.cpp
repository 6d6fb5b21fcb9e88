#include "graph/run_list.hpp"

#include <algorithm>

namespace armillary {

namespace {

std::uint64_t bit_of(RelationId relation) { return std::uint64_t{1} << (relation % 64); }

bool may_be_inactive(const RunRecord& run) { return !run.on_cycle.empty() || run.breaks_body(); }

Run seen(const RunRecord& run) { return {run.from, run.parent, run.relation, run.published(), run.rank}; }

}  // namespace

const RunList::Summary& RunList::Chunk::summarized() {
  if (summary) return *summary;
  auto made = std::make_unique<Summary>();
  for (const RunRecord& run : runs) {
    made->relations |= bit_of(run.relation);
    made->has_awaited = made->has_awaited || run.is_awaited();
    made->has_inactive = made->has_inactive || may_be_inactive(run);
  }
  if (!made->has_inactive) {
    std::vector<Run> all;
    all.reserve(runs.size());
    for (const RunRecord& run : runs) all.push_back(seen(run));
    made->published = std::make_shared<const RunChunk>(std::move(all));
  }
  summary = std::move(made);
  return *summary;
}

RunList::RunList(std::vector<RunRecord> runs) {
  for (RunRecord& run : runs) push_back(std::move(run));
}

// -- Looking

/// Most look at the last runs.
std::size_t RunList::part_of(std::size_t k) const {
  if (k >= parts_.back().first) return parts_.size() - 1;
  return static_cast<std::size_t>(std::ranges::upper_bound(parts_, k, {}, &Part::first) - parts_.begin()) - 1;
}

const RunRecord& RunList::operator[](std::size_t k) const {
  const Part& part = parts_[part_of(k)];
  return part.chunk->runs[k - part.first];
}

std::ptrdiff_t RunList::run_at(Stamp at) const {
  const auto begin = [](const Part& part) { return part.chunk->runs.front().from; };
  const auto next = std::ranges::upper_bound(parts_, at, {}, begin);
  if (next == parts_.begin()) return -1;
  const Part& part = *std::prev(next);
  const auto after = std::ranges::upper_bound(part.chunk->runs, at, {}, &RunRecord::from);
  return static_cast<std::ptrdiff_t>(part.first) + (after - part.chunk->runs.begin()) - 1;
}

std::ptrdiff_t RunList::last_of(RelationId relation, std::size_t before) const {
  for (std::size_t i = before == 0 ? 0 : part_of(before - 1) + 1; i-- > 0;) {
    const Part& part = parts_[i];
    if ((part.chunk->summarized().relations & bit_of(relation)) == 0) continue;
    for (std::size_t k = std::min(part.chunk->runs.size(), before - part.first); k-- > 0;)
      if (part.chunk->runs[k].relation == relation) return static_cast<std::ptrdiff_t>(part.first + k);
  }
  return -1;
}

std::ptrdiff_t RunList::awaited_of(RelationId relation) const {
  const auto is_its = [&](const RunRecord& run) { return run.relation == relation && run.is_awaited(); };
  for (const Part& part : parts_) {
    if (!part.chunk->summarized().has_awaited) continue;
    const auto found = std::ranges::find_if(part.chunk->runs, is_its);
    if (found != part.chunk->runs.end()) return static_cast<std::ptrdiff_t>(part.first) + (found - part.chunk->runs.begin());
  }
  return -1;
}

bool RunList::has_inactive() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return part.chunk->summarized().has_inactive; });
}

// -- Changing

RunList::Chunk& RunList::own(std::size_t part) {
  std::shared_ptr<Chunk>& chunk = parts_[part].chunk;
  if (chunk.use_count() > 1) chunk = std::make_shared<Chunk>(chunk->runs);
  chunk->summary.reset();
  published_.reset();
  return *chunk;
}

RunRecord& RunList::edit(std::size_t k) {
  const std::size_t part = part_of(k);
  return own(part).runs[k - parts_[part].first];
}

void RunList::count_from(std::size_t part) {
  for (; part < parts_.size(); ++part)
    parts_[part].first = part == 0 ? 0 : parts_[part - 1].first + parts_[part - 1].chunk->runs.size();
}

/// In two halves. A last one stays nearly whole: more runs follow it than come between.
void RunList::split(std::size_t part) {
  std::vector<RunRecord>& runs = own(part).runs;
  const bool is_last = part + 1 == parts_.size();
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(is_last ? runs.size() - 1 : runs.size() / 2);
  std::vector<RunRecord> rest(std::make_move_iterator(middle), std::make_move_iterator(runs.end()));
  runs.erase(middle, runs.end());
  parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(part) + 1, Part{.chunk = std::make_shared<Chunk>(std::move(rest))});
}

void RunList::insert(std::size_t k, RunRecord run) {
  if (parts_.empty()) parts_.push_back({.chunk = std::make_shared<Chunk>()});
  const std::size_t part = part_of(std::min(k, size_ == 0 ? 0 : size_ - 1));
  std::vector<RunRecord>& runs = own(part).runs;
  runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(k - parts_[part].first), std::move(run));
  ++size_;
  if (runs.size() > kChunkRuns) split(part);
  count_from(part);
}

/// A chunk with few left joins the next one.
void RunList::erase(std::size_t k) {
  const std::size_t part = part_of(k);
  std::vector<RunRecord>& runs = own(part).runs;
  runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(k - parts_[part].first));
  --size_;
  const bool joins = part + 1 < parts_.size() && runs.size() + parts_[part + 1].chunk->runs.size() <= kChunkRuns / 2;
  if (joins) {
    std::vector<RunRecord>& next = own(part + 1).runs;
    next.insert(next.begin(), std::make_move_iterator(runs.begin()), std::make_move_iterator(runs.end()));
  }
  if (joins || runs.empty()) parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(part));
  count_from(part);
}

void RunList::clear() { *this = {}; }

// -- Publishing

/// When a run is inactive depends on its samples: it is looked at anew each time.
std::shared_ptr<const Runs> RunList::published() const {
  if (published_) return published_;
  if (has_inactive()) return std::make_shared<const Runs>(with_gaps());
  std::vector<std::shared_ptr<const RunChunk>> chunks;
  chunks.reserve(parts_.size());
  for (const Part& part : parts_) chunks.push_back(part.chunk->summarized().published);
  published_ = std::make_shared<const Runs>(std::move(chunks));
  return published_;
}

/// Where a run is inactive the frame has no parent.
std::vector<Run> RunList::with_gaps() const {
  std::vector<Run> all;
  all.reserve(size_);
  for (std::size_t k = 0; k < size_; ++k) {
    const RunRecord& run = (*this)[k];
    if (!may_be_inactive(run)) {
      all.push_back(seen(run));
      continue;
    }
    const Interval lasts{run.from, k + 1 < size_ ? (*this)[k + 1].from : Stamp::never()};
    Stamp at = run.from;
    for (const Interval& gap : Intervals(lasts) & run.inactive()) {
      if (at < gap.from) all.emplace_back(seen(run)).from = at;
      all.push_back({gap.from});
      at = gap.to;
    }
    if (at < lasts.to) all.emplace_back(seen(run)).from = at;
  }
  return all;
}

}  // namespace armillary
