// What is read of a Python file is what Python makes of it: by cases, and against python3 itself on
// expressions at random. What cannot be read carries a doubt.
#include "engine/source/python_text.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "engine/source/cuda_text.h"
#include "engine/source/device_code.h"
#include "tests/catch.h"

namespace {

using namespace assay::source;

std::optional<PythonText> text_named(const std::string& file, const std::string& variable) {
  for (auto& text : read_python(file).texts) {
    if (text.variable == variable) return std::move(text);
  }
  return std::nullopt;
}

// The text of `x`, which must be exact.
std::string exact(const std::string& file) {
  const auto text = text_named(file, "x");
  INFO(file);
  REQUIRE(text);
  CHECK(text->doubt.why.empty());
  return text->text.bytes;
}

std::string doubt_of(const std::string& file) {
  const auto text = text_named(file, "x");
  INFO(file);
  REQUIRE(text);
  return text->doubt.why;
}

// Files of assignments whose values only Python itself knows.
class Expressions {
 public:
  explicit Expressions(unsigned seed) : engine_(seed) {}

  std::string file(int count) {
    std::string text = "from textwrap import dedent\nN = 16\nM = N * 4 - 1\nname = 'kern'\n";
    for (int i = 0; i < count; ++i) text += "v" + std::to_string(i) + " = " + sum(3) + "\n";
    return text;
  }

 private:
  int below(int bound) { return static_cast<int>(engine_() % static_cast<unsigned>(bound)); }
  std::string pick(const std::vector<std::string>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

  std::string contents(bool triple, bool raw) {
    static const std::vector<std::string> kPlain{
        "a",       " ",           "int x;", "__global__", "//",  "#",     "%",     "é",
        "\\n",     "\\t",         "\\\\",   "\\\"",       "\\'", "\\x41", "\\101", "\\0141",
        "\\u00e9", "\\U0001F600", "\\q",    "\\ ",        "\\8", "{{",    "}}"};
    std::string text;
    for (int i = below(7); i > 0; --i) {
      const std::string piece = pick(kPlain);
      // In a raw literal a trailing backslash would take the quote.
      text += raw && piece.ends_with('\\') ? "b" : piece;
      if (triple && below(3) == 0) text += below(2) == 0 ? "\n" : raw ? "\n  " : "\\\n";
    }
    return text;
  }

  std::string literal(bool fields_allowed) {
    const bool triple = below(3) == 0;
    const std::string quote = below(2) == 0 ? "\"" : "'";
    const std::string close = triple ? quote + quote + quote : quote;
    const std::string prefix = pick({"", "", "r", "R", "u", "f", "fr", "Rf"});
    const bool raw = prefix.find_first_of("rR") != std::string::npos;
    const bool formatted = fields_allowed && prefix.find('f') != std::string::npos;
    std::string text;
    for (int i = 1 + below(2); i > 0; --i) {
      text += contents(triple, raw);
      if (formatted && below(2) == 0)
        text += pick({"{N}", "{M * 2}", "{name}", "{ N + M }", "{name!s}"});
    }
    if (!formatted && prefix.find('f') != std::string::npos) return close + "plain" + close;
    return prefix + close + text + close;
  }

  std::string adjacent() {
    std::string text = "(" + literal(true);
    for (int i = below(3); i > 0; --i) text += (below(2) == 0 ? " " : "\n   ") + literal(true);
    return text + ")";
  }

  std::string term(int depth) {
    switch (depth > 0 ? below(9) : below(3)) {
      case 0:
        return literal(true);
      case 1:
        return adjacent();
      case 2:
        return pick({"name", "str(N)", "str(M)", "name"});
      case 3:
        return term(depth - 1) + ".replace(" + pick({"'a'", "'int'", "\"\\n\"", "name"}) + ", " +
               sum(depth - 1) + pick({"", ", 1", ", -1"}) + ")";
      case 4:
        return term(depth - 1) +
               pick({".strip()", ".lstrip()", ".rstrip(' a')", ".encode().decode()"});
      case 5:
        return pick({"'\\n'", "''", "', '"}) + ".join([" + sum(depth - 1) + ", " + term(depth - 1) +
               "])";
      case 6:
        return "'<{0}|{1}>{{n}}{k}'.format(N, " + sum(depth - 1) + ", k=" + term(0) + ")";
      case 7:
        return "'%d %s %%' % (N, " + sum(depth - 1) + ")";
      default:
        return "dedent(" + sum(depth - 1) + ")";
    }
  }

  std::string sum(int depth) {
    std::string text = term(depth);
    for (int i = below(3); i > 0; --i) text += " + " + term(depth > 0 ? depth - 1 : 0);
    return text;
  }

  std::mt19937 engine_;
};

// What python3 makes of each v…; null where it will not read the line.
nlohmann::json by_python(const std::string& file) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("assay-python-text-" + std::to_string(::getpid()) + ".py");
  std::ofstream(path, std::ios::binary) << file;
  const std::string command =
      "python3 -W ignore -c \"\nimport ast, json, sys\nscope = {}\n"
      "for node in ast.parse(open(sys.argv[1], newline='').read()).body:\n"
      "    try:\n        exec(compile(ast.Module([node], []), 'x', 'exec'), scope)\n"
      "    except Exception:\n        scope[node.targets[0].id] = None\n"
      "print(json.dumps({k: v for k, v in scope.items() if k[0] == 'v'}))\" " +
      path.string();
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    out.append(buffer, got);
  const int status = ::pclose(pipe);
  std::filesystem::remove(path);
  REQUIRE(status == 0);
  return nlohmann::json::parse(out);
}

}  // namespace

