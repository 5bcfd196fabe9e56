// Who may speak to this server: the Host and Origin it answers to (a page in a browser must not
// reach a server on the same machine by way of DNS), and the bearer tokens. Immutable; any thread.
//
//   Host names another server                      421
//   Origin is there, but not allowed               403
//   tokens are asked for, none or a wrong one came 401, WWW-Authenticate: Bearer
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mcp/http/http_message.h"

namespace assay::mcp::http {

struct AccessRules {
  // Names and addresses without a port, besides localhost, 127.0.0.1 and [::1]. "*": any.
  std::vector<std::string> hosts{};
  // Whole origins ("https://a.example") besides those of this machine. "*": any.
  std::vector<std::string> origins{};
  // Empty: nobody has to show one.
  std::vector<std::string> tokens{};
};

class Access {
 public:
  explicit Access(AccessRules rules);

  // An open door lets in whoever shows no token, as nobody (""); a wrong token is still refused.
  enum class Door { guarded, open };
  // The principal that a request speaks for, or the answer that refuses it.
  [[nodiscard]] std::variant<std::string, HttpAnswer> admit(const HttpRequest& request,
                                                            Door door = Door::guarded) const;
  // What a browser needs to hear with every answer to a page of an allowed origin.
  [[nodiscard]] Fields cross_origin_fields(const HttpRequest& request) const;

 private:
  using Digest = std::array<std::uint8_t, 32>;
  struct Credential {
    Digest digest{};
    std::string principal{};
  };

  [[nodiscard]] static Digest digest_of(std::string_view token);
  [[nodiscard]] bool host_is_ours(std::string_view host) const;
  [[nodiscard]] bool origin_is_allowed(std::string_view origin) const;
  [[nodiscard]] std::optional<std::string> principal_of(std::string_view authorization) const;

  AccessRules rules_;
  std::vector<Credential> credentials_{};
};

}  // namespace assay::mcp::http
