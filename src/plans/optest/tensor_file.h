// The one file format of plans: little-endian, row-major, tightly packed, no header. Reading checks
// the size; writing goes aside and is renamed, so that nobody sees half a tensor. Any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "plans/optest/plan.h"

namespace assay::optest {

// A file that is missing, not a plain file, of another size, or that cannot be written.
struct FileFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "4096 bytes, expected 8224 for 1x2056 float32"; "" if the file is as it should be.
[[nodiscard]] std::string size_fault(const std::filesystem::path& file, contract::DType dtype,
                                     const Shape& shape);
[[nodiscard]] std::vector<std::byte> read_tensor(const std::filesystem::path& file,
                                                 contract::DType dtype, const Shape& shape);

// `fill` is called until it gives an empty span. Parent folders are made.
void write_file(const std::filesystem::path& file,
                const std::function<std::span<const std::byte>()>& fill);
void write_file(const std::filesystem::path& file, const std::string& text);
void make_parent(const std::filesystem::path& file);

// SHA-256, hexadecimal.
[[nodiscard]] std::string digest_of_file(const std::filesystem::path& file);
[[nodiscard]] std::string digest_of_text(const std::string& text);

}  // namespace assay::optest
