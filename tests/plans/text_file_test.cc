#include "plans/text_file.h"

#include "tests/catch.h"
#include "tests/plans/scratch.h"

using assay::plans::read_text;
using assay::plans::write_text;

TEST_CASE("a text comes back byte for byte; one that is not there is empty") {
  const plans_test::Scratch scratch;
  const std::string text("a\0b\r\n\xff", 6);
  write_text(scratch.path() / "file", text);
  CHECK(read_text(scratch.path() / "file") == text);
  CHECK(read_text(scratch.path() / "none").empty());
}

TEST_CASE("half a text is not silently kept for all of it") {
  CHECK_THROWS_WITH(write_text("/dev/full", "a script"), Catch::Contains("/dev/full"));
  CHECK_THROWS_WITH(write_text("/no/such/folder", "a script"), Catch::Contains("cannot write"));
}
