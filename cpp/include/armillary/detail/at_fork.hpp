#pragma once

#include <functional>

namespace armillary::detail {

/// Keeps an object whole over a fork: its locks are held while the process forks, and are free in parent and child afterwards.
///
/// The child has one thread, the one that forked. All locks of all objects are tried at once, and none is waited for while
/// others are held: the order in which threads take them does not matter, and who holds one finishes first.
/// The last member of its object: made when the others are there, gone before them.
class AtFork {
 public:
  struct Actions {
    std::function<bool()> try_hold;  ///< false: another thread holds a lock, and none was taken
    std::function<void()> release;   ///< what was held, in the parent
    std::function<void()> renew;     ///< what was held, in the child, where all other threads are gone
  };

  explicit AtFork(Actions actions);
  ~AtFork();
  AtFork(const AtFork&) = delete;
  AtFork& operator=(const AtFork&) = delete;

  [[nodiscard]] const Actions& actions() const { return actions_; }

 private:
  Actions actions_;
};

}  // namespace armillary::detail
