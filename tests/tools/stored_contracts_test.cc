// Contracts under a name belong to whoever stored them.
#include "tools/stored_contracts.h"

#include "tests/catch.h"
#include "tests/folder.h"
#include "tools/kernel_argument.h"
#include "tools/tools.h"

using namespace assay;
using nlohmann::json;

namespace {

struct Shelf {
  tests::Folder folder{};
  tools::Library library{.contracts = tools::StoredContracts(folder.path() / "contracts"),
                         .files = tools::SourceFiles({})};

  mcp::ToolResult save(const std::string& principal, const std::string& text) {
    return tools::build_contract({{"text", text}, {"save_as", "mine"}},
                                 {.library = &library, .principal = principal});
  }
  mcp::ToolResult load(const std::string& principal) {
    return tools::build_contract({{"io", "mine"}}, {.library = &library, .principal = principal});
  }
};

std::string contract_text(int n) {
  return "in a: float32[" + std::to_string(n) + "]\nout o: float32[" + std::to_string(n) + "]\n";
}

}  // namespace

TEST_CASE("a name means the caller's own contract, whatever others store under it") {
  Shelf shelf;
  const auto annas = shelf.save("bearer:a", contract_text(4));
  INFO(annas.text);
  REQUIRE_FALSE(annas.is_error);
  CHECK(shelf.load("bearer:b").is_error);
  CHECK(shelf.load("local").is_error);
  CHECK(shelf.load("bearer:b").text.find("stored are: none") != std::string::npos);
  REQUIRE_FALSE(shelf.save("bearer:b", contract_text(8)).is_error);
  REQUIRE_FALSE(shelf.save("local", contract_text(16)).is_error);
  CHECK(shelf.load("bearer:a").structured.at("io_contract") == annas.structured.at("io_contract"));
  CHECK(shelf.load("bearer:b").structured.at("io_contract") != annas.structured.at("io_contract"));
  // Where the command line looks, and nowhere else.
  CHECK(std::filesystem::exists(shelf.folder.path() / "contracts" / "mine.json"));
  CHECK(shelf.library.contracts.names() == std::vector<std::string>{"mine"});
}

TEST_CASE("a principal's name leads nowhere out of the folder") {
  const Shelf shelf;
  for (const std::string principal : {"../../x", "", "/etc", "principals"}) {
    INFO(principal);
    shelf.library.contracts.of(principal).save("one", {{"of", principal}});
    CHECK(shelf.library.contracts.of(principal).load("one") == json{{"of", principal}});
  }
  CHECK(shelf.library.contracts.names().empty());
  std::size_t outside = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shelf.folder.path()))
    outside += entry.path().filename() == "contracts" ? 0 : 1;
  CHECK(outside == 0);
}
