#include <algorithm>
#include <cmath>

#include "engine/judge/mismatch_pattern.h"

namespace assay::judge {
namespace {

// If mismatches fell anywhere with the given density, `right` elements without one would have a
// chance of (1 - density)^right; below a millionth the gap is no accident. The density is kept
// below 1 by one more, imagined, right element.
bool no_accident(std::uint64_t right, std::uint64_t wrong, std::uint64_t among) {
  const double density = static_cast<double>(wrong) / (static_cast<double>(among) + 1);
  return -static_cast<double>(right) * std::log1p(-density) > 14;
}

std::string share_text(std::uint64_t wrong, std::uint64_t among) {
  if (wrong == among) return "";
  return " (" + std::to_string(wrong) + " of these " + std::to_string(among) + ")";
}

// The view as rows of the last dimension.
struct Matrix {
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
};

Matrix matrix_of(const Mismatches& m) {
  if (m.shape.empty() || m.shape.back() <= 0) return {.rows = 1, .columns = m.elements()};
  const auto columns = static_cast<std::uint64_t>(m.shape.back());
  return {.rows = m.elements() / columns, .columns = columns};
}

// "2nd", "3rd", "4th", "11th", "32nd".
std::string ordinal_text(std::uint64_t number) {
  const bool teen = number / 10 % 10 == 1;
  const std::uint64_t digit = teen ? 0 : number % 10;
  const char* suffix = digit == 1 ? "st" : digit == 2 ? "nd" : digit == 3 ? "rd" : "th";
  return std::to_string(number) + suffix;
}

std::string lines_text(std::string_view line, std::uint64_t from, std::uint64_t to) {
  std::string text = "only " + std::string(line);
  if (from == to) return text + " " + std::to_string(from);
  return text + "s " + std::to_string(from) + " to " + std::to_string(to);
}

// Whether so many wrong among so many make a region. A value of one byte is right by chance.
bool fills(const Mismatches& m, std::uint64_t wrong, std::uint64_t among) {
  return contract::size_bytes(m.dtype) == 1 ? 2 * wrong >= among : 4 * wrong >= 3 * among;
}

// Where mismatches lie to the diagonal of the last two dimensions, and how many elements lie there.
struct Diagonal {
  std::uint64_t above = 0;
  std::uint64_t below = 0;
  std::uint64_t on = 0;

