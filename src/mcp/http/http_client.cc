#include "mcp/http/http_client.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
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

  HttpAnswer run(std::chrono::seconds patience, const std::stop_token& stop) {
    error_code fault;
    const auto found = resolver_.resolve(url_.host, url_.port, fault);
    if (fault) throw Unreachable(url_.host + ": " + fault.message());
    stream_.expires_after(patience);
    stream_.async_connect(found, [this](const error_code& failed, const auto&) {
      if (!gave_up(failed)) write();
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
    beast::http::async_write(stream_, request_, [this](const error_code& failed, std::size_t) {
      if (!gave_up(failed)) read();
    });
  }

  void read() {
    beast::http::async_read(stream_, buffer_, parser_,
                            [this](const error_code& failed, std::size_t) { gave_up(failed); });
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
  beast::http::request<beast::http::string_body> request_;
  beast::http::response_parser<beast::http::string_body> parser_{};
  beast::flat_buffer buffer_{};
  std::optional<error_code> fault_{};
};

}  // namespace

Url parse_url(const std::string& text) {
  constexpr std::string_view kScheme = "http://";
  std::string_view rest = text;
  if (!rest.starts_with(kScheme))
    throw std::invalid_argument("\"" + text + "\" is no URL of the form http://HOST:PORT/PATH");
  rest.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  Url url;
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
    throw std::invalid_argument("\"" + text + "\" is no URL of the form http://HOST:PORT/PATH");
  return url;
}

HttpAnswer post(const Url& url, const Fields& fields, const std::string& body,
                std::chrono::seconds patience, const std::stop_token& stop) {
  return Exchange(url, fields, body).run(patience, stop);
}

}  // namespace assay::mcp::http
