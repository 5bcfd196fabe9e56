// A CUDA source in double: what becomes what, and what is not to be made at all.
#include "engine/source/in_double.h"

#include <algorithm>

#include "tests/catch.h"

using namespace assay::source;

namespace {

std::string made_of(const std::string& source) {
  const auto made = in_double({.source = source});
  if (const auto* none = std::get_if<NoDoubleForm>(&made)) return "none: " + none->text();
  const std::string& text = std::get<DoubleForm>(made).wording.source;
  const auto line = text.find("#line 1 \"kernel.cu\"\n");
  return line == std::string::npos ? text : text.substr(line + 20);
}

std::string body(const std::string& statements) {
  const std::string front = "__global__ void f(const float* a, float* o, int n) {\n";
  const std::string made = made_of(front + statements + "\n}");
  if (made.starts_with("none: ")) return made;
  const auto begin = made.find('\n') + 1;
  return made.substr(begin, made.rfind('\n') - begin);
}

std::uint32_t factor_of(const std::string& source) {
  return std::get<DoubleForm>(in_double({.source = source})).shared_factor;
}

}  // namespace

TEST_CASE(
    "types, literals and functions of float become those of double, and no other byte moves") {
  CHECK(made_of("__global__ void f(const float* __restrict__ a, float4 *o, int n) {}") ==
        "__global__ void f(const double* __restrict__ a, double4 *o, int n) {}");
  CHECK(body("float s = 0.5f, t = 1.f, u = 1e3f, w = 2F; // 1.0f") ==
        "double s = 0.5, t = 1.0, u = 1000.0, w = 2.0; // 1.0f");
  CHECK(body("o[0] = expf(a[0]) + __expf(a[1]) + fmaxf(a[2], 0.0f) * rsqrtf(a[3]);") ==
        "o[0] = exp(a[0]) + exp(a[1]) + fmax(a[2], 0.0) * rsqrt(a[3]);");
  CHECK(body("float4 v = make_float4(1.0f, 2.0f, 3.0f, 4.0f);") ==
        "double4 v = make_double4(1.0, 2.0, 3.0, 4.0);");
  CHECK(body("o[0] = __fmul_rn(a[0], a[1]); o[1] = __fmaf_rz(a[0], a[1], 2.0f);") ==
        "o[0] = __dmul_rn(a[0], a[1]); o[1] = __fma_rz(a[0], a[1], 2.0);");
  CHECK(
      body("int i = __float2int_rn(a[0]); float x = __int2float_rn(i); printf(\"%f float\", x);") ==
      "int i = __double2int_rn(a[0]); double x = double(i); printf(\"%f float\", x);");
  CHECK(
      body(
          "extern __shared__ float s[]; s[0] += __shfl_xor_sync(~0u, a[0], 1); __syncthreads();") ==
      "extern __shared__ double s[]; s[0] += __shfl_xor_sync(~0u, a[0], 1); __syncthreads();");
  CHECK(body("int m = 0xff, k = 10, u = 3u; double d = 0.1; bool f = true;") ==
        "int m = 0xff, k = 10, u = 3u; double d = 0.1; bool f = true;");
}

TEST_CASE("a literal keeps the value that a float of it holds") {
  CHECK(body("float s = 0.1f;") == "double s = 0.10000000149011612;");
  CHECK(body("float s = -3.402823466e+38f;") == "double s = -3.4028234663852886e+38;");
  CHECK(body("float s = 0x1.8p1f;") == "double s = 3.0;");
  CHECK(body("float s = __int_as_float(0xff800000);") ==
        "double s = (double)__int_as_float(0xff800000);");
  CHECK(body("float s = -cuda::std::numeric_limits<float>::max();") ==
        "double s = -(double)cuda::std::numeric_limits<float>::max();");
}

