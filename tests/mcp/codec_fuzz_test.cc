#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/catch.h"
#include "tests/fuzz/codec_fuzz.h"

namespace {

void run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

TEST_CASE("every corpus file, and every prefix of it, keeps the codec's claims", "[codec]") {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator("tests/fuzz/codec_corpus")) {
    std::ifstream stream(file.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    for (std::size_t length = 0; length <= bytes.size(); ++length) run(bytes.substr(0, length));
    ++files;
  }
  CHECK(files >= 30);
}

TEST_CASE("a message with any one byte replaced keeps the codec's claims", "[codec]") {
  const std::string message =
      R"({"jsonrpc":"2.0","id":"a\ud83d\ude00","method":"m","params":{"x":[-1.5e3,true,null]}})";
  for (std::size_t at = 0; at < message.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = message;
      changed[at] = static_cast<char>(byte);
      run(changed);
    }
  }
  SUCCEED("none aborted");
}
