#include "tests/emulator/kernel.h"

#include <fstream>
#include <sstream>

#include "tests/catch.h"

namespace assay::emulator::test {

std::string ptx_file(std::string_view name) {
  std::ifstream file("tests/emulator/ptx/" + std::string(name) + ".ptx");
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::shared_ptr<const Module> parsed(std::string_view ptx) {
  auto m = Module::parse(ptx);
  if (const auto* e = std::get_if<ParseError>(&m)) {
    FAIL("line " << e->ptx_line << ": " << e->message);
  }
  return std::get<std::shared_ptr<const Module>>(std::move(m));
}

}  // namespace assay::emulator::test
