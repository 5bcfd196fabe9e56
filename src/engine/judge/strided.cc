#include "engine/judge/strided.h"

#include <cstring>
#include <stdexcept>
#include <vector>

namespace assay::judge {
namespace {

using contract::TensorSpec;

void require_size(std::size_t actual, std::uint64_t wanted) {
  if (actual != wanted) throw std::invalid_argument("strided: a span is not the tensor's size");
}

// Calls visit(element index, its offset in the buffer in elements) in C order.
template <typename Visit>
void for_each_element(const TensorSpec& spec, Visit visit) {
  const std::uint64_t elements = spec.elements();
  const std::size_t rank = spec.shape.size();
  std::vector<std::int64_t> index(rank, 0);
  std::int64_t offset = 0;
  for (std::uint64_t i = 0; i < elements; ++i) {
    visit(i, static_cast<std::uint64_t>(offset));
    for (std::size_t d = rank; d-- > 0;) {
      offset += (*spec.strides)[d];
      if (++index[d] < spec.shape[d]) break;
      offset -= (*spec.strides)[d] * spec.shape[d];
      index[d] = 0;
    }
  }
}

}  // namespace

void gather(const TensorSpec& spec, std::span<const std::byte> buffer,
            std::span<std::byte> elements) {
  require_size(buffer.size(), spec.buffer_bytes());
  require_size(elements.size(), spec.contiguous_bytes());
  if (elements.empty()) return;
  if (!spec.strides) {
    std::memcpy(elements.data(), buffer.data(), elements.size());
    return;
  }
  const std::size_t size = contract::size_bytes(spec.dtype);
  for_each_element(spec, [&](std::uint64_t i, std::uint64_t offset) {
    std::memcpy(elements.data() + i * size, buffer.data() + offset * size, size);
  });
}

void scatter(const TensorSpec& spec, std::span<const std::byte> elements,
             std::span<std::byte> buffer) {
  require_size(buffer.size(), spec.buffer_bytes());
  require_size(elements.size(), spec.contiguous_bytes());
  if (elements.empty()) return;
  if (!spec.strides) {
    std::memcpy(buffer.data(), elements.data(), elements.size());
    return;
  }
  const std::size_t size = contract::size_bytes(spec.dtype);
  for_each_element(spec, [&](std::uint64_t i, std::uint64_t offset) {
    std::memcpy(buffer.data() + offset * size, elements.data() + i * size, size);
  });
}

}  // namespace assay::judge
