#pragma once

// The runs of one frame by one source as the writer keeps them: a change costs by what it touches, however many there are.

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "armillary/graph/topology.hpp"
#include "armillary/series/intervals.hpp"

namespace armillary {

/// Why a run is there.
enum class Origin : std::uint8_t {
  asserted,      // somebody gave it: a pose, samples, an end
  against_body,  // asserted by peers, and inactive: it would move something within a body
  containment,   // it follows from where a node is
};

/// Where the poses of a run come from; in a closed run the frame has no parent.
struct Closed {};
struct Fixed {
  std::shared_ptr<const FixedPose> pose;
};
struct Driven {
  std::shared_ptr<DrivenProvider> link;
};
struct Sampled {
  std::shared_ptr<Series> series;
  bool is_awaited = false;  // the relation was asserted, but no sample of it has come yet
  SampleInterpolation interpolation = SampleInterpolation::linear;
};
using Provider = std::variant<Closed, Fixed, Driven, Sampled>;

/// One run as the writer keeps it. A copy shares its values: who writes to a series unshares it first.
struct RunRecord {
  Stamp from{};
  FrameId parent = kNone;
  RelationId relation = kNone;
  Provider provider{};
  Origin origin = Origin::asserted;
  Rank rank = Rank::plain;
  Intervals on_cycle{};  // instants at which it would close a cycle with stronger runs: it is inactive then

  [[nodiscard]] bool is_of_node() const { return origin == Origin::containment; }
  [[nodiscard]] bool breaks_body() const { return origin == Origin::against_body; }
  [[nodiscard]] bool is_closed() const { return std::holds_alternative<Closed>(provider); }
  [[nodiscard]] bool is_sampled() const { return std::holds_alternative<Sampled>(provider); }
  [[nodiscard]] bool is_awaited() const { return is_sampled() && std::get<Sampled>(provider).is_awaited; }
  [[nodiscard]] bool is_placeholder() const { return is_sampled() && series()->empty(); }
  [[nodiscard]] SampleInterpolation interpolation() const {
    return is_sampled() ? std::get<Sampled>(provider).interpolation : SampleInterpolation::linear;
  }
  /// Whether its last sample holds until it ends.
  [[nodiscard]] bool is_step() const { return interpolation() == SampleInterpolation::step; }
  /// Of a sampled run.
  [[nodiscard]] const std::shared_ptr<Series>& series() const { return std::get<Sampled>(provider).series; }
  /// Its constant pose, or null.
  [[nodiscard]] const FixedPose* fixed() const;
  /// What drives it, or null.
  [[nodiscard]] DrivenProvider* driven() const;
  /// Instants at which readers do not see it: after its last sample as at that.
  [[nodiscard]] Intervals inactive() const;
  /// The provider as readers see it.
  [[nodiscard]] ProviderRef published() const;
  /// Whether no other run has its values.
  [[nodiscard]] bool is_last_owner() const;
  /// The same run with other samples.
  [[nodiscard]] RunRecord with(std::shared_ptr<Series> samples) const;
};

/// Runs by when they begin, in chunks. Copies of a list share its chunks, and readers see those that did not change as they
/// are: an edit copies the chunks that it touches, and the list of them.
class RunList {
 public:
  class Iterator;

  RunList() = default;
  explicit RunList(std::vector<RunRecord> runs);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const RunRecord& operator[](std::size_t k) const;
  [[nodiscard]] const RunRecord& front() const { return parts_.front().chunk->runs.front(); }
  [[nodiscard]] const RunRecord& back() const { return parts_.back().chunk->runs.back(); }
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;
  /// Index of the run that holds at `at`, or -1.
  [[nodiscard]] std::ptrdiff_t run_at(Stamp at) const;
  /// Index of the last run of a relation before index `before`, or -1.
  [[nodiscard]] std::ptrdiff_t last_of(RelationId relation, std::size_t before) const;
  [[nodiscard]] bool has(RelationId relation) const { return last_of(relation, size_) >= 0; }
  /// Index of a run of a relation whose samples are still to come, or -1.
  [[nodiscard]] std::ptrdiff_t awaited_of(RelationId relation) const;
  /// Whether one may be inactive: it would close a cycle, or break a body.
  [[nodiscard]] bool has_inactive() const;

  /// The run, to be changed; until the next edit or publication.
  [[nodiscard]] RunRecord& edit(std::size_t k);
  void insert(std::size_t k, RunRecord run);
  void push_back(RunRecord run) { insert(size_, std::move(run)); }
  void erase(std::size_t k);
  void clear();

  /// The runs as readers see them where no inactive interval cuts them.
  [[nodiscard]] std::shared_ptr<const Runs> published() const;
  /// Calls `visit(RunRecord&)` for each run of chunks that no other list has.
  template <typename Visit>
  void for_each_unshared(Visit visit) {
    for (Part& part : parts_)
      if (part.chunk.use_count() == 1)
        for (RunRecord& run : part.chunk->runs) visit(run);
  }

 private:
  static constexpr std::size_t kChunkRuns = 32;

  /// What is looked for in a chunk without looking at its runs.
  struct Summary {
    std::uint64_t relations = 0;  // a bit for each, which others may have too
    bool has_awaited = false, has_inactive = false;
    std::shared_ptr<const RunChunk> published{};  // null where runs are inactive
  };
  struct Chunk {
    std::vector<RunRecord> runs{};
    std::unique_ptr<const Summary> summary{};  // null: not known since the last change

    Chunk() = default;
    explicit Chunk(std::vector<RunRecord> given) : runs(std::move(given)) {}
    [[nodiscard]] const Summary& summarized();
  };
  struct Part {
    std::size_t first = 0;  // index of its first run
    std::shared_ptr<Chunk> chunk{};
  };

  [[nodiscard]] std::size_t part_of(std::size_t k) const;
  [[nodiscard]] Chunk& own(std::size_t part);
  void split(std::size_t part);
  void count_from(std::size_t part);
  [[nodiscard]] std::vector<Run> with_gaps() const;

  std::vector<Part> parts_{};  // none is empty
  std::size_t size_ = 0;
  mutable std::shared_ptr<const Runs> published_{};  // null: not known since the last change
};

/// From one run to the next.
class RunList::Iterator {
 public:
  using value_type = RunRecord;
  using difference_type = std::ptrdiff_t;

  Iterator() = default;
  Iterator(const RunList* list, std::size_t part) : list_(list), part_(part) {}

  [[nodiscard]] const RunRecord& operator*() const { return list_->parts_[part_].chunk->runs[k_]; }
  [[nodiscard]] const RunRecord* operator->() const { return &**this; }
  Iterator& operator++() {
    if (++k_ == list_->parts_[part_].chunk->runs.size()) ++part_, k_ = 0;
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  const RunList* list_ = nullptr;
  std::size_t part_ = 0, k_ = 0;
};

inline RunList::Iterator RunList::begin() const { return {this, 0}; }
inline RunList::Iterator RunList::end() const { return {this, parts_.size()}; }

}  // namespace armillary
