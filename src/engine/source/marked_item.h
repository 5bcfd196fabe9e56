// A declaration that is marked as the device's, as it stands among the tokens of a source. Pure;
// any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/source/preprocess.h"
#include "engine/source/token.h"

namespace assay::source {

// Of a function or variable; `device` also for __constant__, __managed__ and __shared__.
struct Marks {
  bool global = false;
  bool device = false;
  bool host = false;
  bool managed = false;
};

// What a word marks, through a macro too: `#define KERNEL __global__`.
[[nodiscard]] Marks marks_of(const Token& word, const Unit& unit);

// The first token of the declaration that `at` is in the head of.
[[nodiscard]] std::size_t head_of(const Tokens& tokens, std::size_t at);

struct RestOfItem {
  std::size_t end = 0;  // behind its ';' or its body
  Marks marks{};        // of all of its head
};

// Of the declaration whose first token is `begin`. `partners`: of brackets.
[[nodiscard]] RestOfItem rest_of_item(const Tokens& tokens,
                                      const std::vector<std::size_t>& partners, std::size_t begin,
                                      const Unit& unit);

}  // namespace assay::source