  void count(std::uint64_t row, std::uint64_t column) {
    ++(row == column ? on : row < column ? above : below);
  }
};

// The elements on one side of the diagonal, and no others.
std::string triangle_position(const Mismatches& m) {
  if (m.shape.size() < 2 || m.mismatches < 8) return "";
  const auto rows = static_cast<std::uint64_t>(*(m.shape.end() - 2));
  const auto columns = static_cast<std::uint64_t>(m.shape.back());
  if (rows < 3 || columns < 3) return "";
  Diagonal all;
  Diagonal wrong;
  for (std::uint64_t i = 0; i < m.elements(); ++i) {
    const std::uint64_t row = i / columns % rows;
    all.count(row, i % columns);
    if (m.mismatched[i]) wrong.count(row, i % columns);
  }
  if (wrong.above > 0 && wrong.below > 0) return "";
  if (wrong.above == 0 && wrong.below == 0) {
    return fills(m, m.mismatches, all.on) ? "only the diagonal" : "";
  }
  const bool above = wrong.above > 0;
  const std::uint64_t among = (above ? all.above : all.below) + (wrong.on > 0 ? all.on : 0);
  if (!fills(m, m.mismatches, among)) return "";
  return std::string("only ") + (wrong.on > 0 ? "on and " : "") + (above ? "above" : "below") +
         " the diagonal" + share_text(m.mismatches, among);
}

Position range_position(const Mismatches& m, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t n = m.elements();
  const std::uint64_t width = last - first + 1;
  if (m.mismatches < 2 || !fills(m, m.mismatches, width)) return {};
  const bool starts = no_accident(first, m.mismatches, width);
  const bool ends = no_accident(n - 1 - last, m.mismatches, width);
  const Matrix matrix = matrix_of(m);
  const bool whole_rows = matrix.rows > 1 && matrix.columns > 1 && first % matrix.columns == 0;
  const std::uint64_t first_row = first / matrix.columns;
  const std::uint64_t last_row = last / matrix.columns;
  // A tail reaches to the end: its last elements may be right by chance, but not most of them.
  if (starts && !ends && !fills(m, m.mismatches, n - first)) return {};
  if (ends && !starts && !fills(m, m.mismatches, last + 1)) return {};
  if (starts && !ends) {
    const std::string share = share_text(m.mismatches, n - first);
    Position tail{.kind = Position::Kind::tail, .from = first};
    // What begins in the first half is no forgotten rest: a stride or an index is wrong.
    const std::string claim = 2 * first >= n ? ": the tail is not handled" : "";
    if (whole_rows && first_row + 1 == matrix.rows) {
      tail.text = "only row " + std::to_string(first_row) + ", the last" + share;
    } else if (whole_rows) {
      tail.text = "only rows ≥ " + std::to_string(first_row) + share + claim;
    } else {
      tail.text = "only elements ≥ " + std::to_string(first) + share + claim;
    }
    return tail;
  }
  if (m.mismatches < 4 || (!starts && !ends)) return {};
  Position other{.kind = Position::Kind::other};
  const bool to_row_end = (last + 1) % matrix.columns == 0;
  if (whole_rows && to_row_end) {
    other.text = lines_text("row", first_row, last_row) + share_text(m.mismatches, width);
  } else if (!starts) {
    other.text = "only elements < " + std::to_string(last + 1) + share_text(m.mismatches, last + 1);
  } else {
    other.text = lines_text("element", first, last) + share_text(m.mismatches, width);
  }
  return other;
}

// The text for a set of lines (rows or columns), given how many mismatches each has.
std::string lines_position(std::string_view line, const std::vector<std::uint64_t>& counts,
                           std::uint64_t length, std::uint64_t mismatches) {
  std::vector<std::uint64_t> bad;
  for (std::uint64_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    if (counts[i] < 2 || 4 * counts[i] < length) return "";
    bad.push_back(i);
  }
  const std::uint64_t among = bad.size() * length;
  const std::uint64_t right = (counts.size() - bad.size()) * length;
  if (mismatches < 4 || 4 * mismatches < 3 * among || !no_accident(right, mismatches, among))
    return "";
  const std::string share = share_text(mismatches, among);
  if (bad.back() - bad.front() + 1 == bad.size()) {
    if (bad.size() > 1 && bad.back() + 1 == counts.size()) {
      return "only " + std::string(line) + "s ≥ " + std::to_string(bad.front()) + share;
    }
    return lines_text(line, bad.front(), bad.back()) + share;
  }
  const std::uint64_t step = bad[1] - bad[0];
  bool regular = bad.size() >= 3 && bad.front() < step && bad.back() + step >= counts.size();
  for (std::size_t i = 1; i < bad.size() && regular; ++i) regular = bad[i] - bad[i - 1] == step;
  if (regular) {
    return "every " + ordinal_text(step) + " " + std::string(line) + ", from " + std::string(line) +
           " " + std::to_string(bad.front()) + share;
  }
  if (bad.size() > 4) return "";
  std::string text = "only " + std::string(line) + "s ";
  for (std::size_t i = 0; i < bad.size(); ++i) text += (i ? ", " : "") + std::to_string(bad[i]);
  return text + share;
}

// Exactly the elements first, first + step, … to the end.
std::string comb_position(const Mismatches& m, std::uint64_t first, std::uint64_t last) {
  if (m.mismatches < 8) return "";
  std::uint64_t step = 1;
  while (!m.mismatched[first + step]) ++step;
  if (step < 2 || first >= step || last + step < m.elements()) return "";
  if ((last - first) % step != 0 || (last - first) / step + 1 != m.mismatches) return "";
  for (std::uint64_t i = first; i <= last; i += step) {
    if (!m.mismatched[i]) return "";
  }
  return "every " + ordinal_text(step) + " element, from element " + std::to_string(first);
}

}  // namespace

Position mismatch_position(const Mismatches& m) {
  if (m.mismatches == m.elements()) return {.kind = Position::Kind::everywhere};
  const auto begin = m.mismatched.begin();
  const auto first = static_cast<std::uint64_t>(std::find(begin, m.mismatched.end(), true) - begin);
  std::uint64_t last = m.elements() - 1;
  while (!m.mismatched[last]) --last;

  if (Position range = range_position(m, first, last); !range.text.empty()) return range;

  const Matrix matrix = matrix_of(m);
  if (matrix.rows > 1 && matrix.columns > 1) {
    std::vector<std::uint64_t> rows(matrix.rows, 0);
    std::vector<std::uint64_t> columns(matrix.columns, 0);
    for (std::uint64_t row = first / matrix.columns; row <= last / matrix.columns; ++row) {
      for (std::uint64_t column = 0; column < matrix.columns; ++column) {
        if (!m.mismatched[row * matrix.columns + column]) continue;
        ++rows[row];
        ++columns[column];
      }
    }
    std::string text = lines_position("column", columns, matrix.rows, m.mismatches);
    if (text.empty()) text = lines_position("row", rows, matrix.columns, m.mismatches);
    if (!text.empty()) return {.kind = Position::Kind::other, .text = std::move(text)};
  }
  std::string text = comb_position(m, first, last);
  if (text.empty()) text = triangle_position(m);
  if (text.empty()) return {};
  return {.kind = Position::Kind::other, .text = std::move(text)};
}

}  // namespace assay::judge
