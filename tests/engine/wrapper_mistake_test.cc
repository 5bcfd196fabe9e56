// Mistakes in what is given to load_inline, in the lines of the user's file.
#include "engine/node/wrapper_mistake.h"

#include "tests/catch.h"

using namespace assay::node;
using assay::job::Verdict;

namespace {

const std::string kSource = "a\nb\nvoid f() { g(1; }\n";

}  // namespace

TEST_CASE("a line of joined texts is told as the line of its own file") {
  const std::string text = "#line 7 \"kernel.py\"\na\nb\n\n#line 1 \"cuda_sources\"\nc\n";
  CHECK(place_of(text, 2) == "kernel.py:7");
  CHECK(place_of(text, 3) == "kernel.py:8");
  CHECK(place_of(text, 6) == "cuda_sources:1");
}

TEST_CASE("a mistake that reading finds is compile_failed, with its line and what is missing") {
  const auto ended = mistake_in("#line 3 \"kernel.py\"\nvoid f() { g(1; }\n", kSource, "kernel.py");
  REQUIRE(ended);
  CHECK(ended->verdict == Verdict::compile_failed);
  CHECK(ended->summary ==
        "The source does not compile at kernel.py:3: '(' has no ')' before the '}' at kernel.py:3");
  const auto& told = ended->detail.at("diagnostics").at(0);
  CHECK(told.at("line") == 3);
  CHECK(told.at("severity") == "error");
  CHECK(told.at("excerpt") == "void f() { g(1; }");
  const auto made =
      mistake_in("#line 1 \"cuda_sources\"\nvoid f() { g(1; }\n", kSource, "kernel.py");
  REQUIRE(made);
  CHECK_FALSE(made->detail.at("diagnostics").at(0).contains("excerpt"));
  CHECK_FALSE(mistake_in("#line 1 \"kernel.py\"\nvoid f() { g(1); }\n", kSource, "kernel.py"));
}

TEST_CASE("a compiler's words about a launch name nothing of ours") {
  CHECK(told_of_launch("too few arguments to function 'void assay::configure(dim3, dim3, "
                       "std::size_t, cudaStream_t)'")
            .starts_with("a launch takes 2 to 4 parameters"));
  CHECK(told_of_launch("too few arguments to function 'int f(int)'") ==
        "too few arguments to function 'int f(int)'");
  CHECK(told_of_launch("expected ',' or ';' before 'static_cast'") ==
        "expected ',' or ';' before 'static_cast' (a launch is compiled as one)");
}

TEST_CASE("the line of a source that ends before it is empty") {
  CHECK(excerpt_of(kSource, 2) == "b");
  CHECK(excerpt_of(kSource, 4).empty());
  CHECK(excerpt_of(kSource, 99).empty());
}
