// Readers never see a part of a transaction: frames, samples and companion say the same number.

#include <atomic>
#include <thread>

#include "armillary/graph/forest_view.hpp"
#include "worlds.hpp"

using namespace armillary;
using tests::at_x;

namespace {

constexpr int kBatch = 5;
constexpr std::int64_t kEnough = 2000;

struct Count : Companion {
  explicit Count(std::int64_t n) : number(n) {}
  std::int64_t number;
};

std::string name(const char* what, int i) { return what + std::to_string(i); }

/// Transaction n: `fixed0..` are at x = n, `moving0..` have a sample at stamp n, and `guest0..` are there when n is odd.
struct Theatre {
  Forest forest{{.retention = tests::keeping(50)}};
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> views{0}, transactions{0}, torn{0};

  Theatre() { perform(1); }

  void perform(std::int64_t n) {
    std::vector<FrameEdit> edits;
    const Transform pose = at_x(static_cast<double>(n));
    const auto fixed = std::make_shared<const FixedPose>(FixedPose{.value = pose});
    for (int i = 0; i < kBatch; ++i) {
      edits.push_back(PlaceFixed{.of = name("fixed", i), .in_frame = "map", .pose = fixed});
      edits.push_back(PlaceSample{.of = name("moving", i), .in_frame = "map", .at = {n}, .in_frame_T_of = pose});
      if (n % 2 == 1) edits.push_back(PlaceFixed{.of = name("guest", i), .in_frame = "map", .pose = fixed});
      if (n % 2 == 0) edits.push_back(EraseFrame{name("guest", i)});
    }
    if (forest.transact(edits, std::make_shared<Count>(n))) ++torn;
    edits.push_back(EraseFrame{"nobody"});
    edits.push_back(PlaceFixed{.of = "never", .in_frame = "map", .pose = std::make_shared<FixedPose>()});
    if (n % 4 == 0 && !forest.transact(edits, std::make_shared<Count>(-1))) ++torn;
  }

  void write() {
    for (std::int64_t n = 2; !stop; ++n, ++transactions) perform(n);
  }

  void look(FrameId map, const FrameId (&moving)[kBatch]) {
    const ForestView view(forest);
    const std::int64_t n = static_cast<const Count*>(view.companion())->number;
    int fixed = 0, guests = 0;
    const Sweep sweep = view.snapshot(map, When::exactly({n}), {});
    for (std::size_t row = 0; row < sweep.found.size(); ++row) {
      const std::string_view who = sweep.name(row);
      if (who == "map") continue;
      if (sweep.found[row].transform.translation.x != static_cast<double>(n)) ++torn;
      fixed += who.starts_with("fixed");
      guests += who.starts_with("guest");
    }
    const bool is_whole = fixed == kBatch && guests == (n % 2 == 1 ? kBatch : 0) && sweep.missing.empty();
    if (!is_whole) ++torn;
    for (const FrameId frame : moving) {
      const auto ask = [&](std::int64_t at) {
        return view.pose({.of = frame, .in_frame = map, .at = When::exactly({at})}).failure.kind();
      };
      if (ask(n) != FailureKind::none || ask(n + 1) == FailureKind::none) ++torn;
    }
    ++views;
  }

  void read() {
    FrameId moving[kBatch];
    for (int i = 0; i < kBatch; ++i) moving[i] = forest.find_frame(name("moving", i));
    const FrameId map = forest.find_frame("map");
    std::int64_t last = 0;
    while (!stop) {
      look(map, moving);
      const CompanionPtr kept = forest.companion();
      const std::int64_t now = static_cast<const Count&>(*kept).number;
      if (now < last) ++torn;
      last = now;
    }
  }
};

}  // namespace

TEST(transaction_stress, "stress: transactions are seen whole, with their companion, or not at all") {
  Theatre theatre;
  std::thread writer([&] { theatre.write(); }), reader([&] { theatre.read(); }), another([&] { theatre.read(); });
  tests::until_each_is(kEnough, {&theatre.views, &theatre.transactions});
  theatre.stop = true;
  for (std::thread* thread : {&writer, &reader, &another}) thread->join();
  CHECK(theatre.torn == 0);
}
