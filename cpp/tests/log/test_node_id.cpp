// Ids are unique, their texts are UUIDs, and their hashes spread.

#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "armillary/log/node_id.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

char version_of(const NodeId& id) { return id.text()[14]; }
bool has_variant(const NodeId& id) { return std::string("89ab").find(id.text()[19]) != std::string::npos; }

/// The first id that a forked child draws.
NodeId drawn_by_child() {
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const NodeId id = NodeId::random();
    _exit(write(ends[1], id.bytes.data(), id.bytes.size()) == 16 ? 0 : 1);
  }
  NodeId id;
  CHECK(read(ends[0], id.bytes.data(), id.bytes.size()) == 16);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  close(ends[0]);
  close(ends[1]);
  return id;
}

}  // namespace

TEST(node_id_random, "random ids are of version 4 and do not repeat") {
  std::set<NodeId> ids;
  for (int i = 0; i < 10'000; ++i) {
    const NodeId id = NodeId::random();
    CHECK(version_of(id) == '4' && has_variant(id));
    CHECK(ids.insert(id).second);
  }
}

TEST(node_id_threads, "threads draw different ids") {
  std::vector<NodeId> ids(2);
  std::jthread([&] { ids[0] = NodeId::random(); }).join();
  std::jthread([&] { ids[1] = NodeId::random(); }).join();
  CHECK(ids[0] != ids[1]);
}

TEST(node_id_fork, "a forked process does not draw the ids of its parent") {
  CHECK(NodeId::random() != NodeId::random());  // the generator is seeded before the fork
  const NodeId first = drawn_by_child(), second = drawn_by_child(), own = NodeId::random();
  CHECK(first != second && first != own && second != own);
}

TEST(node_id_names, "a name always gives the same id, in its own space") {
  const NodeId id = NodeId::of_name("frame", "base");
  CHECK(id == NodeId::of_name("frame", "base"));
  CHECK(version_of(id) == '8' && has_variant(id));
  CHECK(id.text() == "6844105f-e619-8cd9-abaa-8e5bfdc0b056");
  CHECK(id != NodeId::of_name("frame", "Base") && id != NodeId::of_name("frameb", "ase"));
}

TEST(node_id_text, "text is read back, in either case") {
  for (const NodeId& id : {NodeId::random(), kRootNode, kDetachedNode, NodeId{}}) CHECK(NodeId::parse(id.text()) == id);
  const auto id = NodeId::parse("3F2A9C1E-0b4d-4e5f-8a6b-7C8D9e0F1a2b");
  CHECK(id && id->text() == "3f2a9c1e-0b4d-4e5f-8a6b-7c8d9e0f1a2b" && id->short_text() == "3f2a9c1e");
}

TEST(node_id_other_text, "other text is no id") {
  const std::string text = NodeId::random().text();
  for (const std::string& wrong : {std::string(), text.substr(1), text + "0", "{" + text.substr(1), std::string(36, '-'),
                                   std::string(36, '0'), text.substr(0, 35) + "g"}) {
    CHECK(!NodeId::parse(wrong));
  }
}

TEST(node_id_constants, "root and detached are two ids for ever") {
  CHECK(kRootNode.text() == "726f6f74-0000-8000-8000-000000000000");
  CHECK(kDetachedNode.text() == "6c696d62-6f00-8000-8000-000000000000");
}

TEST(node_id_hash, "hashes of ids that count up differ in their first bits") {
  for (std::size_t byte = 0; byte < 16; ++byte) {
    std::set<std::uint64_t> first_bits;
    for (int i = 0; i < 256; ++i) {
      NodeId id;
      id.bytes[byte] = static_cast<std::uint8_t>(i);
      first_bits.insert(NodeIdTraits::hash(id) >> 44);
    }
    CHECK(first_bits.size() > 250);
  }
}