TEST_CASE("texts at random are what python3 makes of them") {
  std::size_t exact_texts = 0;
  std::size_t doubted = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    const std::string file = Expressions(seed).file(150);
    const nlohmann::json expected = by_python(file);
    std::map<std::string, PythonText> read;
    for (auto& text : read_python(file).texts) read.insert_or_assign(text.variable, text);
    for (const auto& [variable, value] : expected.items()) {
      const auto found = read.find(variable);
      // Of equal texts one is enough.
      if (found == read.end()) continue;
      INFO(seed << ": " << variable << "\n" << file);
      if (!found->second.doubt.why.empty()) {
        ++doubted;
        continue;
      }
      REQUIRE(value.is_string());
      REQUIRE(found->second.text.bytes == value.get<std::string>());
      REQUIRE(found->second.text.lines.size() == found->second.text.bytes.size());
      ++exact_texts;
    }
  }
  CHECK(exact_texts > 1000);
  CHECK(doubted < exact_texts / 5);
}

TEST_CASE("the ways in which models put a source together are followed") {
  CHECK(exact("x = 'a\\n' \"b\"\n") == "a\nb");
  CHECK(exact("x = ('a'\n     r'\\n'\n     'c')\n") == "a\\nc");
  CHECK(exact("y = 'a'\nx = y + 'b' + y\n") == "aba");
  CHECK(exact("x = 'T a;'.replace('T', 'float')\n") == "float a;");
  CHECK(exact("B = 256\nx = f'int a[{B}]; {{ {B * 2} }}'\n") == "int a[256]; { 512 }");
  CHECK(exact("x = '{} {n} {{}}'.format(1, n=2)\n") == "1 2 {}");
  CHECK(exact("x = '%d %s %%' % (3, 'b')\n") == "3 b %");
  CHECK(exact("lines = ['a', 'b']\nx = '\\n'.join(lines)\n") == "a\nb");
  CHECK(exact("x = 'a'\nx += 'b'\n") == "ab");
  CHECK(exact("def f():\n  x = 'a'\n  x += 'b'\n  return x\n") == "ab");
  CHECK(exact("x: str = 'a'\\\n  'b'\n") == "ab");
  CHECK(exact("class A:\n  S = 'q'\n  x = S + 'r'\n") == "qr");
  CHECK(exact("from textwrap import dedent\nx = dedent('''\\\n  a\n    b\n''')\n") == "a\n  b\n");
  CHECK(exact("x = '''a\r\nb'''\r\n") == "a\nb");
}

