// What no compiler takes, and what only looks like it.
#include "engine/source/plain_mistake.h"

#include "tests/catch.h"

using namespace assay::source;

namespace {

std::string told(std::string_view source) {
  const auto mistake = plain_mistake(source);
  if (!mistake) return "";
  std::string text = std::to_string(mistake->line) + ": " + mistake->what;
  if (!mistake->before.empty()) {
    text += " before " + mistake->before + " of " + std::to_string(mistake->met_at);
  }
  return text;
}

const std::string kKernel = "__global__ void k(float* x, int n) {\n  if (n) { x[0] = 1; }\n}\n";

std::string launching(const std::string& launch) {
  return kKernel + "void f(float* x, int n) {\n  " + launch + "\n  g(n);\n}\n";
}

}  // namespace

TEST_CASE("a bracket without its partner is told with its line and with what was met instead") {
  CHECK(told(launching("k<<<1, 256>>>(x, n;")) == "5: '(' has no ')' before '}' of 7");
  CHECK(told(launching("k<<<((n + 255) / 256, 256>>>(x, n);")) ==
        "5: '(' has no ')' before '}' of 7");
  CHECK(told(launching("k<<<1, 256>>> x, n);")) == "5: ')' has no '('");
  CHECK(told(launching("x[0 = 1;")) == "5: '[' has no ']' before '}' of 7");
  CHECK(told(launching("x[0) = 1;")) == "5: ')' has no '('");
  CHECK(told(launching("run([&] { k<<<1, 2>>>(x, n); );")) == "5: '{' has no '}' before ')' of 5");
  CHECK(told("void f() { AT_DISPATCH_ALL_TYPES(t, \"f\", [&] {\n g(); ); }\n") ==
        "1: '{' has no '}' before ')' of 2");
  CHECK(told("__global__ void k(int n) {\n  if (n) {\n}\nvoid f() {\n}\n") == "1: '{' has no '}'");
  CHECK(told(kKernel + "}\nvoid f() { }\n") == "4: '}' has no '{'");
}

TEST_CASE("a text and a comment without an end are told where they begin") {
  CHECK(told(launching("g(\"(n));")) == "5: the text that begins here has no closing \"");
  CHECK(told(launching("g('n);")) == "5: the text that begins here has no closing '");
  CHECK(told(kKernel + "/* oops\nvoid f() { }\n") == "4: the comment that begins here has no '*/'");
  CHECK(told(kKernel + "// a /* b \\\n c /* d\n// e").empty());
  CHECK(told("auto s = R\"x({ \" )x\", t = \"{\\\"\", c = '\"', d = '(', n = 1'000;\n").empty());
}

TEST_CASE("<<< without >>>( is told with its line") {
  const std::string unended = "5: the launch has no '>>>(' behind its '<<<'";
  CHECK(told(launching("k<<<1, 256>>(x, n);")) == unended);
  CHECK(told(launching("k<<<1, 256>(x, n);")) == unended);
  CHECK(told(launching("k<<<1, 256(x, n);")) == unended);
  CHECK(told(launching("k<<<1, 256>>>;")) == "5: the launch has no '(' behind its '>>>'");
  CHECK(told(launching("k<<<1, 256>>> x, n;")) == "5: the launch has no '(' behind its '>>>'");
}

TEST_CASE("a launch of another number of parameters than 2 to 4 is told what it takes") {
  const std::string takes = "5: " + launch_parameters() + "; got ";
  CHECK(told(launching("k<<<>>>(x, n);")) == takes + "0");
  CHECK(told(launching("k<<<(n + 255) / 256>>>(x, n);")) == takes + "1");
  CHECK(told(launching("k<<<1, 256, 0, 0, 0>>>(x, n);")) == takes + "5");
  for (const char* good : {"1, 2", "1, 2, 0", "dim3(1, 2), dim3{1, 2, 3}, 0, stream()"}) {
    CHECK(told(launching("k<<<" + std::string(good) + ">>>(x, n);")).empty());
  }
}