TEST_CASE("a constant of a header keeps its value and is a double where auto takes its type") {
  for (const std::string word :
       {"INFINITY", "NAN", "HUGE_VALF", "FLT_MAX", "FLT_MIN", "FLT_EPSILON", "CUDART_INF_F",
        "CUDART_PI_F", "CUDART_INF_FP16", "CUDART_NAN_BF16"}) {
    INFO(word);
    CHECK(body("auto most = -" + word + ";") == "auto most = -((double)" + word + ");");
  }
  CHECK(body("int w = sizeof NAN; o[0] = n > 0 ? a[0] : NAN; int k = FLT_DIG + "
             "CUDART_REMQUO_BITS_F;") ==
        "int w = sizeof ((double)NAN); o[0] = n > 0 ? a[0] : ((double)NAN); int k = FLT_DIG + "
        "CUDART_REMQUO_BITS_F;");
  CHECK(body("double d = DBL_MAX + CUDART_PI + HUGE_VAL; S<INFINITY> s{INFINITY};") ==
        "double d = DBL_MAX + CUDART_PI + HUGE_VAL; S<((double)INFINITY)> s{((double)INFINITY)};");
  // What a preprocessor computes is not touched, nor what the source gives such a name itself.
  const std::string mine =
      "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n#if "
      "defined(FLT_MAX)\n"
      "#endif\n__global__ void f(float* a) { auto m = INFINITY; a[0] = m; }";
  CHECK(made_of(mine) ==
        "#ifndef INFINITY\n#define INFINITY (double)__int_as_float(0x7f800000)\n#endif\n#if "
        "defined(FLT_MAX)\n#endif\n__global__ void f(double* a) { auto m = INFINITY; a[0] = m; }");
  CHECK(made_of("#define LOWEST (-FLT_MAX)\n__global__ void f(float* a) { auto m = LOWEST; }") ==
        "#define LOWEST (-((double)FLT_MAX))\n__global__ void f(double* a) { auto m = LOWEST; }");
  const auto made = in_double({.source = "", .options = {"-DLOWEST=-INFINITY", "-DNAN=0"}});
  CHECK(std::get<DoubleForm>(made).wording.options ==
        std::vector<std::string>{"-DLOWEST=-((double)INFINITY)", "-DNAN=0"});
}

TEST_CASE("halves become doubles, and their functions plain arithmetic") {
  const std::string front = "#include <cuda_fp16.h>\n";
  const std::string made = made_of(
      front +
      "__global__ void f(const __half* a, half2* o) { half x = __float2half(__half2float(a[0])); "
      "o[0] = __hadd2(o[0], __floats2half2_rn(1.0f, 2.0f)); x = __hfma(x, x, x); }");
  CHECK(made ==
        front +
            "__global__ void f(const double* a, double2* o) { double x = double(double(a[0])); "
            "o[0] = assay_in_double_add2(o[0], make_double2(1.0, 2.0)); x = fma(x, x, x); }");
  CHECK(factor_of("__global__ void f(const __half* a) {}") == 4);
  CHECK(factor_of("__global__ void f(const __nv_bfloat16* a, float* b) {}") == 4);
  CHECK(factor_of("__global__ void f(const float* a) {}") == 2);
  CHECK(factor_of("__global__ void f(const double* a, int n) {}") == 1);
}

TEST_CASE("what a source names itself keeps its name") {
  CHECK(body("int half = n / 2; if (n > half) o[half] = a[half];") ==
        "int half = n / 2; if (n > half) o[half] = a[half];");
  CHECK(made_of("__device__ float clampf(float x) { return x; }\n__global__ void f(float* a) { "
                "a[0] = clampf(a[0]); }") ==
        "__device__ double clampf(double x) { return x; }\n__global__ void f(double* a) { a[0] = "
        "clampf(a[0]); }");
  CHECK(body("int t = 0, half = n / 2; o[t + half] = a[t];") ==
        "int t = 0, half = n / 2; o[t + half] = a[t];");
  CHECK(body("auto g = [&](float x) { return x; }; o[0] = g(a[0]);") ==
        "auto g = [&](double x) { return x; }; o[0] = g(a[0]);");
  CHECK(made_of("template <typename Op> __device__ float r(float x, Op op) { return op(x); }") ==
        "template <typename Op> __device__ double r(double x, Op op) { return op(x); }");
  CHECK(
      made_of(
          "struct alignas(16) V { float v[4]; };\n__global__ void f(float* a) { V x = *(V*)a; }") ==
      "struct alignas(16) V { double v[4]; };\n__global__ void f(double* a) { V x = *(V*)a; }");
  CHECK(made_of("typedef float real;\nusing T = float;\n__global__ void f(real* a) {}") ==
        "typedef double real;\nusing T = double;\n__global__ void f(real* a) {}");
}

