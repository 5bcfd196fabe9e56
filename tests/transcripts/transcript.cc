#include "tests/transcripts/transcript.h"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace assay::transcripts {
namespace {

using mcp::OrderedJson;

std::string unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      bytes += text[i];
      continue;
    }
    switch (const char c = text[++i]) {
      case 'x':
        bytes += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
        break;
      case '0':
        bytes += '\0';
        break;
      case 'r':
        bytes += '\r';
        break;
      case 't':
        bytes += '\t';
        break;
      case '\\':
        bytes += '\\';
        break;
      default:
        bytes += {'\\', c};  // JSON's own escapes stay
    }
  }
  return bytes;
}

std::chrono::milliseconds time_in(std::string_view text) {
  if (!text.ends_with("ms")) throw std::runtime_error("a time in ms is missing");
  return std::chrono::milliseconds(std::stol(std::string(text.substr(0, text.size() - 2))));
}

Line parse_line(const std::string& source) {
  const std::string_view text = source;
  const auto after = [text](std::size_t marks) {
    return std::string(text.size() > marks ? text.substr(marks + 1) : std::string_view());
  };
  Line line{.source = source};
  if (text.empty() || text.starts_with('#')) return line;
  if (text.starts_with("> ") || text == ">") {
    line.kind = Line::Kind::send;
    line.payload = after(1);
  } else if (text.starts_with(">\\ ")) {
    line.kind = Line::Kind::send;
    line.payload = unescaped(after(2));
  } else if (text.starts_with("<~ ")) {
    line.kind = Line::Kind::expect_any_order;
    line.payload = after(2);
  } else if (text.starts_with("< ")) {
    line.kind = Line::Kind::expect;
    line.payload = after(1);
  } else if (text == "= eof") {
    line.kind = Line::Kind::eof;
  } else if (text.starts_with("= silence ")) {
    line.kind = Line::Kind::silence;
    line.time = time_in(text.substr(10));
  } else if (text.starts_with("= wait ")) {
    line.kind = Line::Kind::wait;
    line.time = time_in(text.substr(7));
  } else {
    throw std::runtime_error("not a line of a transcript");
  }
  return line;
}

bool is_uuid(const std::string& text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !std::isxdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  return true;
}

// A placeholder decides by itself; anything else is no placeholder.
std::optional<bool> placeholder_accepts(const OrderedJson& expected, const OrderedJson& actual) {
  if (expected == "<any>") return true;
  if (expected == "<string>") return actual.is_string();
  if (expected == "<number>") return actual.is_number();
  if (expected == "<uuid>") return actual.is_string() && is_uuid(actual.get<std::string>());
  return std::nullopt;
}

std::string compare(const OrderedJson& expected, const OrderedJson& actual, const std::string& at);

std::string compare_objects(const OrderedJson& expected, const OrderedJson& actual,
                            const std::string& at) {
  const bool open = expected.contains("...");
  for (const auto& [key, value] : expected.items()) {
    if (key == "...") continue;
    if (!actual.contains(key)) return at + "/" + key + ": missing";
    if (auto different = compare(value, actual.at(key), at + "/" + key); !different.empty())
      return different;
  }
  for (const auto& [key, value] : actual.items())
    if (!open && !expected.contains(key)) return at + "/" + key + ": not expected";
  return {};
}

std::string compare_arrays(const OrderedJson& expected, const OrderedJson& actual,
                           const std::string& at) {
  const bool open = !expected.empty() && expected.back() == "...";
  const std::size_t count = expected.size() - (open ? 1 : 0);
  if (actual.size() < count || (!open && actual.size() > count))
    return at + ": " + std::to_string(actual.size()) + " items, expected " + std::to_string(count);
  for (std::size_t i = 0; i < count; ++i)
    if (auto different = compare(expected[i], actual[i], at + "/" + std::to_string(i));
        !different.empty())
      return different;
  return {};
}

std::string compare(const OrderedJson& expected, const OrderedJson& actual, const std::string& at) {
  if (const auto accepted = placeholder_accepts(expected, actual))
    return *accepted ? "" : at + ": not " + expected.get<std::string>();
  if (expected.is_object() && actual.is_object()) return compare_objects(expected, actual, at);
  if (expected.is_array() && actual.is_array()) return compare_arrays(expected, actual, at);
  // Types too: 7 and "7" are two ids, 1 and true two values.
  const bool alike =
      expected.type() == actual.type() || (expected.is_number() && actual.is_number());
  return alike && expected == actual ? ""
                                     : at + ": " + actual.dump() + ", expected " + expected.dump();
}

}  // namespace

std::vector<Line> parse_transcript(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream stream(text);
  for (std::string source; std::getline(stream, source);) {
    try {
      lines.push_back(parse_line(source));
    } catch (const std::exception& fault) {
      throw std::runtime_error("line " + std::to_string(lines.size() + 1) + ": " + fault.what());
    }
  }
  return lines;
}

std::vector<Line> read_transcript(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  std::ostringstream text;
  text << stream.rdbuf();
  return parse_transcript(text.str());
}

std::string difference(const OrderedJson& expected, const OrderedJson& actual) {
  return compare(expected, actual, "");
}

}  // namespace assay::transcripts
