// From a params object to a struct, with a JSON pointer for everything that is wrong with it. A
// parameter struct says how it is read; bind() makes a handler of untyped params out of a handler
// of the struct, so that no handler ever looks into raw params.
//
//   struct ListParams {
//     std::optional<std::string> cursor{};
//     void read(Reader& reader) { reader.optional("cursor", cursor); }
//   };
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mcp/message.h"
#include "mcp/schema.h"

namespace assay::mcp {

// One overload per type a parameter may have; the name is for the message.
inline const char* name_of(const std::string&) { return "a string"; }
inline const char* name_of(const RequestId&) { return "a string or an integer"; }
inline const char* name_of(const Json&) { return "a value"; }
[[nodiscard]] bool read_value(Json& from, std::string& into);
[[nodiscard]] bool read_value(Json& from, RequestId& into);
[[nodiscard]] bool read_value(Json& from, Json& into);

class Reader {
 public:
  // Moves members out of `object`. Null counts as absent: clients send it.
  Reader(Json& object, std::string pointer) : object_(object), pointer_(std::move(pointer)) {}

  template <class T>
  void required(const char* key, T& into) {
    if (Json* value = member(key))
      read(key, *value, into);
    else
      fault(key, "required", "required, but missing");
  }

  template <class T>
  void optional(const char* key, std::optional<T>& into) {
    if (Json* value = member(key)) read(key, *value, into.emplace());
  }

  template <class T>
  void optional(const char* key, T& into) {
    if (Json* value = member(key)) read(key, *value, into);
  }

  [[nodiscard]] const std::vector<Violation>& faults() const { return faults_; }

 private:
  template <class T>
  void read(const char* key, Json& value, T& into) {
    if (!read_value(value, into)) fault(key, "type", std::string("expected ") + name_of(into));
  }
  [[nodiscard]] Json* member(const char* key);
  void fault(const char* key, const char* keyword, std::string message);

  Json& object_;
  std::string pointer_;
  std::vector<Violation> faults_{};
};

[[nodiscard]] RpcError invalid_params(const std::vector<Violation>& faults);

template <class Params>
[[nodiscard]] std::variant<Params, RpcError> read_params(Json params) {
  Params read;
  Reader reader(params, "/params");
  read.read(reader);
  if (!reader.faults().empty()) return invalid_params(reader.faults());
  return read;
}

}  // namespace assay::mcp
