// Macros of options as lines of a source, for where the compiler's own text has words of that name.
#include "engine/runner/text_macros.h"

#include "tests/catch.h"

using namespace assay::runner;

TEST_CASE("macros of options become lines, in their order, and the source's keep their numbers") {
  const auto in_text = with_macros_in_text(
      {.source = "int x = T;\n",
       .file_name = "k.cu",
       .options = {"-DT=2", "--std=c++17", "-DF(x)=x+1", "-UT", "--define-macro=E=", "-DN"},
       .name_expressions = {"k<2>"}});
  REQUIRE(in_text);
  CHECK(in_text->source ==
        "#define T 2\n#define F(x) x+1\n#undef T\n#define E \n#define N 1\n#line 1\nint x = T;\n");
  CHECK(in_text->options == std::vector<std::string>{"--std=c++17"});
  CHECK(in_text->file_name == "k.cu");
  CHECK(in_text->name_expressions == std::vector<std::string>{"k<2>"});
}

TEST_CASE("what is no line of its own stays an option, and without macros nothing changes") {
  CHECK_FALSE(with_macros_in_text({.source = "", .options = {"-O3"}}));
  CHECK_FALSE(with_macros_in_text({.source = "", .options = {"-DA=1\nint b;", "-DA=\\"}}));
}

TEST_CASE("only what failed in the compiler's own text is tried with macros in the source's") {
  const std::string own = "__nv_nvrtc_builtin_header.h(3379): error: expected an identifier";
  CHECK(failed_in_own_text({.ok = false, .log = own}));
  CHECK_FALSE(failed_in_own_text({.ok = true, .log = own}));
  CHECK_FALSE(failed_in_own_text({.ok = false, .log = "kernel.cu(2): error: undefined"}));
}
