#include "mcp/codec.h"

#include <simdjson.h>

#include <new>
#include <utility>

namespace assay::mcp {
namespace {

namespace dom = simdjson::dom;

// A parser that has met a large message is replaced, so that one such message costs its memory
// once.
constexpr std::size_t kKeptParserBytes = std::size_t{1} << 20;

// simdjson's tree to ours. The depth is bounded by the parser, so the recursion is too.
class Conversion {
 public:
  explicit Conversion(const JsonLimits& limits) : limits_(limits) {}

  Json convert(dom::element element) {
    if (++values_ > limits_.max_values) return nullptr;
    switch (element.type()) {
      case dom::element_type::OBJECT:
        return convert_object(element);
      case dom::element_type::ARRAY: {
        const dom::array items = element.get_array().value_unsafe();
        Json::array_t array;
        for (const dom::element item : items) {
          array.push_back(convert(item));
          if (overflowed()) break;
        }
        return array;
      }
      case dom::element_type::STRING:
        return std::string(element.get_string().value_unsafe());
      case dom::element_type::INT64: {
        // One type for one number: what is not negative is unsigned, as nlohmann's own parser has
        // it.
        const std::int64_t number = element.get_int64().value_unsafe();
        return number < 0 ? Json(number) : Json(static_cast<std::uint64_t>(number));
      }
      case dom::element_type::UINT64:
        return element.get_uint64().value_unsafe();
      case dom::element_type::DOUBLE:
        return element.get_double().value_unsafe();
      case dom::element_type::BOOL:
        return element.get_bool().value_unsafe();
      default:
        return nullptr;
    }
  }

  [[nodiscard]] bool overflowed() const { return values_ > limits_.max_values; }

  [[nodiscard]] std::optional<JsonFault> fault() const {
    if (overflowed())
      return JsonFault{
          JsonFault::Kind::too_many_values,
          "the message holds more than " + std::to_string(limits_.max_values) + " values"};
    if (repeated_)
      return JsonFault{JsonFault::Kind::repeated_member,
                       "the member \"" + *repeated_ + "\" occurs twice in one object"};
    return std::nullopt;
  }

 private:
  Json convert_object(dom::element element) {
    const dom::object object = element.get_object().value_unsafe();
    Json::object_t members;
    for (const dom::key_value_pair member : object) {
      std::string key(member.key);
      Json value = convert(member.value);
      const auto [where, inserted] = members.try_emplace(std::move(key), std::move(value));
      if (!inserted && !repeated_) repeated_ = std::string(member.key);
      if (overflowed()) break;
    }
    return members;
  }