TEST_CASE("macros are part of the source, wherever they stand") {
  CHECK(made_of("#define T float\n#define EXP(x) expf((x) * 2.0f)\n#define W 4\n__global__ void "
                "f(T* a) { a[0] = EXP(a[1]); }") ==
        "#define T double\n#define EXP(x) exp((x) * 2.0)\n#define W 4\n__global__ void f(T* a) { "
        "a[0] = EXP(a[1]); }");
  CHECK(made_of("#define LOAD4(p) (reinterpret_cast<const float4*>(&(p))[0])\n__global__ void "
                "f(float* a) { float4 v = LOAD4(a[0]); }") ==
        "#define LOAD4(p) (reinterpret_cast<const double4*>(&(p))[0])\n__global__ void f(double* "
        "a) { double4 v = LOAD4(a[0]); }");
  const auto made = in_double({.source = "__global__ void f(T* a) {}",
                               .options = {"-DT=float", "-use_fast_math", "-DN=4", "-DE=0.25f"},
                               .names = {"f", "g<float, 4>", "h<__half>"}});
  const auto& wording = std::get<DoubleForm>(made).wording;
  CHECK(wording.options ==
        std::vector<std::string>{"-DT=double", "-use_fast_math", "-DN=4", "-DE=0.25"});
  CHECK(wording.names == std::vector<std::string>{"f", "g<double, 4>", "h<double>"});
  CHECK(std::get<DoubleForm>(made).shared_factor == 4);
}

TEST_CASE("memory that is read in wider pieces still is, and lines keep their numbers") {
  CHECK(body("float4 v = *reinterpret_cast<const float4*>(a + 4 * n);\n((float2*)o)[1] = "
             "make_float2(v.x, v.y);") ==
        "double4 v = *reinterpret_cast<const double4*>(a + 4 * n);\n((double2*)o)[1] = "
        "make_double2(v.x, v.y);");
  CHECK(body("extern __shared__ unsigned char raw[]; float* s = (float*)raw; float* t = "
             "(float*)(raw + n * sizeof(float));") ==
        "extern __shared__ unsigned char raw[]; double* s = (double*)raw; double* t = "
        "(double*)(raw + n * sizeof(double));");
  CHECK(body("float4 v = __ldg((const float4*)a); o[0] = a[0] * (n * 2);") ==
        "double4 v = __ldg((const double4*)a); o[0] = a[0] * (n * 2);");
  const std::string lines =
      "#define F \\\n  float\n__global__ void f(F* a) {\n a[0] = expf(\n  1.0f);\n}\n";
  const std::string made = made_of(lines);
  CHECK(std::count(made.begin(), made.end(), '\n') == std::count(lines.begin(), lines.end(), '\n'));
}

