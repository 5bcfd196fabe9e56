#include "mcp/http/http_client.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>

namespace assay::mcp::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

constexpr std::size_t kMaxAnswerBytes = std::size_t{64} << 20;

// One exchange on an event loop of its own: what is asynchronous can be given up.
class Exchange {
 public:
  Exchange(const Url& url, const Fields& fields, const std::string& body)
      : url_(url), request_(beast::http::verb::post, url.path, 11) {
    request_.set("Host", url.host + ':' + url.port);
    request_.set("Content-Type", "application/json");
    request_.set("Connection", "close");
    for (const Field& field : fields) request_.set(field.name, field.value);
    request_.body() = body;
    request_.prepare_payload();
    parser_.body_limit(kMaxAnswerBytes);
  }

  // Before run(): the bytes travel encrypted, to whom the authorities of `ca_file` vouch for.
  void encrypt(const std::string& ca_file) {
    error_code fault;
    if (ca_file.empty())
      context_.set_default_verify_paths(fault);
    else
      context_.load_verify_file(ca_file, fault);
    if (fault) throw std::invalid_argument("cannot use the certificates in \"" + ca_file + '"');
    tls_.emplace(stream_, context_);
    tls_->set_verify_mode(asio::ssl::verify_peer);
    tls_->set_verify_callback(asio::ssl::host_name_verification(url_.host));
    // An address is no name: a server with several certificates is told none then.
    error_code is_name;
    asio::ip::make_address(url_.host, is_name);
    if (is_name) ::SSL_set_tlsext_host_name(tls_->native_handle(), url_.host.c_str());
  }

  HttpAnswer run(std::chrono::seconds patience, const std::stop_token& stop) {
    error_code fault;
    const auto found = resolver_.resolve(url_.host, url_.port, fault);
    if (fault) throw Unreachable(url_.host + ": " + fault.message());
    stream_.expires_after(patience);
    stream_.async_connect(found, [this](const error_code& failed, const auto&) {
      if (gave_up(failed)) return;
      if (!tls_) return write();
      tls_->async_handshake(asio::ssl::stream_base::client, [this](const error_code& unproven) {
        if (!gave_up(unproven)) write();
      });
    });
    const std::stop_callback give_up(stop,
                                     [this] { asio::post(io_, [this] { stream_.cancel(); }); });
    io_.run();
    if (fault_) throw Unreachable(url_.host + ':' + url_.port + ": " + fault_->message());
    return answer();
  }

 private:
  bool gave_up(const error_code& fault) {
    if (fault) fault_ = fault;
    return static_cast<bool>(fault);
  }

  void write() {
    through([this](auto& stream) {
      beast::http::async_write(stream, request_, [this](const error_code& failed, std::size_t) {
        if (!gave_up(failed)) read();
      });
    });
  }

  void read() {
    through([this](auto& stream) {
      beast::http::async_read(stream, buffer_, parser_,
                              [this](const error_code& failed, std::size_t) { gave_up(failed); });
    });
  }

  template <class Step>
  void through(Step step) {
    if (tls_)
      step(*tls_);
    else
      step(stream_);
  }

  [[nodiscard]] HttpAnswer answer() {
    auto message = parser_.release();
    HttpAnswer answer{.status = static_cast<int>(message.result_int()),
                      .content_type = std::string(message[beast::http::field::content_type])};
    for (const auto& field : message)
      answer.fields.push_back(
          {.name = std::string(field.name_string()), .value = std::string(field.value())});
    answer.body = std::move(message.body());
    return answer;
  }

  const Url url_;
  asio::io_context io_{1};
  asio::ip::tcp::resolver resolver_{io_};
  beast::tcp_stream stream_{io_};
  asio::ssl::context context_{asio::ssl::context::tls_client};
  std::optional<asio::ssl::stream<beast::tcp_stream&>> tls_{};
  beast::http::request<beast::http::string_body> request_;
  beast::http::response_parser<beast::http::string_body> parser_{};
  beast::flat_buffer buffer_{};
  std::optional<error_code> fault_{};
};

}  // namespace

Url parse_url(const std::string& text) {
  constexpr std::string_view kPlain = "http://";
  constexpr std::string_view kEncrypted = "https://";
  const auto is_none = [&text] {
    return std::invalid_argument("\"" + text + "\" is no URL of the form http[s]://HOST:PORT/PATH");
  };
  std::string_view rest = text;
  Url url{.is_tls = rest.starts_with(kEncrypted)};
  if (!url.is_tls && !rest.starts_with(kPlain)) throw is_none();
  url.port = url.is_tls ? "443" : "80";
  rest.remove_prefix(url.is_tls ? kEncrypted.size() : kPlain.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  if (slash < rest.size()) url.path = std::string(rest.substr(slash));
  const std::size_t closing = authority.starts_with('[') ? authority.find(']') : 0;
  const std::size_t colon =
      closing == std::string_view::npos ? closing : authority.find(':', closing);
  url.host = std::string(authority.substr(0, std::min(colon, authority.size())));
  if (colon != std::string_view::npos) url.port = std::string(authority.substr(colon + 1));
  if (url.host.starts_with('[') && url.host.ends_with(']'))
    url.host = url.host.substr(1, url.host.size() - 2);
  const bool is_number =
      !url.port.empty() && url.port.find_first_not_of("0123456789") == std::string::npos;
  if (url.host.empty() || !is_number || text.find_first_of(" \r\n\t") != std::string::npos)
    throw is_none();
  return url;
}

HttpAnswer post(const Url& url, const Fields& fields, const std::string& body,
                std::chrono::seconds patience, const std::stop_token& stop) {
  Exchange exchange(url, fields, body);
  if (url.is_tls) exchange.encrypt(url.ca_file);
  return exchange.run(patience, stop);
}

}  // namespace assay::mcp::http
