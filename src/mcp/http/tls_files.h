// What a server shows to prove who it is. A value.
#pragma once

#include <string>

namespace assay::mcp::http {

// Both in PEM: the certificate with its chain, and its key.
struct TlsFiles {
  std::string certificate{};
  std::string key{};
};

// Throws std::invalid_argument, naming the file, if a server could not use them. In byte_stream.cc.
void require_usable(const TlsFiles& files);

}  // namespace assay::mcp::http
