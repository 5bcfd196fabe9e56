// What the emulator takes otherwise of variables that host code copies to.
#include "engine/node/emulated_variables.h"

#include "tests/catch.h"

using namespace assay;

TEST_CASE("a program's arrays count with their bytes, its other variables do not") {
  CHECK(node::global_array_bytes("") == 0);
  CHECK(node::global_array_bytes(".global .align 4 .u32 one;\n") == 0);
  CHECK(node::global_array_bytes(".visible .global .align 4 .b8 table[80000];\n"
                                 ".global .align 1 .b8 text[4] = {48, 49, 50, 0};\n") == 80004);
  CHECK(node::global_array_bytes(".global .align 4 .b8 cut[8") == 8);
  CHECK(node::global_array_bytes(".global .align 4 .b8 none[]") == 0);
}

TEST_CASE(
    "constant memory becomes plain, at the same columns, and every variable says where it lies") {
  const auto text = node::with_reachable_variables("__constant__ float t[4];\n", {"t", "mine::n"});
  CHECK(text.starts_with("  __device__ float t[4];\n"));
  CHECK(text.find("assay_copy(") != std::string::npos);
  CHECK(text.find(
            "assay_address_1(unsigned long long* to) { *to = (unsigned long long)&::mine::n;") !=
        std::string::npos);
}