  const JsonLimits& limits_;
  std::size_t values_ = 0;
  std::optional<std::string> repeated_{};
};

struct Decoded {
  Json value = nullptr;
  std::optional<JsonFault> fault{};
};

// In our own words: the parser's name its tape and its atoms.
std::string words_for(simdjson::error_code error) {
  switch (error) {
    case simdjson::UTF8_ERROR:
      return "not UTF-8";
    case simdjson::EMPTY:
      return "there is no JSON at all";
    case simdjson::BIGINT_ERROR:
      return "an integer does not fit 64 bits";
    case simdjson::NUMBER_ERROR:
      return "a number is malformed or out of range";
    case simdjson::STRING_ERROR:
      return "a string holds a bad escape or half a surrogate pair";
    case simdjson::UNCLOSED_STRING:
      return "a string is not closed";
    case simdjson::UNESCAPED_CHARS:
      return "a string holds a control character that is not escaped";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      return "a word is none of true, false and null";
    default:
      return "not JSON: a value, comma, colon or bracket is missing or one too many";
  }
}

JsonFault fault_of(simdjson::error_code error, const JsonLimits& limits) {
  if (error == simdjson::DEPTH_ERROR)
    return {JsonFault::Kind::too_deep,
            "the message is nested deeper than " + std::to_string(limits.max_depth)};
  return {JsonFault::Kind::malformed, words_for(error)};
}

std::size_t end_of_string(std::string_view text, std::size_t quote) {
  for (std::size_t i = quote + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

// The member "id" of an object that is too deep to be parsed: brackets are counted, nothing else is
// looked at. Nothing if it is met twice.
std::optional<RequestId> id_on_the_surface(std::string_view text) {
  std::optional<RequestId> id;
  std::size_t depth = 0;
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return {};
  for (std::size_t i = first; i < text.size(); ++i) {
    if (text[i] == '{' || text[i] == '[') ++depth;
    if (text[i] == '}' || text[i] == ']') --depth;
    if (depth == 0) break;
    if (text[i] != '"') continue;
    const std::size_t end = end_of_string(text, i);
    const bool is_id = depth == 1 && text.substr(i, end - i) == "\"id\"";
    i = end - 1;
    const auto colon = text.find_first_not_of(" \t\r\n", end);
    if (!is_id || colon == std::string_view::npos || text[colon] != ':') continue;
    if (id) return {};
    const auto begin = std::min(text.find_first_not_of(" \t\r\n", colon + 1), text.size());
    const auto close = begin < text.size() && text[begin] == '"'
                           ? end_of_string(text, begin)
                           : std::min(text.find_first_of(",}", begin), text.size());
    const Json value = Json::parse(text.substr(begin, close - begin), nullptr, false);
    if (!value.is_discarded()) id = request_id_from(value);
    i = close - 1;
  }
  return id;
}

// What one JSON value may be.
using Single = decltype(Batch::members)::value_type;

Invalid invalid(std::optional<RequestId> id, ErrorCode code, std::string message) {
  return {.id = std::move(id), .error = {.code = code, .message = std::move(message)}};
}

const Json* find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

// The id as far as it can be echoed: a message that is invalid otherwise is answered under it.
std::optional<RequestId> readable_id(const Json& value) {
  const Json* id = value.is_object() ? find(value, "id") : nullptr;
  return id ? request_id_from(*id) : std::nullopt;
}

Single classify(Json value) {
  if (!value.is_object())
    return invalid({}, ErrorCode::invalid_request, "a JSON-RPC message is an object");
  const Json* raw_id = find(value, "id");
  std::optional<RequestId> id = readable_id(value);
  const Json* version = find(value, "jsonrpc");
  if (!version || *version != "2.0")
    return invalid(id, ErrorCode::invalid_request, "the member \"jsonrpc\" must be \"2.0\"");
  const Json* method = find(value, "method");
  if (!method) {
    if (const Json* result = find(value, "result"))
      return Response{.id = std::move(id), .result = *result};
    if (find(value, "error")) return Response{.id = std::move(id), .error = true};
    return invalid(id, ErrorCode::invalid_request, "the member \"method\" is missing");
  }
  if (!method->is_string())
    return invalid(id, ErrorCode::invalid_request, "the member \"method\" must be a string");
  if (raw_id && !id)
    return invalid({}, ErrorCode::invalid_request,
                   "the member \"id\" must be a string or an integer of 64 bits");
  Json params = Json::object();
  if (const auto found = value.find("params"); found != value.end() && !found->is_null()) {
    if (!found->is_object()) {
      Invalid fault{.id = id,
                    .error = {.code = ErrorCode::invalid_params,
                              .message = "the member \"params\" must be an object"}};
      fault.notification = !id;
      return fault;
    }
    params = std::move(*found);
  }
  auto& name = method->get_ref<const std::string&>();
  if (id) return Request{.id = std::move(*id), .method = name, .params = std::move(params)};
  return Notification{.method = name, .params = std::move(params)};
}

Batch classify_batch(Json::array_t& values) {
  Batch batch;
  for (Json& value : values) batch.members.push_back(classify(std::move(value)));
  return batch;
}

Message widened(Single single) {
  return std::visit([](auto& value) -> Message { return std::move(value); }, single);
}

Message message_of(Decoded decoded, std::string_view text) {
  if (!decoded.fault) return widened(classify(std::move(decoded.value)));
  const bool malformed = decoded.fault->kind == JsonFault::Kind::malformed;
  const bool is_deep = decoded.fault->kind == JsonFault::Kind::too_deep;
  return invalid(is_deep ? id_on_the_surface(text) : readable_id(decoded.value),
                 malformed ? ErrorCode::parse_error : ErrorCode::invalid_request,
                 std::move(decoded.fault->message));
}

}  // namespace

class Decoder::Impl {
 public:
  explicit Impl(JsonLimits limits) : limits_(limits) { renew(); }

  Decoded parse(std::string_view text) {
    dom::element root;
    const simdjson::error_code error = parser_.parse(text.data(), text.size()).get(root);
    Decoded decoded;
    if (error) {
      decoded.fault = fault_of(error, limits_);
    } else {
      Conversion conversion(limits_);
      decoded.value = conversion.convert(root);
      decoded.fault = conversion.fault();
    }
    if (text.size() > kKeptParserBytes) renew();
    return decoded;
  }

 private:
  void renew() {
    parser_ = dom::parser();
    // Reserves for a first message and fixes the depth; it grows with what arrives.
    if (parser_.allocate(std::size_t{1} << 12, limits_.max_depth)) throw std::bad_alloc();
  }

  JsonLimits limits_;
  dom::parser parser_;
};

Decoder::Decoder(JsonLimits limits) : impl_(std::make_unique<Impl>(limits)) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Message Decoder::decode(std::string_view line) {
  Decoded decoded = impl_->parse(line);
  if (!decoded.fault && decoded.value.is_array())
    return classify_batch(decoded.value.get_ref<Json::array_t&>());
  return message_of(std::move(decoded), line);
}

Body Decoder::decode_body(std::string_view text, std::size_t max_batch) {
  Decoded decoded = impl_->parse(text);
  Body body{.batch = !decoded.fault && decoded.value.is_array()};
  if (!body.batch) {
    body.messages.push_back(message_of(std::move(decoded), text));
    return body;
  }
  const std::size_t count = decoded.value.size();
  if (count == 0 || count > max_batch) {
    body.messages.emplace_back(
        invalid({}, ErrorCode::invalid_request,
                count == 0 ? "an empty batch"
                           : "a batch of more than " + std::to_string(max_batch) + " messages"));
    return body;
  }
  for (Json& value : decoded.value) body.messages.push_back(widened(classify(std::move(value))));
  return body;
}

std::variant<Json, JsonFault> Decoder::decode_json(std::string_view text) {
  Decoded decoded = impl_->parse(text);
  if (decoded.fault) return std::move(*decoded.fault);
  return std::move(decoded.value);
}

std::string encode(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string encode_result(const RequestId& id, std::string_view result_text) {
  constexpr std::string_view kBefore = R"({"jsonrpc":"2.0","id":)";
  constexpr std::string_view kBetween = R"(,"result":)";
  const auto* number = std::get_if<std::int64_t>(&id.value);
  const std::string own_id = number != nullptr ? std::to_string(*number) : encode(to_json(id));
  std::string line;
  line.reserve(kBefore.size() + own_id.size() + kBetween.size() + result_text.size() + 1);
  line.append(kBefore).append(own_id).append(kBetween).append(result_text).push_back('}');
  return line;
}

std::string encode_error(const std::optional<RequestId>& id, const RpcError& error) {
  OrderedJson body = {{"code", static_cast<int>(error.code)}, {"message", error.message}};
  if (!error.data.is_null()) body["data"] = error.data;
  return encode(
      {{"jsonrpc", "2.0"}, {"id", id ? to_json(*id) : nullptr}, {"error", std::move(body)}});
}

std::string encode_request(const RequestId& id, std::string_view method,
                           const OrderedJson& params) {
  return encode({{"jsonrpc", "2.0"}, {"id", to_json(id)}, {"method", method}, {"params", params}});
}

std::string encode_notification(std::string_view method, const OrderedJson& params) {
  return encode({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

}  // namespace assay::mcp