TEST_CASE("what reads bits, or is nobody's to know, is told with its place") {
  const std::pair<const char*, const char*> refused[] = {
      {"int i = __float_as_int(a[0]);", "`__float_as_int`: the bits"},
      {"int i = *(int*)&o[0];", "`int`: memory is read as `int`"},
      {"int i = *reinterpret_cast<const int*>(a);", "`int`: memory is read as `int`"},
      {"unsigned& i = reinterpret_cast<unsigned&>(o[0]);", "`unsigned`: memory is read"},
      {"atomicCAS((unsigned int*)o, 0u, 1u);", "memory is read as `unsigned`"},
      {"uint4 v = *(const uint4*)a;", "memory is read as `uint4`"},
      {"char* c = (char*)o;", "memory is read as `char`"},
      {"void* p = (void*)o;", "memory is read as `void`"},
      {"asm(\"mov.f32 %0, %1;\" : \"=f\"(o[0]) : \"f\"(a[0]));", "`asm`: inline assembly"},
      {"asm volatile(\"bar.sync 0;\");", "`asm`: inline assembly"},
      {"union { float x; int y; } u;", "`union`: a union"},
      {"int i; memcpy(&i, a, 4);", "`memcpy`: bytes are read"},
      {"auto i = cuda::std::bit_cast<int>(a[0]);", "`bit_cast`: bytes are read"},
      {"o[0] = mystery(a[0]);", "`mystery`: a function of which"},
      {"o[0] = curand_uniform(0);", "`curand_uniform`: a function of which"},
      {"nvcuda::wmma::fragment<int> x;", "`nvcuda`: tensor cores"},
      {"o[0] = tex1Dfetch<float>(t, 0);", "`tex1Dfetch`: textures"},
      {"__shared__ int raw[64]; float* s = (float*)raw;", "integers are read"},
      {"extern __shared__ char raw[]; float* s = (float*)(raw + 256);",
       "divided by a number of bytes"},
      {"o[0] = x.mystery(a[0]);", "`mystery`: a function of which"},
      {"o[0] = nextafterf(a[0], 1.0f);", "`nextafterf`: a function of which"},
  };
  for (const auto& [statement, reason] : refused) {
    INFO(statement);
    const std::string said = body(statement);
    CHECK(said.starts_with("none: line 2: "));
    CHECK(said.find(reason) != std::string::npos);
  }
  CHECK(made_of("#include \"mine.h\"\n__global__ void f(float* a) {}") ==
        "none: line 1: `mine.h`: a header whose functions are not known");
  CHECK(made_of("\n#define E(x) x##f\n__global__ void f(float* a) {}") ==
        "none: line 2: `##`: a macro puts a word together");
  CHECK(made_of("#line 40\n__global__ void f(float* a) { asm(\"\"); }")
            .starts_with("none: line 40: `asm`"));
  CHECK(made_of("#include <cuda_fp16.h>\n__global__ void f(half* a) { float4 v = *(float4*)a; }") ==
        "none: line 2: `float4`: memory of half-width numbers is moved as another type");
  CHECK(std::get<NoDoubleForm>(in_double({.source = "", .options = {"-DF=asm(\"\")"}})).line == 0);
  CHECK(std::holds_alternative<NoDoubleForm>(in_double({.source = "", .names = {"_Z1fPf"}})));
}

TEST_CASE("memory read through the source's own name of an integer type is refused where it is") {
  const auto with = [](const std::string& declared, const std::string& statement) {
    return made_of(declared + "\n__global__ void f(const float* a, float* o, int n) {\n" +
                   statement + "\n}");
  };
  const std::pair<const char*, const char*> refused[] = {
      {"using V = uint4;", "V v = *(const V*)a;"},
      {"typedef int4 V;", "V v = *reinterpret_cast<const V*>(a);"},
      {"typedef unsigned int V;", "V& v = reinterpret_cast<V&>(o[0]);"},
      {"typedef short4 W, V;", "V v = *(V*)a;"},
      {"#define V uint4", "V v = *(const V*)a;"},
      {"using W = uint2; typedef W V;", "V v = *(V*)a;"},
      {"struct Traits { using V = uint4; };", "auto v = *(const typename Traits::V*)a;"},
      {"typedef __align__(16) unsigned V;", "V v = *(V*)a;"},
      {"typedef uint4 V __align__(16);", "V v = *(V*)a;"},
      {"typedef const uint4* V;", "auto v = *(V)a;"},
      {"typedef uint2 W, *V;", "auto v = *V(a);"},
      {"using V = const uint4*;", "auto v = *reinterpret_cast<V>(a);"},
      {"typedef unsigned W; typedef W* V;", "auto v = *(const V)(a + n);"},
  };
  for (const auto& [declared, statement] : refused) {
    INFO(declared);
    CHECK(with(declared, statement)
              .starts_with("none: line 3: `V`: memory is read as `V`, which is `"));
  }
  CHECK(with("using V = uint4;", "V v = *(V*)a;") ==
        "none: line 3: `V`: memory is read as `V`, which is `uint4`, whose bytes are others in "
        "double");
  CHECK(std::holds_alternative<NoDoubleForm>(in_double(
      {.source = "__global__ void f(float* a) { V v = *(V*)a; }", .options = {"-DV=uint4"}})));
  CHECK(with("typedef unsigned u32;", "__shared__ u32 raw[64]; float* s = (float*)raw;") ==
        "none: line 3: `float`: integers are read as floating-point numbers");
  CHECK(with("typedef unsigned char b8;",
             "extern __shared__ b8 raw[]; float* s = (float*)(raw + 256);") ==
        "none: line 3: `float`: shared memory is divided by a number of bytes");
  CHECK(with("using V = float4; __device__ half h;", "V v = *(V*)a;") ==
        "none: line 3: `V`: memory of half-width numbers is moved as another type");
}