TEST_CASE("what Python may make otherwise carries a doubt, and what could be read") {
  for (const char* file : {"x = f'int a[{B}];'\n", "x = f'{N:04d}'\n", "x = 'a'.replace(t, 'b')\n",
                           "def f(B):\n  x = f'{B}'\n", "B = 1\ndef f(B):\n  x = f'{B}'\n",
                           "x = 'a' if fast else 'b'\n", "x = 'a' + other()\n", "x = 'a'.upper()\n",
                           "x = '\\N{DASH}'\n", "x = '%5d' % 3\n", "x = 'a{'.format(1)\n",
                           "x = 'a'\nfor i in r:\n  x += 'b'\n", "x = 'a\n"}) {
    CHECK_FALSE(doubt_of(file).empty());
  }
  CHECK(doubt_of("x = f'int a[{B}];'\n").find("{B}") != std::string::npos);
  // The last of several is taken, and said to be.
  const std::string file =
      "import torch\nif a:\n  s = '__global__ void k(float* p) {}'\n"
      "else:\n  s = '__global__ void k(int* p) {}'\nload_inline(cuda_sources=s)\n";
  const auto cuda = cuda_text(file);
  CHECK(cuda.text.find("int* p") != std::string::npos);
  CHECK(cuda.text.find("float* p") == std::string::npos);
  REQUIRE_FALSE(cuda.doubts.empty());
  CHECK(cuda.doubts[0].find("several values") != std::string::npos);
}

TEST_CASE(
    "a text handed to a function that is not known is taken with a doubt, to a loader without") {
  const std::string kernel = "'__global__ void k(float* p) {}'";
  CHECK(cuda_text("import re\ny = re.sub('a', 'b', " + kernel + ")\n").doubts.size() == 1);
  CHECK(cuda_text("import cupy\nk = cupy.RawKernel(" + kernel + ", 'k')\n").doubts.empty());
  CHECK(cuda_text("import torch\ns = " + kernel + "\nm = load_inline(cuda_sources=[s])\n")
            .doubts.empty());
}

TEST_CASE("a source of several texts has each once, in the order in which they are given") {
  const auto cuda = cuda_text(
      "import torch\nk = '''\n__global__ void k(float* p) { p[0] = f(); }\n'''\n"
      "h = '__device__ float f() { return 1; }\\n'\nhead = '// h\\n'\n"
      "load_inline(name='m', cuda_sources=[head + h, k])\nprint(k)\n");
  CHECK(cuda.doubts.empty());
  CHECK(cuda.text ==
        "// h\n__device__ float f() { return 1; }\n\n\n__global__ void k(float* p) { p[0] = f(); "
        "}\n");
}

TEST_CASE("every line of what the compiler gets is counted as the line of the file it came from") {
  const std::string file =
      "import torch\n"                             // 1
      "N = 4\n"                                    // 2
      "s = ('__global__ void k(float* p) {\\n'\n"  // 3
      "     '  int a = 1;\\n  int b = 2;\\n'\n"    // 4
      "     f'  p[{N}] = a + b;\\n'\n"             // 5
      "     '}\\n')\n"                             // 6
      "load_inline(cuda_sources=s)\n";
  const std::string text = device_code(file).text;
  std::size_t counted = 1;
  std::map<std::string, std::size_t> places;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("#line ")) {
      counted = std::stoul(line.substr(6));
      continue;
    }
    places[line] = counted++;
  }
  INFO(text);
  CHECK(places.at("__global__ void k(float* p) {") == 3);
  CHECK(places.at("  int a = 1;") == 4);
  CHECK(places.at("  int b = 2;") == 4);
  CHECK(places.at("  p[4] = a + b;") == 5);
  CHECK(places.at("}") == 6);
}

