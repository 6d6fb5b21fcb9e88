#include <array>
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "armillary/series/pose_row.hpp"
#include "armillary/series/series.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

using Values = std::array<double, kPoseWidth>;

/// Every value of a row follows from its stamp, so a torn row shows.
Values values_at(std::int64_t stamp_ns) {
  const auto s = static_cast<double>(stamp_ns);
  return {1.0, 0.0, 0.0, 0.0, s, 2.0 * s, -s};
}

bool is_whole(const Row& row) {
  const Values expected = values_at(row.stamp_ns());
  return std::equal(expected.begin(), expected.end(), row.values());
}

Retention keeping(std::int64_t history_ns, std::size_t max_samples = 0) {
  Retention retention;
  retention.history = {history_ns};
  retention.max_samples = max_samples;
  return retention;
}

struct Fixture {
  RetireList retired;
  Series series;

  explicit Fixture(Retention retention = keeping(1'000'000'000)) : series(kPoseWidth, retention) {}
  void add(std::int64_t stamp_ns) { series.insert({stamp_ns}, values_at(stamp_ns), nullptr, retired); }
};

void check_equals(const Series& series, const std::map<std::int64_t, Values>& model) {
  CHECK(series.size() == model.size());
  auto expected = model.begin();
  bool same = true;
  series.for_each(Stamp::always(), Stamp::never(), [&](Row row) {
    same = same && expected != model.end() && row.stamp_ns() == expected->first && is_whole(row);
    if (expected != model.end()) ++expected;
  });
  CHECK(same && expected == model.end());
}

void check_brackets(const Series& series, const std::map<std::int64_t, Values>& model, std::int64_t at) {
  const Bracket bracket = series.bracket({at});
  auto after = model.upper_bound(at);
  CHECK(static_cast<bool>(bracket.after) == (after != model.end()));
  if (bracket.after && after != model.end()) CHECK(bracket.after.stamp_ns() == after->first);
  CHECK(static_cast<bool>(bracket.before) == (after != model.begin()));
  if (bracket.before && after != model.begin()) CHECK(bracket.before.stamp_ns() == std::prev(after)->first);
}

/// Random inserts and repeats against std::map, with history and a bound on their number.
void check_against_a_map(unsigned seed, std::int64_t history_ns, std::size_t max_samples) {
  std::mt19937_64 random(seed);
  Fixture f(keeping(history_ns, max_samples));
  std::map<std::int64_t, Values> model;
  std::int64_t clock = 0;
  for (int step = 0; step < 3000; ++step) {
    clock += static_cast<std::int64_t>(random() % 20);
    const std::int64_t late = random() % 3 == 0 ? static_cast<std::int64_t>(random() % 1500) : 0;
    const std::int64_t stamp = clock - late;
    if (!model.empty() && stamp < std::max(model.rbegin()->first - history_ns, model.begin()->first)) continue;
    f.add(stamp);
    model[stamp] = values_at(stamp);
    while (model.begin()->first < model.rbegin()->first - history_ns) model.erase(model.begin());
    while (max_samples > 0 && model.size() > max_samples) model.erase(model.begin());
    check_brackets(f.series, model, clock - static_cast<std::int64_t>(random() % 2000));
  }
  check_equals(f.series, model);
}

}  // namespace

TEST(series_random, "a series equals a sorted map under random inserts and repeats") {
  for (unsigned seed = 0; seed < 6; ++seed) {
    check_against_a_map(seed, 1'000'000, 0);
    check_against_a_map(seed, 2000, 0);
    check_against_a_map(seed, 1'000'000, 300);
  }
}

TEST(series_reverse, "inserting backwards gives the same series as forwards") {
  Fixture forwards, backwards;
  for (std::int64_t i = 0; i < 2000; ++i) {
    forwards.add(i);
    backwards.add(1999 - i);
  }
  for (std::int64_t i = 0; i < 2000; ++i) {
    CHECK(forwards.series.bracket({i}).before.stamp_ns() == i);
    CHECK(backwards.series.bracket({i}).before.stamp_ns() == i);
  }
}

TEST(series_empty, "an empty series brackets nothing") {
  Fixture f;
  CHECK(f.series.empty());
  CHECK(!f.series.bracket({5}).before && !f.series.bracket({5}).after);
  CHECK(!f.series.first_row() && !f.series.last_row());
}

TEST(series_side, "a covariance that comes late leaves earlier rows unknown") {
  Fixture f;
  for (std::int64_t i = 0; i < 200; ++i) f.add(i);
  std::array<double, Series::kSideWords> side{};
  side[0] = 4.0;
  f.series.insert({200}, values_at(200), side.data(), f.retired);
  f.add(201);
  CHECK(!covariance_of(f.series.bracket({100}).before));
  CHECK(covariance_of(f.series.bracket({200}).before)->at(0, 0) == 4.0);
  CHECK(!covariance_of(f.series.bracket({201}).before));
  CHECK(f.series.size() == 202 && is_whole(f.series.bracket({7}).before));
}

TEST(series_side_split, "covariances stay with their rows when a full chunk splits") {
  Fixture f;
  std::array<double, Series::kSideWords> side{};
  for (std::int64_t i = 0; i < 400; ++i) {
    side[0] = static_cast<double>(2 * i);
    f.series.insert({2 * i}, values_at(2 * i), side.data(), f.retired);
  }
  for (std::int64_t i = 0; i < 400; i += 7) f.add(2 * i + 1);
  for (std::int64_t i = 0; i < 400; ++i) {
    const Row row = f.series.bracket({2 * i}).before;
    CHECK(is_whole(row) && covariance_of(row) && covariance_of(row)->at(0, 0) == static_cast<double>(2 * i));
  }
  CHECK(!covariance_of(f.series.bracket({1}).before));
}

TEST(series_half_forgotten, "late rows go into a chunk of which most is forgotten") {
  Fixture f(keeping(400));
  std::map<std::int64_t, Values> model;
  for (std::int64_t i = 0; i < 128; ++i) f.add(4 * i);  // one full chunk, then most of it too old
  f.add(800);
  for (std::int64_t t = 401; t < 511; t += 3) f.add(t);
  for (std::int64_t i = 100; i < 128; ++i) model[4 * i] = values_at(4 * i);
  for (std::int64_t t = 401; t < 511; t += 3) model[t] = values_at(t);
  model[800] = values_at(800);
  check_equals(f.series, model);
  for (std::int64_t t = 801; t < 1200; ++t) f.add(t);
  CHECK(f.series.size() == 400 && f.series.first_row().stamp_ns() == 800);
}

TEST(series_width, "a series holds rows of any width") {
  RetireList retired;
  Series series(3, keeping(1000));
  for (std::int64_t i = 0; i < 500; ++i) {
    const std::array<double, 3> row{double(i), double(2 * i), double(3 * i)};
    series.insert({i}, row, nullptr, retired);
  }
  CHECK(series.bracket({77}).before.values()[2] == 231.0);
}

TEST(series_thin, "thinning keeps what a straight line cannot say") {
  Retention bounds = keeping(1'000'000);
  bounds.thin_m = bounds.thin_rad = 1e-6;
  Fixture f(bounds);
  const auto truth = [](std::int64_t t) { return t < 1000 ? 0.001 * double(t) : 1.0 - 0.002 * double(t - 1000); };
  for (std::int64_t t = 0; t < 4000; ++t) {
    const Values row{1.0, 0.0, 0.0, 0.0, truth(t), 0.0, 0.0};
    f.series.insert({t}, row, nullptr, f.retired);
  }
  CHECK(f.series.size() < 300);
  for (std::int64_t t = 0; t < 3900; ++t) {
    const Bracket b = f.series.bracket({t});
    const Row after = b.before.stamp_ns() == t ? b.before : b.after;
    const double u = after.stamp_ns() == b.before.stamp_ns() ? 0.0 : fraction(b.before, after, t);
    CHECK_CLOSE((1 - u) * b.before.values()[4] + u * after.values()[4], truth(t), 1e-6 + 1e-12);
  }
}

TEST(series_thin_curve, "thinning a curve keeps every dropped row within its bounds") {
  Retention bounds = keeping(1'000'000);
  bounds.thin_m = bounds.thin_rad = 1e-3;
  Fixture f(bounds);
  const auto pose = [](std::int64_t t) {
    const double angle = 1e-3 * static_cast<double>(t);
    return Transform{Rotation::exp({0, 0, angle}), {std::cos(angle), std::sin(angle), 0.0}};
  };
  for (std::int64_t t = 0; t < 3000; ++t) f.series.insert({t}, values_of(pose(t)), nullptr, f.retired);
  CHECK(f.series.size() < 400);
  for (std::int64_t t = 0; t < 2999; ++t) {
    const Bracket b = f.series.bracket({t});
    const Transform guess =
        b.before.stamp_ns() == t ? pose_of(b.before) : interpolate_rows(b.before, b.after, t, Interpolation::linear);
    CHECK(norm(guess.translation - pose(t).translation) <= 1e-3 && guess.rotation.angle_to(pose(t).rotation) <= 1e-3);
  }
}

TEST(series_readers, "readers under late inserts, repeats and expiry see whole rows in order") {
  Fixture f(keeping(4000));
  for (std::int64_t i = 0; i < 2000; ++i) f.add(2 * i);
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> torn{0}, reads{0};
  const auto read = [&](unsigned seed) {
    std::mt19937_64 random(seed);
    std::int64_t mine = 0;
    while (!stop) {
      Pin pin;
      const std::int64_t newest = f.series.newest().ns;
      const std::int64_t at = newest - static_cast<std::int64_t>(random() % 4000);
      const Bracket b = f.series.bracket({at});
      const bool ordered = (!b.before || b.before.stamp_ns() <= at) && (!b.after || b.after.stamp_ns() > at);
      if (!ordered || (b.before && !is_whole(b.before)) || (b.after && !is_whole(b.after))) ++torn;
      ++mine;
    }
    reads += mine;
  };
  std::thread first(read, 1), second(read, 2);
  std::mt19937_64 random(3);
  std::int64_t clock = 4000;
  for (int i = 0; i < 60'000; ++i) {
    clock += 1 + static_cast<std::int64_t>(random() % 3);
    f.add(clock);
    if (i % 2 == 0) f.add(clock - static_cast<std::int64_t>(random() % 3900));
  }
  stop = true;
  first.join();
  second.join();
  CHECK(torn == 0);
  CHECK(reads > 0);
}

TEST(late_rows_of_a_long_series, "late rows anywhere in a long series are found as in a map, and so are those of any stretch") {
  std::mt19937_64 random(11);
  Series series(kPoseWidth, keeping(std::int64_t{1} << 60));
  RetireList retired;
  std::map<std::int64_t, bool> expected;
  const auto add = [&](std::int64_t stamp_ns) {
    const Values values = values_at(stamp_ns);
    series.insert({stamp_ns}, values, nullptr, retired);
    expected[stamp_ns] = true;
  };
  for (std::int64_t i = 0; i < 60'000; ++i) add(1000 * i);
  for (int i = 0; i < 20'000; ++i) {
    const bool is_close = i % 2 == 0;  // to one chunk, which fills up, or anywhere, the tail included
    add(is_close ? 30'000'000 + static_cast<std::int64_t>(random() % 100'000) : static_cast<std::int64_t>(random() % 60'000'000));
    if (i % 10 == 0) add(60'000'000 + 1000 * i);
  }
  CHECK(series.size() == expected.size());
  for (int i = 0; i < 300; ++i) {
    std::int64_t from = static_cast<std::int64_t>(random() % 90'000'000) - 1'000'000;
    const std::int64_t to = from + static_cast<std::int64_t>(random() % (i % 3 == 0 ? 90'000'000 : 5'000));
    if (i % 7 == 0) from = std::next(expected.begin(), static_cast<std::ptrdiff_t>(random() % expected.size()))->first;
    auto next = expected.lower_bound(from);
    series.for_each({from}, {to}, [&](const Row& row) {
      CHECK(next != expected.end() && row.stamp_ns() == next->first);
      CHECK(is_whole(row));
      ++next;
    });
    CHECK(next == expected.upper_bound(std::max(from - 1, to)));
  }
}
