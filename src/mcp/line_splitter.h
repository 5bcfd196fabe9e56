// Cuts a byte stream into lines. Lines are handed out without their line feed; blank ones are
// dropped; one longer than the cap is skipped without being stored and reported once, as soon as it
// is too long. Not synchronised.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace assay::mcp {

class LineSplitter {
 public:
  using OnLine = std::function<void(std::string_view line)>;
  using OnOversized = std::function<void()>;

  LineSplitter(std::size_t max_bytes, OnLine on_line, OnOversized on_oversized);

  void feed(std::string_view bytes);
  // The input has ended: what stands there without a line feed is a line too.
  void finish();

 private:
  void extend(std::string_view piece);
  void end_line(std::string_view last_piece);

  const std::size_t max_bytes_;
  OnLine on_line_;
  OnOversized on_oversized_;
  std::string partial_{};
  bool skipping_ = false;
};

}  // namespace assay::mcp
