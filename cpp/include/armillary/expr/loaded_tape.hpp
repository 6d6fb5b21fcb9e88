#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace armillary {

/// A tape as machine code: two functions of a shared library, `void f(const double* in, double* out)` and
/// `void f_batch(long n, const double* in, double* out)`. What they do is for whoever compiled them to answer for.
/// Copies share the library, which stays loaded as long as one of them lives.
class LoadedTape {
 public:
  /// Where it is, and what it is known to take and give.
  struct Place {
    std::string path{};
    std::string symbol{};
    std::size_t inputs = 0;
    std::size_t outputs = 0;
  };

  /// The text: why it cannot be loaded.
  [[nodiscard]] static std::variant<LoadedTape, std::string> open(const Place& place);

  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }

  void evaluate(const double* in, double* out) const { one_(in, out); }
  /// `n` rows, one behind the other.
  void evaluate_batch(std::size_t n, const double* in, double* out) const { many_(static_cast<long>(n), in, out); }

 private:
  using One = void (*)(const double* in, double* out);
  using Many = void (*)(long n, const double* in, double* out);

  LoadedTape(std::shared_ptr<void> library, One one, Many many, const Place& place)
      : library_(std::move(library)), one_(one), many_(many), inputs_(place.inputs), outputs_(place.outputs) {}

  std::shared_ptr<void> library_;
  One one_;
  Many many_;
  std::size_t inputs_, outputs_;
};

}  // namespace armillary
