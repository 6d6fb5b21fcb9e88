// Debian's tf2 (ROS 1, BufferCore), measured from C++. See peers/__init__.py for the protocol.
// Every command answers CPU nanoseconds per operation unless its comment says otherwise.
#include <geometry_msgs/TransformStamped.h>
#include <malloc.h>
#include <tf2/buffer_core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using Buffer = tf2::BufferCore;
using Message = geometry_msgs::TransformStamped;
using Messages = std::vector<Message>;
using Words = std::istringstream;

// The constants of scenario.py.
constexpr int kEdges = 10, kSamples = 10'000, kTreeFrames = 1'000, kTreeStride = 100;
constexpr int kDepth = 99;  // of the common parent of the two deep siblings
constexpr int64_t kPeriod = 1'000'000, kStart = 100'000'000'000, kHistory = kSamples * kPeriod;
const ros::Duration kCache(10.0);

std::string folder;

struct Series {
  std::vector<int64_t> stamps;
  std::vector<double> rows;  // xyz_wxyz

  const double* row(int64_t index) const { return &rows[7 * (index % kSamples)]; }
};

template <typename Value>
std::vector<Value> read(std::istream& file, size_t count) {
  std::vector<Value> values(count);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(Value)));
  if (!file) throw std::runtime_error("a scenario file is missing or short");
  return values;
}

std::ifstream open(const std::string& name) { return std::ifstream(folder + "/" + name + ".bin", std::ios::binary); }

const std::vector<Series>& chain(const std::string& name) {
  static std::map<std::string, std::vector<Series>> loaded;
  auto& series = loaded[name];
  if (!series.empty()) return series;
  auto file = open(name);
  for (int edge = 0; edge < kEdges; ++edge) {
    auto stamps = read<int64_t>(file, kSamples);
    series.push_back({std::move(stamps), read<double>(file, 7 * kSamples)});
  }
  return series;
}

ros::Time time_of(int64_t stamp) { return ros::Time().fromNSec(static_cast<uint64_t>(stamp)); }

