// SHA-256 as an artifact's name. Any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace assay::journal {

class Digest {
 public:
  Digest();
  void add(std::string_view bytes);
  // 64 lower-case hexadecimal digits; once.
  [[nodiscard]] std::string hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

// Exactly what hex() can return: never a path out of the store.
[[nodiscard]] bool is_digest(std::string_view text);

}  // namespace assay::journal
