#pragma once

// What the encoder and the decoder of changes share: names of enumerators, and which types have a table of fields.

#include <span>

#include "armillary/log/change.hpp"

namespace armillary::log {

template <typename T>
concept Named = std::is_enum_v<T>;

template <typename T>
concept Tabled = requires { T::fields(); };

/// Whose fields may stand among those of another struct.
template <typename T>
concept Inlined = Tabled<T> || std::same_as<T, FixedPose> || std::same_as<T, FixedPosePtr>;

// The names of all values of an enumeration, in their order.
[[nodiscard]] std::span<const std::string_view> names_of(NodeKind kind);
[[nodiscard]] std::span<const std::string_view> names_of(Rank rank);
[[nodiscard]] std::span<const std::string_view> names_of(SampleInterpolation interpolation);
[[nodiscard]] std::span<const std::string_view> names_of(TrackKind kind);
[[nodiscard]] std::span<const std::string_view> names_of(VariableKind kind);
[[nodiscard]] std::span<const std::string_view> names_of(Certainty certainty);

[[nodiscard]] std::string hex_text(std::span<const std::byte> bytes);

/// Throws InvalidChange with this sentence.
[[noreturn]] void refuse(const std::string& what);

/// A name of a frame, a body or a variable: not empty, no control character, no leading '/'.
void check_name(const std::string& name, const char* field);

/// Refuses fields that do not fit together: throws InvalidChange.
void check_change(const Change& change);

}  // namespace armillary::log
