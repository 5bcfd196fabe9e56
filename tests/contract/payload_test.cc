// Literal data: strict base64, zlib that cannot be a bomb, sizes that must agree.
#include "engine/contract/payload.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/catch.h"

namespace {

using nlohmann::json;
using namespace assay::contract;

std::string decoded(std::string_view text, std::uint64_t bytes,
                    Compression how = Compression::none) {
  auto result = decode_payload(text, how, bytes);
  if (const auto* error = std::get_if<PayloadError>(&result)) FAIL(error->message);
  return std::get<std::string>(result);
}

std::string refusal(std::string_view text, std::uint64_t bytes,
                    Compression how = Compression::none) {
  const auto result = decode_payload(text, how, bytes);
  REQUIRE(std::holds_alternative<PayloadError>(result));
  return std::get<PayloadError>(result).message;
}

std::string pseudo_random(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 12345;
  for (char& c : bytes) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24);
  }
  return bytes;
}

}  // namespace

TEST_CASE("every byte string survives both encodings, at every length") {
  for (std::size_t size : {0, 1, 2, 3, 4, 5, 255, 256, 257, 100000}) {
    const std::string bytes = pseudo_random(size);
    for (const auto how : {Compression::none, Compression::zlib}) {
      CHECK(decoded(encode_payload(bytes, how), size, how) == bytes);
    }
  }
  CHECK(encode_payload(std::string("\x00\x10\x83\xff", 4), Compression::none) == "ABCD/w==");
}

TEST_CASE("base64 is read strictly") {
  CHECK(refusal("QUJ", 2).find("multiple of 4") != std::string::npos);
  CHECK(refusal("QU I=", 2).find("multiple of 4") != std::string::npos);
  CHECK(refusal("QU\nI", 3).find("offset 2") != std::string::npos);
  CHECK(refusal("QUI-", 3).find("offset 3") != std::string::npos);
  CHECK(refusal("=UJD", 3).find("offset 0") != std::string::npos);
  CHECK(refusal("QQ=C", 3).find("offset 2") != std::string::npos);
  CHECK(refusal("Q===", 1).find("offset 1") != std::string::npos);
  CHECK(refusal("====", 1).find("offset") != std::string::npos);
  CHECK(refusal("QR==", 1).find("belong to no byte") != std::string::npos);
  CHECK(refusal("QUK=", 2) != "");
  CHECK(decoded("", 0).empty());
  CHECK(refusal("QUJD", 4).find("holds 3 bytes") != std::string::npos);
}

TEST_CASE("zlib stops at the size that shape and dtype give") {
  const std::string bomb = encode_payload(std::string(64 << 20, '\0'), Compression::zlib);
  CHECK(bomb.size() < (1 << 17));
  CHECK(refusal(bomb, 4096, Compression::zlib).find("more than the 4096 bytes") !=
        std::string::npos);
  CHECK(refusal(bomb, 0, Compression::zlib).find("more than the 0 bytes") != std::string::npos);
  const std::string small = encode_payload("abcdefgh", Compression::zlib);
  CHECK(refusal(small, 9, Compression::zlib).find("holds 8 bytes") != std::string::npos);
  CHECK(refusal(encode_payload("not zlib", Compression::none), 8, Compression::zlib) ==
        "invalid zlib data");
  CHECK(refusal("", 8, Compression::zlib).find("too early") != std::string::npos);
}

TEST_CASE("cut and lengthened zlib data is refused at every point") {
  const std::string packed = decoded(
      encode_payload(encode_payload(pseudo_random(500), Compression::zlib), Compression::none),
      encode_payload(pseudo_random(500), Compression::zlib).size());
  const std::string raw = [&] {
    auto bytes = decode_payload(packed, Compression::none, 511);
    // The deflated size is known only from the text itself.
    for (std::uint64_t size = 480; !std::holds_alternative<std::string>(bytes) && size < 600;
         ++size) {
      bytes = decode_payload(packed, Compression::none, size);
    }
    return std::get<std::string>(bytes);
  }();
  for (std::size_t cut = 0; cut < raw.size(); ++cut) {
    const std::string part = encode_payload(raw.substr(0, cut), Compression::none);
    CHECK(std::holds_alternative<PayloadError>(decode_payload(part, Compression::zlib, 500)));
  }
  const std::string longer = encode_payload(raw + "x", Compression::none);
  CHECK(refusal(longer, 500, Compression::zlib) == "bytes after the zlib data");
}

TEST_CASE("data must agree with the tensor it fills, and satisfies the need for an init") {
  auto with = [](json data, json spec = {{"shape", {2}}, {"dtype", "uint8"}}) {
    spec["data"] = std::move(data);
    return parse(json{{"args", {{{"name", "x"}, {"type", "tensor"}, {"tensor_spec", spec}}}}}, "",
                 {.inputs_need_init = true});
  };
  auto pointer = [](const auto& result) {
    REQUIRE(std::holds_alternative<Refused>(result));
    REQUIRE(std::get<Refused>(result).violations.size() == 1);
    return std::get<Refused>(result).violations[0].pointer;
  };
  const std::string base = "/args/0/tensor_spec/data";
  CHECK(std::holds_alternative<Parsed>(with({{"data_b64", "AQI="}})));
  CHECK(std::holds_alternative<Parsed>(with({{"data_b64", "AQI="}, {"shape", json::array()}})));
  CHECK(std::holds_alternative<Parsed>(
      with({{"data_b64", "AQI="}, {"shape", {2}}, {"dtype", "torch.uint8"}})));
  CHECK(pointer(with({{"data_b64", "AQI="}, {"shape", {1}}})) == base + "/shape");
  CHECK(pointer(with({{"data_b64", "AQI="}, {"dtype", "int8"}})) == base + "/dtype");
  CHECK(pointer(with({{"data_b64", "AQID"}})) == base + "/data_b64");
  CHECK(pointer(with({{"data_b64", 5}})) == base + "/data_b64");
  CHECK(pointer(with({{"compress", "none"}})) == base);
  CHECK(pointer(with({{"data_b64", "AQI="}, {"compress", "lz4"}})) == base + "/compress");
  CHECK(pointer(with("AQI=")) == base);
  // Shape and dtype may stand in the data alone; bfloat16 is as good as any.
  const auto alone =
      with({{"data_b64", "gD8="}, {"shape", {1}}, {"dtype", "bfloat16"}}, json::object());
  REQUIRE(std::holds_alternative<Parsed>(alone));
  CHECK(std::get<Parsed>(alone).contract.args[0].tensor_spec->dtype == DType::bfloat16);
}
