// Counts in disassemblies, in both programs' forms.
#include "tools/machine_code.h"

#include "tests/catch.h"

using namespace assay;
using mcp::Json;
using tools::machine_code_summary;

namespace {

// As nvdisasm -c -gi prints it: two kernels, lines of the source, predicates, padding.
constexpr const char* kNvdisasm = R"(
	.target	sm_90
//--------------------- .text._Z4wide             --------------------------
	.section	.text._Z4wide,"ax",@progbits
_Z4wide:
.text._Z4wide:
	//## File "/tmp/kernel.cu", line 4
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R0, SR_CTAID.X ;
        /*0020*/                   ISETP.GE.AND P0, PT, R0, UR4, PT ;
        /*0030*/               @P0 EXIT ;
	//## File "/tmp/kernel.cu", line 7
        /*0040*/                   LDG.E.128.CONSTANT R4, desc[UR4][R4.64] ;
        /*0050*/              @!P1 LDG.E.U16 R9, desc[UR4][R8.64] ;
        /*0060*/                   LDG.E.LTC128B R9, desc[UR4][R8.64] ;
        /*0070*/                   STL.64 [R1+0x8], R8 ;
        /*0080*/                   LDL R8, [R1+0x8] ;
	//## File "/opt/cuda/include/helpers.hpp", line 12 inlined at "/opt/cuda/include/more.hpp", line 3
	//## File "/opt/cuda/include/more.hpp", line 3 inlined at "/tmp/kernel.cu", line 2
	//## File "/tmp/kernel.cu", line 2 inlined at "/tmp/kernel.cu", line 8
	//## File "/tmp/kernel.cu", line 8
        /*0090*/                   FFMA R4, R4, R8, R9 ;
        /*00a0*/                   FADD.FTZ R4, R4, R8 ;
        /*00b0*/                   HFMA2.MMA R4, -RZ, RZ, 0, 0 ;
        /*00c0*/                   STG.E.128 desc[UR4][R6.64], R4 ;
.L_x_0:
        /*00d0*/                   BRA `(.L_x_0);
        /*00e0*/                   NOP;
        /*00e8*/              @!PT LDS RZ, [RZ] ;
        /*00f0*/                   NOP;
.text._Z7product:
        /*0000*/                   LDSM.16.M88.4 R4, [R8] ;
        /*0010*/                   HMMA.16816.F32 R8, R4.reuse, R8, RZ ;
        /*0020*/                   HMMA.16816.F32 R4, R4, R16, RZ ;
        /*0030*/                   STS.64 [R12], R8 ;
        /*0040*/                   REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR6][R2.64], R13 ;
        /*0050*/                   EXIT ;
)";

constexpr const char* kCuobjdump = R"(
	code for sm_90
		Function : _Z3add
	.headerflags	@"EF_CUDA_SM90"
        /*0000*/                   LDG.E R2, desc[UR4][R2.64] ;     /* 0x0000000402027981 */
                                                                    /* 0x000ea2000c1e1900 */
        /*0010*/                   DADD R4, R2, R4 ;                /* 0x0000000002047229 */
                                                                    /* 0x000fe20000000004 */
		Function : _Z3sub
        /*0000*/                   EXIT ;                           /* 0x000000000000794d */
)";

}  // namespace

TEST_CASE("accesses are counted by their width, whatever their other modifiers say") {
  const Json told = machine_code_summary(kNvdisasm, 0);
  REQUIRE(told.at("kernels").size() == 2);
  const Json& wide = told.at("kernels").at(0);
  CHECK(wide.at("symbol") == "_Z4wide");
  CHECK(wide.at("global_loads") == Json{{"128", 1}, {"16", 1}, {"32", 1}});
  CHECK(wide.at("global_stores") == Json{{"128", 1}});
  CHECK(wide.at("local_stores") == Json{{"64", 1}});
  CHECK(wide.at("local_loads") == Json{{"32", 1}});
  CHECK(wide.at("shared_loads") == Json::object());
  CHECK(wide.at("tensor") == Json::object());
  CHECK_FALSE(wide.contains("lines"));
  const Json& product = told.at("kernels").at(1);
  CHECK(product.at("shared_loads") == Json{{"128", 1}});
  CHECK(product.at("shared_stores") == Json{{"64", 1}});
  CHECK(product.at("tensor") == Json{{"HMMA.16816.F32", 2}});
  CHECK(product.at("classes").at("atomics") == 1);
}

TEST_CASE("every instruction is in one class, and padding is none") {
  const Json told = machine_code_summary(kNvdisasm, 0);
  const Json& wide = told.at("kernels").at(0);
  CHECK(wide.at("instructions") == 14);
  std::size_t sum = 0;
  for (const auto& [name, count] : wide.at("classes").items()) sum += count.get<std::size_t>();
  CHECK(sum == 14);
  CHECK(wide.at("classes").at("control") == 2);
  CHECK(wide.at("classes").at("float32") == 2);
  CHECK(wide.at("classes").at("float16") == 1);  // HFMA2.MMA is no tensor core's
  CHECK(wide.at("classes").at("other") == 2);
}

TEST_CASE("lines carry what is of their instructions, in the order of the source") {
  const Json told = machine_code_summary(kNvdisasm, 10);
  const Json& lines = told.at("kernels").at(0).at("lines");
  REQUIRE(lines.size() == 3);
  // What a header does is told where the kernel's own file asks for it, there from within.
  CHECK(lines.at(0).at("file") == "kernel.cu");
  CHECK(lines.at(0).at("line") == 2);
  CHECK(lines.at(0).at("instructions") == 5);
  CHECK(lines.at(1) == Json{{"file", "kernel.cu"}, {"line", 4}, {"instructions", 4}});
  CHECK(lines.at(2).at("line") == 7);
  CHECK(lines.at(2).at("global_loads") == Json{{"128", 1}, {"16", 1}, {"32", 1}});
  // A kernel's first instructions belong to no line of the one before.
  CHECK_FALSE(told.at("kernels").at(1).contains("lines"));
}

TEST_CASE("of many lines those with most instructions are told") {
  const Json told = machine_code_summary(kNvdisasm, 1);
  const Json& lines = told.at("kernels").at(0).at("lines");
  REQUIRE(lines.size() == 1);
  CHECK(lines.at(0).at("instructions") == 5);
}

TEST_CASE("cuobjdump's form says the same; its encodings are no instructions") {
  const Json told = machine_code_summary(kCuobjdump, 10);
  REQUIRE(told.at("kernels").size() == 2);
  CHECK(told.at("kernels").at(0).at("instructions") == 2);
  CHECK(told.at("kernels").at(0).at("global_loads") == Json{{"32", 1}});
  CHECK(told.at("kernels").at(0).at("classes").at("float64") == 1);
  CHECK(told.at("kernels").at(1).at("symbol") == "_Z3sub");
}

TEST_CASE("of thousands of kernels the first are told, and that there are more") {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += ".text.k" + std::to_string(i) + std::string(2000, 'x') + ":\n/*0000*/ EXIT ;\n";
  }
  const Json told = machine_code_summary(text, 10);
  CHECK(told.at("kernels").size() == 50);
  CHECK(told.at("kernels_truncated") == true);
  CHECK(told.dump().size() < 64 * 1024);
  CHECK_FALSE(machine_code_summary(kNvdisasm, 10).contains("kernels_truncated"));
}

TEST_CASE("what is no disassembly counts for nothing") {
  for (const char* text : {"", "\n\n", "no such thing", "/*", "/**/", "/*0000*/", "/*0000*/ @P0",
                           "/*zz*/ LDG R1", ".text.:\n/*0000*/ ;", "//## File \"",
                           "//## File \"x\", line 99999999999999999999", "/*0010*/ LDG.E R2"}) {
    const Json told = machine_code_summary(text, 10);
    for (const auto& kernel : told.at("kernels")) CHECK(kernel.at("instructions") == 0);
  }
}
