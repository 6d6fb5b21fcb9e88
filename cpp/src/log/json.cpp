#include "armillary/log/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace armillary::log {

namespace {

constexpr int kDeepest = 64;

/// Length of the UTF-8 sequence at the front of `text`; zero where it is none (RFC 3629: no surrogates, shortest form).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0}; };
  const auto is_tail = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return is_tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool is_short = first == 0xE0 && byte(1) < 0xA0, is_surrogate = first == 0xED && byte(1) > 0x9F;
    return is_tail(1) && is_tail(2) && !is_short && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool is_short = first == 0xF0 && byte(1) < 0x90, is_beyond = first == 0xF4 && byte(1) > 0x8F;
    return is_tail(1) && is_tail(2) && is_tail(3) && !is_short && !is_beyond ? 4 : 0;
  }
  return 0;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12), tail(6), tail(0);
  }
}

/// One pass over the text; `at_` never moves back.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  [[nodiscard]] Json document() {
    Json json = value(0);
    skip_blanks();
    if (at_ != text_.size()) refuse("something follows the value");
    return json;
  }

 private:
  [[noreturn]] void refuse(const char* why) const {
    throw InvalidChange("This is no JSON: " + std::string(why) + ", at byte " + std::to_string(at_) + ".");
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool take(char wanted) {
    skip_blanks();
    if (peek() != wanted || at_ == text_.size()) return false;
    ++at_;
    return true;
  }

  Json value(int depth) {
    if (depth > kDeepest) refuse("it is nested more than 64 deep");
    skip_blanks();
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      case 't':
        return word("true", true);
      case 'f':
        return word("false", false);
      case 'n':
        return word("null", nullptr);
      default:
        return number();
    }
  }

  template <typename T>
  Json word(std::string_view text, T meaning) {
    if (text_.substr(at_, text.size()) != text) refuse("a value is expected");
    at_ += text.size();
    return Json(meaning);
  }

  Json array(int depth) {
    ++at_;
    Json::Array items;
    if (take(']')) return items;
    do items.push_back(value(depth + 1));
    while (take(','));
    if (!take(']')) refuse("a list does not end");
    return items;
  }

  Json object(int depth) {
    ++at_;
    Json::Object fields;
    if (take('}')) return fields;
    do {
      skip_blanks();
      if (peek() != '"') refuse("the name of a field is expected");
      std::string name = string();
      if (!take(':')) refuse("a colon is expected");
      fields.emplace_back(std::move(name), value(depth + 1));
    } while (take(','));
    if (!take('}')) refuse("an object does not end");
    check_names(fields);
    return fields;
  }

  void check_names(const Json::Object& fields) const {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : fields) names.push_back(name);
    std::ranges::sort(names);
    if (std::ranges::adjacent_find(names) != names.end()) refuse("a field is there twice");
  }

  std::string string() {
    ++at_;
    std::string out;
    for (;;) {
      if (at_ >= text_.size()) refuse("a text does not end");
      const char next = text_[at_];
      if (next == '"') return ++at_, out;
      if (static_cast<std::uint8_t>(next) < 0x20) refuse("a control character stands in a text");
      if (next == '\\') {
        escape(out);
        continue;
      }
      const std::size_t length = sequence_length(text_.substr(at_));
      if (length == 0) refuse("a text is not UTF-8");
      out += text_.substr(at_, length);
      at_ += length;
    }
  }

  void escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    ++at_;
    const char name = peek();
    ++at_;
    if (name != 'u') {
      const std::size_t found = kNames.find(name);
      if (name == '\0' || found == std::string_view::npos) refuse("there is no such escape");
      out += kMeanings[found];
      return;
    }
    std::uint32_t code = hex4();
    if (code >= 0xDC00 && code <= 0xDFFF) refuse("half of a surrogate pair stands alone");
    if (code >= 0xD800 && code <= 0xDBFF) {
      if (text_.substr(at_, 2) != "\\u") refuse("half of a surrogate pair stands alone");
      at_ += 2;
      const std::uint32_t low = hex4();
      if (low < 0xDC00 || low > 0xDFFF) refuse("half of a surrogate pair stands alone");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(out, code);
  }

  std::uint32_t hex4() {
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || error != std::errc{} || end != digits.data() + 4) refuse("four hexadecimal digits are expected");
    at_ += 4;
    return code;
  }

  bool take_digits() {
    const std::size_t first = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > first;
  }

  Json number() {
    const std::size_t first = at_;
    bool is_whole = true;
    if (peek() == '-') ++at_;
    const bool begins_with_zero = peek() == '0';
    const std::size_t digits = at_;
    if (!take_digits() || (begins_with_zero && at_ - digits > 1)) refuse("a value is expected");
    if (peek() == '.') {
      ++at_, is_whole = false;
      if (!take_digits()) refuse("digits are expected after the point");
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_, is_whole = false;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!take_digits()) refuse("an exponent has digits");
    }
    const std::string_view text = text_.substr(first, at_ - first);
    return is_whole ? converted<std::int64_t>(text) : converted<double>(text);
  }

  template <typename T>
  Json converted(std::string_view text) const {
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) refuse("a number does not fit into 64 bits");
    return Json(number);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void write_text(std::string& out, const std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += byte;
    } else if (static_cast<std::uint8_t>(byte) < 0x20) {
      out += "\\u00";
      out += kDigits[static_cast<std::uint8_t>(byte) >> 4];
      out += kDigits[byte & 0xF];
    } else {
      out += byte;
    }
  }
  out += '"';
}

void write_number(std::string& out, double number) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  const std::string_view written(text.data(), static_cast<std::size_t>(end - text.data()));
  out += written;
  if (written.find_first_of(".e") == std::string_view::npos) out += ".0";  // it stays a fraction
}

struct Writer {
  std::string& out;

  void operator()(std::nullptr_t) const { out += "null"; }
  void operator()(bool truth) const { out += truth ? "true" : "false"; }
  void operator()(std::int64_t number) const { out += std::to_string(number); }
  void operator()(double number) const { write_number(out, number); }
  void operator()(const std::string& text) const { write_text(out, text); }
  void operator()(const Json::Array& items) const {
    out += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += ',';
      std::visit(*this, items[i].value);
    }
    out += ']';
  }
  void operator()(const Json::Object& fields) const {
    out += '{';
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) out += ',';
      write_text(out, fields[i].first);
      out += ':';
      std::visit(*this, fields[i].second.value);
    }
    out += '}';
  }
};

}  // namespace

Json parse_json(std::string_view text) { return Parser(text).document(); }

std::string write_json(const Json& json) {
  std::string out;
  std::visit(Writer{out}, json.value);
  return out;
}

}  // namespace armillary::log