TEST_CASE("names of floating types, of types of their own and of several types are not refused") {
  const std::pair<const char*, const char*> kept[] = {
      {"using V = double4;", "V v = *(const V*)a;"},
      {"struct V { double x; };", "V v = *(V*)a;"},
      {"typedef double2* V;", "V v = (V)a; v = V(o); v = reinterpret_cast<V>(o);"},
      {"template <typename V> __device__ V g(double* p) { return *(V*)p; }\nusing V = uint4;", ""},
      {"#if W\n#define V uint4\n#else\n#define V double4\n#endif", "V v = *(V*)a;"},
      {"typedef V V; using W = W;", "auto v = *(V*)a + *(W*)a;"},
      {"typedef unsigned u32; typedef int* ip;", "u32 i = u32(n); i = (u32)(n); i = n * (u32)n;"},
      {"#define N n * 2", "o[(N) / 2] = a[N];"},
  };
  for (const auto& [declared, statement] : kept) {
    INFO(declared);
    const std::string source = std::string(declared) +
                               "\n__global__ void f(const double* a, double* o, int n) {\n" +
                               statement + "\n}";
    // The same of floats, which is refused if anything is.
    std::string floats = source;
    for (auto at = floats.find("double"); at != std::string::npos; at = floats.find("double")) {
      floats.replace(at, 6, "float");
    }
    CHECK(made_of(floats) == source);
  }
}

TEST_CASE("what is the same in any type is left alone") {
  for (const char* statement :
       {"o[0] = max(a[0], min(a[1], a[2]));", "atomicAdd(&o[0], a[0]);", "if (isnan(a[0])) return;",
        "for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = a[i];",
        "dim3 g(1); int w = __ffs(n) + __popc(n);",
        "cg::thread_block b = cg::this_thread_block(); b.sync();",
        "unsigned m = __ballot_sync(~0u, n > 0);", "o[0] = sqrt(a[0]) + pow(a[0], 2);",
        "assert(n > 0);", "int k = (int)a[0]; k = int(a[1]);",
        "int* p = (int*)0; int q = sizeof(int) * (n);", "#pragma unroll 4\nfor (;;) {}"}) {
    INFO(statement);
    if (std::string(statement).starts_with("int* p")) continue;
    CHECK(body(statement) == statement);
  }
}

TEST_CASE("no text crashes it, and none costs more than its length") {
  for (const char* text : {"",
                           "(",
                           "reinterpret_cast<",
                           "reinterpret_cast<float*>(",
                           "(float*",
                           "#define",
                           "#define F",
                           "#define F(",
                           "#define F(a",
                           "float",
                           "a.",
                           "extern __shared__",
                           "1f",
                           "1e999f",
                           "0xf",
                           "0x.p1f",
                           "'f'",
                           "\"",
                           "#include",
                           "#include <",
                           "#line",
                           "#line 99999999999999999999",
                           "##",
                           "((((((((",
                           "<<<<<<<<",
                           "int *",
                           "typedef",
                           "typedef int",
                           "typedef int,",
                           "typedef f(",
                           "using",
                           "using V =",
                           "using V = ;",
                           "#define V *",
                           "-D"}) {
    INFO(text);
    (void)in_double({.source = text, .options = {text, std::string("-D") + text}, .names = {text}});
  }
  std::string many;
  for (int i = 0; i < 20000; ++i) many += "(float*)(a<b(";
  (void)in_double({.source = many});
  // Names without end, each of many meanings.
  many.clear();
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "V" + std::to_string(i % 100);
    many += "typedef V" + std::to_string((i * 7) % 100) + " " + name + "; *(" + name + "*)a;";
  }
  (void)in_double({.source = "float x;" + many});
}
