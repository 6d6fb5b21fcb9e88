#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "armillary/graph/body_graph.hpp"
#include "armillary/graph/companion.hpp"
#include "armillary/graph/ids.hpp"
#include "armillary/graph/preference.hpp"
#include "armillary/graph/provider.hpp"
#include "armillary/series/series.hpp"

namespace armillary {

enum class ProviderKind : std::uint8_t { none, fixed, sampled, driven, twist };

/// Where the value of a relation comes from during one run.
struct ProviderRef {
  ProviderKind kind = ProviderKind::none;
  SampleInterpolation interpolation = SampleInterpolation::linear;  ///< of samples
  const void* pointer = nullptr;

  /// Whether a sample holds until the next one comes.
  [[nodiscard]] bool is_step() const { return interpolation == SampleInterpolation::step; }

  [[nodiscard]] const FixedPose& fixed() const { return *static_cast<const FixedPose*>(pointer); }
  [[nodiscard]] const Series& series() const { return *static_cast<const Series*>(pointer); }
  [[nodiscard]] const DrivenProvider& driven() const { return *static_cast<const DrivenProvider*>(pointer); }
  friend bool operator==(const ProviderRef&, const ProviderRef&) = default;
};

/// From `from` until the next run begins, `parent` is the frame's parent; in a closed run it has none.
struct Run {
  Stamp from;
  FrameId parent;
  RelationId relation;
  ProviderRef provider;
  Rank rank = Rank::plain;

  [[nodiscard]] bool is_closed() const { return provider.kind == ProviderKind::none; }
  friend bool operator==(const Run&, const Run&) = default;
};

/// Some runs that follow one another, oldest first. Immutable; shared by all versions in which they are alike.
struct RunChunk {
  explicit RunChunk(std::vector<Run> given);

  std::vector<Run> runs;
  bool has_fixed = false;  ///< whether one is a constant pose
};

/// All runs of one frame by one source, oldest first. Immutable.
class Runs {
 public:
  class Iterator;
  /// The run that holds at an instant and the one after it; null where there is none.
  struct Found {
    const Run* run = nullptr;
    const Run* next = nullptr;
  };

  explicit Runs(std::vector<Run> runs) : Runs(std::vector{std::make_shared<const RunChunk>(std::move(runs))}) {}
  explicit Runs(std::vector<std::shared_ptr<const RunChunk>> chunks);

  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;
  [[nodiscard]] Found at(Stamp at) const;
  /// Whether one was a constant pose at some time.
  [[nodiscard]] bool has_fixed() const { return has_fixed_; }
  friend bool operator==(const Runs& a, const Runs& b);

 private:
  std::span<const Run> last_{};                            // of the last chunk: most questions are about it
  std::vector<std::shared_ptr<const RunChunk>> chunks_{};  // none is empty
  std::size_t size_ = 0;
  bool has_fixed_ = false;
};

/// From one run to the next.
class Runs::Iterator {
 public:
  using value_type = Run;
  using difference_type = std::ptrdiff_t;

  Iterator() = default;
  explicit Iterator(const std::shared_ptr<const RunChunk>* chunk) : chunk_(chunk) {}

  [[nodiscard]] const Run& operator*() const { return (*chunk_)->runs[k_]; }
  [[nodiscard]] const Run* operator->() const { return &**this; }
  Iterator& operator++() {
    if (++k_ == (*chunk_)->runs.size()) ++chunk_, k_ = 0;
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  const std::shared_ptr<const RunChunk>* chunk_ = nullptr;
  std::size_t k_ = 0;
};

inline Runs::Iterator Runs::begin() const { return Iterator(chunks_.data()); }
inline Runs::Iterator Runs::end() const { return Iterator(chunks_.data() + chunks_.size()); }

/// What one source gave for a frame.
struct Track {
  SourceId source;
  std::shared_ptr<const Runs> shared;

  [[nodiscard]] const Runs& runs() const { return *shared; }
  /// The run that holds at `at`, or null before the first. It may be a closed one.
  [[nodiscard]] const Run* run_at(Stamp at) const { return shared->at(at).run; }
};

/// The tracks of a frame with rivals or a history of parents. Immutable.
struct TrackSet {
  std::vector<Track> tracks;
  std::vector<PreferenceStep> preferences{};
  std::vector<std::shared_ptr<const Series>> parts{};  ///< samples of runs, cut where the frame is inactive

