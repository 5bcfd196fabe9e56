#include "mcp/line_splitter.h"

#include <utility>

namespace assay::mcp {
namespace {

// What is kept between lines; more is given back after a large one.
constexpr std::size_t kKeptBytes = std::size_t{1} << 20;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

LineSplitter::LineSplitter(std::size_t max_bytes, OnLine on_line, OnOversized on_oversized)
    : max_bytes_(max_bytes), on_line_(std::move(on_line)), on_oversized_(std::move(on_oversized)) {}

void LineSplitter::feed(std::string_view bytes) {
  while (true) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return extend(bytes);
    end_line(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::finish() { end_line({}); }

void LineSplitter::extend(std::string_view piece) {
  if (skipping_) return;
  if (partial_.size() + piece.size() <= max_bytes_) {
    partial_.append(piece);
    return;
  }
  partial_ = std::string();
  skipping_ = true;
  on_oversized_();
}

void LineSplitter::end_line(std::string_view last_piece) {
  // A line that arrived in one piece is handed out where it lies.
  const bool whole = partial_.empty() && !skipping_ && last_piece.size() <= max_bytes_;
  if (!whole) extend(last_piece);
  const std::string_view line = whole ? last_piece : std::string_view(partial_);
  if (!skipping_ && !is_blank(line)) on_line_(line);
  skipping_ = false;
  partial_.clear();
  if (partial_.capacity() > kKeptBytes) partial_ = std::string();
}

}  // namespace assay::mcp
