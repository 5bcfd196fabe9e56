#include "mcp/http/byte_stream.h"

#include <openssl/err.h>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace assay::mcp::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// OpenSSL has no words for a failure of the system's.
void require_readable(const char* what, const std::string& file) {
  if (!std::ifstream(file))
    throw std::invalid_argument(std::string("cannot read the ") + what + " file " + file + ": " +
                                std::generic_category().message(errno));
}

// Nothing of a key is told.
std::string told(const error_code& fault) {
  const char* reason = ::ERR_reason_error_string(static_cast<unsigned>(fault.value()));
  return reason != nullptr ? reason : "it is not what a server needs, in PEM";
}

void end_both(tcp::socket& socket) {
  error_code ignored;
  socket.close(ignored);
}

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(tcp::socket socket) : socket_(std::move(socket)) {}

  void open(std::function<void(bool failed)> ready) override { ready(false); }
  void read_some(asio::mutable_buffer into, Handler then) override {
    socket_.async_read_some(into, std::move(then));
  }
  void write_some(asio::const_buffer from, Handler then) override {
    socket_.async_write_some(from, std::move(then));
  }
  void end_sending() override {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }
  void close() override { end_both(socket_); }

 private:
  tcp::socket socket_;
};

// Held by what it has pending: its engine is used until the last of that is over.
class TlsStream final : public ByteStream, public std::enable_shared_from_this<TlsStream> {
 public:
  TlsStream(tcp::socket socket, asio::ssl::context& context)
      : stream_(std::move(socket), context) {}

  void open(std::function<void(bool failed)> ready) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = shared_from_this(), ready = std::move(ready)](
                                const error_code& fault) { ready(static_cast<bool>(fault)); });
  }
  void read_some(asio::mutable_buffer into, Handler then) override {
    stream_.async_read_some(
        into, [self = shared_from_this(), then = std::move(then)](
                  const error_code& fault, std::size_t count) { then(fault, count); });
  }
  void write_some(asio::const_buffer from, Handler then) override {
    stream_.async_write_some(
        from, [self = shared_from_this(), then = std::move(then)](
                  const error_code& fault, std::size_t count) { then(fault, count); });
  }
  void end_sending() override {
    stream_.async_shutdown([self = shared_from_this()](const error_code&) {});
  }
  void close() override { end_both(stream_.next_layer()); }

 private:
  asio::ssl::stream<tcp::socket> stream_;
};

class PlainStreams final : public ByteStreams {
 public:
  std::shared_ptr<ByteStream> over(tcp::socket socket) override {
    return std::make_shared<PlainStream>(std::move(socket));
  }
};

class TlsStreams final : public ByteStreams {
 public:
  explicit TlsStreams(const TlsFiles& files) : context_(asio::ssl::context::tls_server) {
    using Context = asio::ssl::context;
    context_.set_options(Context::default_workarounds | Context::no_sslv2 | Context::no_sslv3 |
                         Context::no_tlsv1 | Context::no_tlsv1_1);
    require_readable("certificate", files.certificate);
    require_readable("key", files.key);
    error_code fault;
    context_.use_certificate_chain_file(files.certificate, fault);
    if (fault)
      throw std::invalid_argument("cannot use the certificate in " + files.certificate + ": " +
                                  told(fault));
    context_.use_private_key_file(files.key, Context::pem, fault);
    if (fault)
      throw std::invalid_argument("cannot use the key in " + files.key + ": " + told(fault));
  }

  std::shared_ptr<ByteStream> over(tcp::socket socket) override {
    return std::make_shared<TlsStream>(std::move(socket), context_);
  }

 private:
  asio::ssl::context context_;
};

}  // namespace

void require_usable(const TlsFiles& files) { const TlsStreams tried(files); }

std::unique_ptr<ByteStreams> byte_streams(const std::optional<TlsFiles>& tls) {
  if (tls) return std::make_unique<TlsStreams>(*tls);
  return std::make_unique<PlainStreams>();
}

}  // namespace assay::mcp::http