  /// Since when the frame has no parent, where a source closed it and none holds it at `at`.
  [[nodiscard]] std::optional<Stamp> closed_since(Stamp at) const;
};

/// Chooses among the tracks of a contested frame. Pure; called by readers.
class Selector {
 public:
  virtual ~Selector() = default;
  /// Index into `open`, or kNone for "contested".
  [[nodiscard]] virtual std::uint32_t choose(FrameId frame, const std::vector<const Track*>& open, Stamp at) const = 0;
};

/// One frame as readers see it: nearly always one source, one parent for all time.
struct FrameNode {
  FrameId parent = kNone;
  RelationId relation = kNone;
  ProviderRef provider;
  const TrackSet* tracks = nullptr;  ///< set where the parent depends on time or on a choice; rules alone
  BodyId body = kNone;               ///< implicit bodies have the number of their frame
  const std::string* name = nullptr;
  bool alive = false;
  bool may_be_on_cycle = false;  ///< on a cycle when time is ignored

  /// Whether it is fixed to its parent for always, and by nobody placed elsewhere.
  [[nodiscard]] bool is_mounted() const { return tracks == nullptr && provider.kind == ProviderKind::fixed && !may_be_on_cycle; }
};

/// One version of the structure. Immutable; found through one atomic pointer, freed when no reader holds it.
///
/// Nodes live in pages, so that a change copies one page and the list of pages, however many frames there are. A version
/// that differs in its companion alone shares the list as well.
class Topology {
 public:
  static constexpr std::uint32_t kPageFrames = 128;
  struct Page {
    std::array<FrameNode, kPageFrames> nodes;
  };

  explicit Topology(Duration rival_timeout) : rival_timeout_(rival_timeout) {}

  [[nodiscard]] std::uint32_t frames() const { return frames_; }
  [[nodiscard]] bool has(FrameId id) const { return id < frames_ && node(id).alive; }
  [[nodiscard]] const FrameNode& node(FrameId id) const { return pages_[id / kPageFrames]->nodes[id % kPageFrames]; }
  /// Null where no body was declared and no motion measured.
  [[nodiscard]] const BodyGraph* bodies() const { return bodies_; }
  /// What moves as one with a frame. Only where there are `bodies`.
  [[nodiscard]] BodyId rigid_body(FrameId id) const {
    while (node(id).is_mounted()) id = node(id).parent;
    return bodies_->rigid_body(id);
  }
  [[nodiscard]] const CompanionPtr& companion() const { return companion_; }
  /// For how long after its last sample a source still contests those of others.
  [[nodiscard]] Duration rival_timeout() const { return rival_timeout_; }

 private:
  friend class TopologyEdit;
  friend void destroy_topology(const Topology* topology);
  using PageList = std::vector<const Page*>;

  Duration rival_timeout_{};
  std::uint32_t frames_ = 0;
  const Page* const* pages_ = nullptr;  // of `list_`
  std::shared_ptr<const PageList> list_ = std::make_shared<const PageList>();
  const BodyGraph* bodies_ = nullptr;
  CompanionPtr companion_;
};

/// A change in the making: the list of pages and each page are copied when first touched; `commit` publishes all of it
/// at once.
class TopologyEdit {
 public:
  explicit TopologyEdit(const Topology* base);
  ~TopologyEdit();
  TopologyEdit(const TopologyEdit&) = delete;
  TopologyEdit& operator=(const TopologyEdit&) = delete;

  void grow_to(std::uint32_t frames);
  [[nodiscard]] FrameNode& node(FrameId id);
  void set_bodies(std::unique_ptr<const BodyGraph> bodies);
  void set_companion(CompanionPtr companion) { next_->companion_ = std::move(companion); }

  /// Publishes through `root`; what it replaces is retired.
  void commit(std::atomic<const Topology*>& root, RetireList& retired);

 private:
  Topology::PageList& own_list();

  const Topology* base_;
  std::unique_ptr<Topology> next_;
  std::shared_ptr<Topology::PageList> list_;  // null while it is that of `base_`
  std::vector<bool> owned_;                   // pages that this edit copied
  std::unique_ptr<const BodyGraph> bodies_;
};

/// Frees a topology that nobody reads any more, pages included.
void destroy_topology(const Topology* topology);

}  // namespace armillary
