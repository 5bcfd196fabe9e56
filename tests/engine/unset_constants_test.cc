#include "engine/node/unset_constants.h"

#include "tests/catch.h"

using assay::node::unset_constants;

TEST_CASE("constants that are read and have no values are named, others are not") {
  const char* const ptx = R"(.version 9.0
.const .align 4 .b8 K[16];
.const .align 4 .b8 unused[16];
.const .align 4 .b8 given[8] = {0, 0, 128, 63, 0, 0, 0, 64};
.visible .const .align 8 .f64 _ZN1a1dE;
.const .align 4 .b8 KK[16];
.visible .entry k()
{
	mov.u64 	%rd7, K;
	mov.u64 	%rd8, given;
	ld.const.f64 	%fd2, [_ZN1a1dE];
	mov.u64 	%rd9, unused_too;
}
)";
  CHECK(unset_constants(ptx) == std::vector<std::string>{"K", "_ZN1a1dE"});
  CHECK(unset_constants("").empty());
  std::string many;
  for (int i = 0; i < 50'000; ++i) many += ".const .align 4 .u32 c" + std::to_string(i) + ";\n";
  CHECK(unset_constants(many).empty());
  CHECK(unset_constants(many + "\tld.const.u32 %r1, [c49999];\n") ==
        std::vector<std::string>{"c49999"});
  CHECK(unset_constants(".const .b8 K[").empty());
}
