#include "engine/confinement/wire.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <system_error>

namespace assay::confinement {
namespace {

void copy_text(std::span<char> into, std::string_view text) {
  const std::size_t length = std::min(text.size(), into.size() - 1);
  std::memcpy(into.data(), text.data(), length);
  into[length] = '\0';
}

std::string text_in(std::span<const char> field) {
  return {field.begin(), std::find(field.begin(), field.end(), '\0')};
}

}  // namespace

SetupFailure::SetupFailure(std::string_view layer, std::string_view detail, int error) {
  record_.error = error;
  copy_text(record_.layer, layer);
  copy_text(record_.detail, detail);
}

std::string describe(const FailureRecord& failure) {
  std::string text = text_in(failure.layer) + ": " + text_in(failure.detail);
  if (failure.error != 0) text += ": " + std::generic_category().message(failure.error);
  return text;
}

}  // namespace assay::confinement
