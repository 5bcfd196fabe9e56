// The bytes of one connection, in the clear or under TLS: all that a connection needs of its
// socket. Event thread only. At most one read and one write may be pending; their handlers are
// called once each, also after close().
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "mcp/http/http_config.h"

namespace assay::mcp::http {

class ByteStream {
 public:
  using Handler = std::function<void(const boost::system::error_code& fault, std::size_t count)>;

  virtual ~ByteStream() = default;
  // Once, before anything else. `ready` may be called before this returns.
  virtual void open(std::function<void(bool failed)> ready) = 0;
  virtual void read_some(boost::asio::mutable_buffer into, Handler then) = 0;
  virtual void write_some(boost::asio::const_buffer from, Handler then) = 0;
  // Tells the client that nothing more comes; what it still sends is read.
  virtual void end_sending() = 0;
  virtual void close() = 0;
};

// Makes the streams of a server.
class ByteStreams {
 public:
  virtual ~ByteStreams() = default;
  [[nodiscard]] virtual std::shared_ptr<ByteStream> over(boost::asio::ip::tcp::socket socket) = 0;
};

// Without `tls`: in the clear. Throws std::invalid_argument, naming the file, for a certificate or
// a key that cannot be used.
[[nodiscard]] std::unique_ptr<ByteStreams> byte_streams(const std::optional<TlsFiles>& tls);

}  // namespace assay::mcp::http