const std::vector<ros::Time>& times() {
  static std::vector<ros::Time> made;
  if (made.empty()) {
    auto file = open("times");
    for (int64_t stamp : read<int64_t>(file, 100'000)) made.push_back(time_of(stamp));
  }
  return made;
}

std::string numbered(const std::string& prefix, int64_t index) { return prefix + std::to_string(index); }

Message message(const std::string& of, const std::string& in_frame, int64_t stamp, const double* row) {
  Message made;
  made.header.frame_id = in_frame;
  made.child_frame_id = of;
  made.header.stamp = time_of(stamp);
  auto& xyz = made.transform.translation;
  auto& q = made.transform.rotation;
  xyz.x = row[0], xyz.y = row[1], xyz.z = row[2];
  q.w = row[3], q.x = row[4], q.y = row[5], q.z = row[6];
  return made;
}

void fill(Buffer& buffer, const std::string& of, const std::string& in_frame, const Series& series, int stride = 1) {
  for (int i = 0; i < kSamples; i += stride)
    buffer.setTransform(message(of, in_frame, series.stamps[i], series.row(i)), "bench");
}

int64_t now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// CPU time of one call of `work`, divided by `operations`.
double cpu_ns(int64_t operations, const std::function<void()>& work) {
  const int64_t started = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  work();
  return static_cast<double>(now_ns(CLOCK_PROCESS_CPUTIME_ID) - started) / static_cast<double>(operations);
}

double insert_all(Buffer& buffer, const Messages& messages) {
  return cpu_ns(static_cast<int64_t>(messages.size()), [&] {
    for (const auto& each : messages) buffer.setTransform(each, "bench");
  });
}

std::string answer(const char* key, double value) {
  std::ostringstream text;
  text << "{\"" << key << "\": " << value << "}";
  return text.str();
}

/// A relation "w" in "f0" whose history is full and which goes on at 1 kHz.
class Stream {
 public:
  explicit Stream(Buffer& buffer) : buffer_(buffer) { insert_all(buffer_, in_order(kSamples)); }

  Messages in_order(int64_t count) {
    Messages made;
    for (int64_t i = 0; i < count; ++i, ++next_) made.push_back(at(kStart + next_ * kPeriod, next_));
    return made;
  }

  /// Half a period beside the newest `count` samples moved back by `lateness`, shuffled.
  Messages late(int64_t count, int64_t lateness) {
    Messages made;
    for (int64_t i = next_ - count; i < next_; ++i) made.push_back(at(kStart + i * kPeriod - lateness + kPeriod / 2, i));
    std::shuffle(made.begin(), made.end(), std::mt19937(7));
    return made;
  }

 private:
  Message at(int64_t stamp, int64_t index) const { return message("w", "f0", stamp, chain("jittered")[0].row(index)); }

  Buffer& buffer_;
  int64_t next_ = 0;
};

Buffer& chain_buffer(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Buffer>> made;
  auto& buffer = made[name];
  if (!buffer) {
    buffer = std::make_unique<Buffer>(kCache);
    for (int i = 0; i < kEdges; ++i) fill(*buffer, numbered("f", i + 1), numbered("f", i), chain(name)[i]);
  }
  return *buffer;
}

double lookups(const Buffer& buffer, const std::string& of, const std::string& in_frame, int64_t count, int64_t offset) {
  return cpu_ns(count, [&] {
    for (int64_t i = 0; i < count; ++i) {
      auto found = buffer.lookupTransform(in_frame, of, times()[(offset + i) % times().size()]);
      asm volatile("" : : "r"(&found) : "memory");
    }
  });
}

// lookup CHAIN EDGES COUNT OFFSET
std::string lookup(Words& words) {
  std::string name;
  int64_t edges = 0, count = 0, offset = 0;
  words >> name >> edges >> count >> offset;
  times();
  return answer("ns", lookups(chain_buffer(name), numbered("f", edges), "f0", count, offset));
}

// latest CHAIN EDGES COUNT
std::string latest(Words& words) {
  std::string name;
  int64_t edges = 0, count = 0;
  words >> name >> edges >> count;
  const auto& buffer = chain_buffer(name);
  const std::string of = numbered("f", edges), in_frame = "f0";
  return answer("ns", cpu_ns(count, [&] {
    for (int64_t i = 0; i < count; ++i) {
      auto found = buffer.lookupTransform(in_frame, of, ros::Time(0));
      asm volatile("" : : "r"(&found) : "memory");
    }
  }));
}

// insert COUNT
std::string insert(Words& words) {
  static Buffer buffer(kCache);
  static Stream stream(buffer);
  int64_t count = 0;
  words >> count;
  return answer("ns", insert_all(buffer, stream.in_order(count)));
}

// late MILLISECONDS COUNT: only the late ones are timed, after each hundred in order
std::string late(Words& words) {
  static std::map<int64_t, std::pair<std::unique_ptr<Buffer>, std::unique_ptr<Stream>>> made;
  int64_t lateness_ms = 0, count = 0;
  words >> lateness_ms >> count;
  auto& [buffer, stream] = made[lateness_ms];
  if (!buffer) buffer = std::make_unique<Buffer>(kCache), stream = std::make_unique<Stream>(*buffer);
  double total = 0.0;
  for (int64_t done = 0; done < count; done += 100) {
    insert_all(*buffer, stream->in_order(100));
    total += insert_all(*buffer, stream->late(100, lateness_ms * 1'000'000));
  }
  return answer("ns", total * 100.0 / static_cast<double>(count));
}

// siblings deep|shallow COUNT OFFSET
std::string siblings(Words& words) {
  static std::unique_ptr<Buffer> buffer;
  std::string where;
  int64_t count = 0, offset = 0;
  words >> where >> count >> offset;
  if (!buffer) {
    buffer = std::make_unique<Buffer>(kCache);
    for (int i = 0; i < kDepth; ++i) fill(*buffer, numbered("d", i + 1), numbered("d", i), chain("jittered")[i % kEdges]);
    for (const auto& [side, edge] : {std::pair("left", 3), std::pair("right", 4)}) {
      fill(*buffer, std::string(side) + "_deep", numbered("d", kDepth), chain("jittered")[edge]);
      fill(*buffer, std::string(side) + "_shallow", "d0", chain("jittered")[edge]);
    }
  }
  times();
  return answer("ns", lookups(*buffer, "left_" + where, "right_" + where, count, offset));
}

// waits PENDING COUNT: inserts while requests of another branch wait for the future
std::string waits(Words& words) {
  static Stream stream(chain_buffer("jittered"));
  int64_t pending = 0, count = 0;
  words >> pending >> count;
  auto& buffer = chain_buffer("jittered");
  const auto callback = buffer.addTransformableCallback([](auto&&...) {});
  std::vector<tf2::TransformableRequestHandle> requests;
  for (int64_t i = 0; i < pending; ++i)
    requests.push_back(buffer.addTransformableRequest(callback, "f0", "f10", time_of(kStart + 1000 * kHistory + i)));
  const double cost = insert_all(buffer, stream.in_order(count));
  for (auto request : requests) buffer.cancelTransformableRequest(request);
  buffer.removeTransformableCallback(callback);
  return answer("ns", cost);
}

// tree SHAPE SWEEPS OFFSET: the thousand lookups of one instant, in total
std::string tree(Words& words) {
  static std::map<std::string, std::unique_ptr<Buffer>> made;
  std::string shape;
  int64_t sweeps = 0, offset = 0;
  words >> shape >> sweeps >> offset;
  auto& buffer = made[shape];
  if (!buffer) {
    buffer = std::make_unique<Buffer>(kCache);
    auto file = open(shape);
    const auto parents = read<int64_t>(file, kTreeFrames);
    for (int i = 1; i < kTreeFrames; ++i)
      fill(*buffer, numbered("t", i), numbered("t", parents[i]), chain("jittered")[i % kEdges], kTreeStride);
  }
  std::vector<std::string> names;
  for (int i = 0; i < kTreeFrames; ++i) names.push_back(numbered("t", i));
  times();
  return answer("ns", cpu_ns(sweeps, [&] {
    for (int64_t i = offset; i < offset + sweeps; ++i) {
      for (const auto& name : names) {
        auto found = buffer->lookupTransform(names[0], name, times()[i]);
        asm volatile("" : : "r"(&found) : "memory");
      }
    }
  }));
}

/// Sixty frames at 1 kHz, in wall time, until told to stop.
class Writer {
 public:
  explicit Writer(Buffer& buffer) : buffer_(buffer) {
    for (int i = 0; i < 60; ++i) names_.push_back({numbered("f", i + 1), i < kEdges ? numbered("f", i) : "f0"});
  }

  void tick() {
    const int64_t stamp = kStart + next_ * kPeriod;
    for (const auto& [of, in_frame] : names_)
      buffer_.setTransform(message(of, in_frame, stamp, chain("regular")[0].row(next_)), "bench");
    ++next_;
  }

  void run(const std::atomic<bool>& stop) {
    auto due = std::chrono::steady_clock::now();
    while (!stop) {
      tick();
      std::this_thread::sleep_until(due += std::chrono::milliseconds(1));
    }
  }

  int64_t newest() const { return kStart + (next_ - 1) * kPeriod; }

 private:
  Buffer& buffer_;
  std::vector<std::pair<std::string, std::string>> names_;
  int64_t next_ = 0;
};

// readers THREADS MILLISECONDS WRITER(0|1): lookups a second over ten edges, wall time
std::string readers(Words& words) {
  static Buffer buffer(kCache);
  static Writer writer(buffer);
  static const bool filled = [] { for (int i = 0; i < kSamples; ++i) writer.tick(); return true; }();
  (void)filled;
  int64_t threads = 0, window_ms = 0, writing = 0;
  words >> threads >> window_ms >> writing;
  std::atomic<bool> stop{false};
  std::atomic<int64_t> total{0};
  const int64_t newest = writer.newest();
  auto reading = [&](unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<int64_t> pick(newest - 9'000'000'000, newest);
    const std::string of = "f10", in_frame = "f0";
    int64_t count = 0;
    for (; !stop; ++count) buffer.lookupTransform(in_frame, of, time_of(pick(random)));
    total += count;
  };
  std::vector<std::thread> running;
  const auto started = std::chrono::steady_clock::now();
  if (writing) running.emplace_back([&] { writer.run(stop); });
  for (unsigned i = 0; i < threads; ++i) running.emplace_back(reading, i);
  std::this_thread::sleep_for(std::chrono::milliseconds(window_ms));
  stop = true;
  for (auto& thread : running) thread.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  return answer("per_s", static_cast<double>(total) / seconds.count());
}

// memory: bytes from malloc per stored transform, sixty frames of ten thousand
std::string memory(Words&) {
  const auto used = [] { const auto info = mallinfo2(); return static_cast<double>(info.uordblks + info.hblkhd); };
  chain("jittered");
  const double before = used();
  Buffer buffer(kCache);
  for (int i = 0; i < 60; ++i) fill(buffer, numbered("f", i + 1), "f0", chain("jittered")[i % kEdges]);
  return answer("bytes", (used() - before) / (60.0 * kSamples));
}

// answer CHAIN EDGES COUNT: {"rows": xyz_wxyz at the first COUNT times}
std::string answers(Words& words) {
  std::string name;
  int64_t edges = 0, count = 0;
  words >> name >> edges >> count;
  std::ostringstream text;
  text.precision(17);
  text << "{\"rows\": [";
  for (int64_t i = 0; i < count; ++i) {
    const auto found = chain_buffer(name).lookupTransform("f0", numbered("f", edges), times()[i]).transform;
    const auto& [xyz, q] = std::pair(found.translation, found.rotation);
    text << (i ? ", [" : "[") << xyz.x << ", " << xyz.y << ", " << xyz.z << ", " << q.w << ", " << q.x << ", " << q.y << ", " << q.z << "]";
  }
  return text.str() + "]}";
}

const std::map<std::string, std::function<std::string(Words&)>> commands = {
    {"lookup", lookup}, {"latest", latest}, {"insert", insert}, {"late", late}, {"siblings", siblings}, {"waits", waits},
    {"tree", tree}, {"readers", readers}, {"memory", memory}, {"answer", answers}};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  folder = arguments[1];
  std::string line, command;
  while (std::getline(std::cin, line)) {
    Words words(line);
    words >> command;
    try {
      if (!commands.count(command)) throw std::runtime_error("unknown command " + command);
      std::cout << commands.at(command)(words) << std::endl;
    } catch (const std::exception& failure) {
      std::cout << "{\"error\": \"" << failure.what() << "\"}" << std::endl;
    }
  }
}
