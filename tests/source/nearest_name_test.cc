// Which name was meant.
#include "engine/source/nearest_name.h"

#include "tests/catch.h"

using assay::source::nearest_name;

TEST_CASE("of names spelt alike the nearest is told") {
  CHECK(nearest_name("twise", {"once", "twice", "twist_all"}) == "; nearest: twice");
  CHECK(nearest_name("tiwce", {"twice"}) == "; nearest: twice");
  CHECK(nearest_name("Scale", {"scale"}) == "; nearest: scale");
  CHECK(nearest_name("scale", {"add_kernel", "scale_kernel"}) == "; nearest: scale_kernel");
  CHECK(nearest_name("scle<float>", {"scale<double, 256>"}) == "; nearest: scale<double, 256>");
  CHECK(nearest_name("reduce_rows_f32", {"reduce_rows"}) == "; nearest: reduce_rows");
}

TEST_CASE("where no name is spelt alike none is told") {
  CHECK(nearest_name("divide", {"multiply", "add"}).empty());
  CHECK(nearest_name("sub", {"add", "mul"}).empty());
  CHECK(nearest_name("", {"a"}).empty());
  CHECK(nearest_name("a", {""}).empty());
  CHECK(nearest_name("a", {}).empty());
  CHECK(nearest_name(std::string(1'000'000, 'a'), {std::string(1'000'000, 'a')}).empty());
}
