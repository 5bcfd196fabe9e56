// The codec against any bytes. Built with libFuzzer it searches; linked into the tests it replays
// the corpus. The claims: nothing crashes or throws; an answer can be made for everything; what is
// encoded is one line that decodes to the same.
#include "tests/fuzz/codec_fuzz.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "mcp/codec.h"

namespace {

using namespace assay::mcp;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_one_line(const std::string& line) {
  require(!line.empty() && line.find_first_of("\n\r") == std::string::npos);
}

void check_message(Decoder& decoder, std::string_view bytes) {
  const Message message = decoder.decode(bytes);
  if (const auto* invalid = std::get_if<Invalid>(&message))
    require_one_line(encode_error(invalid->id, invalid->error));
  if (const auto* request = std::get_if<Request>(&message)) {
    require_one_line(encode_result(request->id, "{}"));
    const OrderedJson again = {{"jsonrpc", "2.0"},
                               {"id", to_json(request->id)},
                               {"method", request->method},
                               {"params", request->params}};
    const Message second = decoder.decode(encode(again));
    const auto* echoed = std::get_if<Request>(&second);
    require(echoed && echoed->id == request->id && echoed->method == request->method &&
            echoed->params == request->params);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Decoder decoder;  // kept, as the server keeps it: one message must not harm the next
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_message(decoder, bytes);
  // Whatever the bytes are, they can be sent as a string.
  require_one_line(encode(OrderedJson(std::string(bytes))));
  return 0;
}
