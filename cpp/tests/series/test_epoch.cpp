// What readers may still look at is not freed; what they cannot is.

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "armillary/series/epoch.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

std::atomic<int> alive{0};

struct Thing {
  Thing() { ++alive; }
  ~Thing() { --alive; }
  Thing(const Thing&) = delete;
  Thing& operator=(const Thing&) = delete;
};

}  // namespace

TEST(epoch_free, "what nobody pins is freed at the next collection") {
  RetireList retired;
  retired.retire(new Thing);
  CHECK(alive == 1 && retired.size() == 1);
  retired.collect();
  CHECK(alive == 0 && retired.size() == 0);
}

TEST(epoch_pinned, "a pin keeps what is retired after it, at once and later, until it ends") {
  RetireList retired;
  std::optional<Pin> pin(std::in_place);
  retired.retire(new Thing);
  retired.collect();
  CHECK(alive == 1);
  retired.retire(new Thing);
  retired.collect();
  CHECK(alive == 2);
  pin.reset();
  retired.collect();
  CHECK(alive == 0);
}

TEST(epoch_before, "a pin does not keep what was retired before it") {
  RetireList retired;
  retired.retire(new Thing);
  const Pin pin;
  retired.retire(new Thing);
  retired.collect();
  CHECK(alive == 1 && retired.size() == 1);
}

TEST(epoch_nested, "an inner pin that ends leaves the outer one in force") {
  RetireList retired;
  std::optional<Pin> outer(std::in_place);
  retired.retire(new Thing);
  {
    const Pin inner;
  }
  retired.collect();
  CHECK(alive == 1);
  {
    const Pin inner;
  }
  retired.collect();
  CHECK(alive == 1);
  outer.reset();
  retired.collect();
  CHECK(alive == 0);
}

TEST(epoch_threads, "a pin of another thread counts, and no more once that thread is gone") {
  RetireList retired;
  std::atomic<int> step{0};
  std::thread reader([&] {
    const Pin pin;
    step = 1;
    while (step == 1) std::this_thread::yield();
  });
  while (step == 0) std::this_thread::yield();
  retired.retire(new Thing);
  retired.collect();
  CHECK(alive == 1);
  step = 2;
  reader.join();
  retired.collect();
  CHECK(alive == 0);
}

TEST(epoch_many_threads, "hundreds of short threads leave nothing pinned") {
  RetireList retired;
  for (int round = 0; round < 100; ++round) {
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i) readers.emplace_back([] { const Pin pin; });
    retired.retire(new Thing);
    for (std::thread& reader : readers) reader.join();
  }
  retired.collect();
  CHECK(alive == 0);
}

TEST(epoch_bounded, "without pins retired things do not pile up, and none is forgotten at the end") {
  {
    RetireList retired;
    for (int i = 0; i < 10'000; ++i) retired.retire(new Thing);
    CHECK(retired.size() < 200 && alive < 200);
  }
  CHECK(alive == 0);
}