TEST_CASE("brackets that the preprocessor chooses or makes are no mistake") {
  for (const char* right : {
           "#ifdef A\nvoid f(int a) {\n#else\nvoid f() {\n#endif\n}\n",
           "#if A\nvoid f() { if (n) {\n#else\nvoid f() { {\n#endif\n} }\n",
           "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint g();\n#ifdef __cplusplus\n}\n#endif\n",
           "#if 0\n don't ( {\n#endif\nint g();\n",
           "#define BEGIN namespace a {\nBEGIN\nint g();\n}\n",
           "#define END }\nnamespace a {\nint g();\nEND\n",
           "#define END }\nnamespace a {\nint g();\nEND\n#undef END\n",
           "#define WRAP(x) x\nvoid f() { WRAP(if (n) {) g(); WRAP(}) }\n",
           "A_HEADERS_MACRO(namespace std {, BEGIN)\nint g();\nA_HEADERS_MACRO(}, END)\n",
           "#define S(x) #x\nauto s = S([), t = S({);\n",
           "#define K R\"(\n {\n)\"\n",
       }) {
    CHECK(told(right) == "");
  }
  // Where each branch leaves them as they were, the rest is still read.
  CHECK(told("#ifdef A\nint f() { }\n#else\nint f() { return 1; }\n#endif\nint g() {\n") ==
        "6: '{' has no '}'");
}

TEST_CASE("where it depends on the preprocessor which brackets pair is told") {
  CHECK(hidden_brackets("int a;\n#ifdef A\nvoid f(int a) {\n#else\nvoid f() {\n#endif\n}\n") == 4);
  CHECK(hidden_brackets("#define BEGIN namespace a {\nBEGIN\nint g();\n}\n") == 1);
  CHECK(hidden_brackets("#if A\n}\n#endif\n") == 2);
  CHECK_FALSE(
      hidden_brackets("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint g();\n#ifdef "
                      "__cplusplus\n}\n#endif\n"));
  CHECK_FALSE(hidden_brackets("#if A\nint f() { return 1; }\n#else\nint f() { }\n#endif\n"));
}

TEST_CASE("launches that a macro may complete are no mistake") {
  for (const char* right : {
           "#define CLOSE >>>(\nvoid f() { k<<<1, 2 CLOSE x, n); }\n",
           "#define INNER >>>\n#define CLOSE INNER (\nvoid f() { k<<<1, 2 CLOSE x, n); }\n",
           "#define args(x) (x)\nvoid f() { k<<<1, 2>>> args(x); }\n",
           "void f() { k<<<1, 2>>> ARGUMENTS(x); }\n",
           "#define L(k, c) k c (1)\nvoid f() { L(k, <<<1>>>); L(k<<<1, 2>>>, 3); }\n",
           "#define E(k, b) k, b>>>(1)\nvoid f() { E(k<<<1, 2); }\n",
           "#define shape grid, block\nvoid f() { k<<<shape>>>(x); }\n",
           "#define shape grid, block\nvoid f() { k<<<shape>>>(x); }\n#undef shape\n",
           "void f() { k<<<SHAPE>>>(x); }\n",
           "#define RUN(...) k<<<__VA_ARGS__>>>(x)\nvoid f() { RUN(1, 2); }\n",
           "#define RUN(T) k<T><<<1\n",
           "template <int... N> void f() { k<<<N...>>>(x); }\n",
           "void f() { k<<<g<int, 2, 3, 4, 5>(), 2>>>(x); }\n",
           "void f() { k<<<1,\n#if A\n 2>>>(x);\n#else\n 3>>>(x);\n#endif\n }\n",
           "#if 0\nvoid f() { k<<<1>>>(x); k<<<1, 2>>(x); }\n#endif\n",
           "bool b = operator<<<int>(x);\n",
           "// k<<<1>>>(x)\nauto s = \"k<<<1>>(x)\";\n",
       }) {
    CHECK(told(right) == "");
  }
}

TEST_CASE("no text makes reading for mistakes crash or take long") {
  for (const char* piece : {"<<<", "(", ")", "{", "<<<1>>>", "#if\n", "#endif\n", "#define A(\n",
                            "#define\n", "'", "\"", "/*", "k<<<1,2", "R\"("}) {
    std::string text;
    for (int i = 0; i < 40'000; ++i) text += piece;
    static_cast<void>(told(text));
  }
}