TEST_CASE("a long file is followed in bounded time and memory, or is said to be too long") {
  std::string file = "import torch\ns = '__global__ void k() {}'\n";
  for (int i = 0; i < 60'000; ++i) file += "s += 'int a; int b; int c;'\n";
  file += "load_inline(cuda_sources=s)\n";
  const auto cuda = cuda_text(file);
  CHECK_FALSE(cuda.doubts.empty());
  const std::string deep =
      "x = " + std::string(100'000, '(') + "'a'" + std::string(100'000, ')') + "\n";
  CHECK(read_python(deep).texts.size() <= 1);
  CHECK(read_python("x = f'" + std::string(100'000, '{') + "'\n").texts.size() <= 1);
}

TEST_CASE("a backslash at the end of a line counts it only where the file does") {
  const auto lines_of = [](const std::string& end_of_line) {
    const auto texts = read_python("x = 'a\\" + end_of_line + "b__global__'\n").texts;
    REQUIRE(texts.size() == 1);
    CHECK(texts.front().text.bytes == "ab__global__");
    return std::pair(texts.front().text.lines.front(), texts.front().text.lines.back());
  };
  CHECK(lines_of("\n") == std::pair<std::uint32_t, std::uint32_t>(1, 2));
  CHECK(lines_of("\r\n") == std::pair<std::uint32_t, std::uint32_t>(1, 2));
  CHECK(lines_of("\r") == std::pair<std::uint32_t, std::uint32_t>(1, 1));
}

TEST_CASE("a text that was handed on before its variable got another one is kept") {
  const auto cuda = cuda_text(
      "import torch\ns = '__global__ void a() {}'\nload_inline(cuda_sources=s)\n"
      "s = '__global__ void b() {}'\nload_inline(cuda_sources=s)\n");
  CHECK(cuda.text.find("void a()") != std::string::npos);
  CHECK(cuda.text.find("void b()") != std::string::npos);
}

TEST_CASE("a chain of f-strings that doubles with every line is cut off, and said to be") {
  std::string file = "import torch\na0 = 'aaaaaaaaaaaaaaaa'\n";
  for (int i = 0; i < 18; ++i) {
    const std::string a = "{a" + std::to_string(i) + "}";
    file += "a" + std::to_string(i + 1) + " = f'" + a + a + "'\n";
  }
  for (int i = 0; i < 100; ++i) file += "b" + std::to_string(i) + " = f'{a18}{a17}'\n";
  const std::string kernel = "__global__ void k(float* x) { x[0] = 1; }";
  const auto before = cuda_text("s = '" + kernel + "'\n" + file);
  CHECK(before.text.find("void k") != std::string::npos);
  REQUIRE_FALSE(before.doubts.empty());
  CHECK(before.doubts[0].find("too long to follow") != std::string::npos);
  const auto behind = cuda_text(file + "load_inline(cuda_sources='" + kernel + "')\n");
  CHECK_FALSE(behind.is_python);
  REQUIRE_FALSE(behind.doubts.empty());
  CHECK(read_python(file).is_cut);
  std::size_t bytes = 0;
  for (const auto& text : read_python(file).texts) bytes += text.text.bytes.size();
  CHECK(bytes < (16U << 20));
}

TEST_CASE("a file of many kernels of usual size is followed to its end") {
  std::string file = "import torch\n";
  for (int i = 0; i < 200; ++i) {
    const std::string n = std::to_string(i);
    file += "s" + n + " = '''__global__ void k" + n + "(float* x) { x[0] = 1; }\n" +
            std::string(2000, ' ') + "'''\nm" + n + " = load_inline(cuda_sources=s" + n + ")\n";
  }
  CHECK_FALSE(read_python(file).is_cut);
}

TEST_CASE("the flags that a Python file gives its compiler of device code are told, one each") {
  const auto code = device_code(
      "from torch.utils.cpp_extension import load_inline\n"
      "more = ['-DTILE=8']\n"
      "src = '__global__ void k(float* x) { x[0] = BLOCK; }'\n"
      "load_inline(name='m', cuda_sources=src, extra_cflags=['-O3', '-DHOST'],\n"
      "            extra_cuda_cflags=['-O3', '-D', 'BLOCK=128', '--use_fast_math -lineinfo'] + "
      "more)\n");
  CHECK(code.flags ==
        std::vector<std::string>{"-O3", "-DBLOCK=128", "--use_fast_math", "-lineinfo", "-DTILE=8"});
  const auto unknown = cuda_text(
      "import torch\nload_inline(cuda_sources='__global__ void k() {}', "
      "extra_cuda_cflags=[f'-DN={n}'])\n");
  CHECK(unknown.flags.empty());
  REQUIRE_FALSE(unknown.doubts.empty());
  CHECK(unknown.doubts[0].find("compile flag") != std::string::npos);
}
