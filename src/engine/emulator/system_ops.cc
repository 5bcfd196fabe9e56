// What a device asks its runtime for: time, printf, assert.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "engine/emulator/block.h"
#include "engine/emulator/control_ops.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {
namespace {

constexpr std::size_t kMaxFormatBytes = 4096;
constexpr std::size_t kMaxTextBytes = 16384;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

template <class T>
void broadcast(Warp& w, std::uint32_t offset, T value) {
  T* const d = reinterpret_cast<T*>(w.rows + offset);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) d[__builtin_ctz(m)] = value;
}

// A zero-terminated string of device memory; stops at the end of what can be read.
std::string read_text(Warp& w, unsigned lane, std::uint64_t address, std::size_t max_bytes) {
  std::string text;
  while (text.size() < max_bytes) {
    const std::byte* const p =
        host_address(w, Space::generic, lane, address + text.size(), 1, false);
    if (p == nullptr || *p == std::byte{0}) break;
    text.push_back(static_cast<char>(*p));
  }
  return text;
}

template <class T>
T take_argument(Warp& w, unsigned lane, std::uint64_t& address) {
  address = (address + sizeof(T) - 1) & ~(std::uint64_t{sizeof(T)} - 1);
  T value{};
  const std::byte* const p = host_address(w, Space::generic, lane, address, sizeof(T), false);
  if (p != nullptr) std::memcpy(&value, p, sizeof(T));
  address += sizeof(T);
  return value;
}

// One conversion specification: "%-5.3lld"
struct Conversion {
  std::string flags{};  // with width and precision, ready for snprintf
  bool is_long = false;
  char kind = '\0';
};

class Printf {
 public:
  Printf(Warp& w, unsigned lane, std::uint64_t arguments)
      : w_(w), lane_(lane), arguments_(arguments) {}

  std::string format(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size() && out.size() < kMaxTextBytes; ++i) {
      if (text[i] != '%') {
        out.push_back(text[i]);
      } else if (i + 1 < text.size() && text[i + 1] == '%') {
        out.push_back('%');
        ++i;
      } else {
        convert(text, i, out);
      }
    }
    return out;
  }
  [[nodiscard]] std::int32_t taken() const { return taken_; }  // arguments

 private:
  // A width or precision is bounded, so that one conversion cannot ask for gigabytes.
  void number(const std::string& text, std::size_t& i, std::string& flags) {
    if (i < text.size() && text[i] == '*') {
      ++i;
      ++taken_;
      const auto n = take_argument<std::int32_t>(w_, lane_, arguments_);
      flags += std::to_string(std::max(-1000, std::min(1000, n)));
      return;
    }
    std::string digits;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') digits.push_back(text[i++]);
    if (digits.size() > 3) digits = "999";
    flags += digits;
  }

  void convert(const std::string& text, std::size_t& i, std::string& out) {
    Conversion c{.flags = "%"};
    const std::size_t start = i++;
    while (i < text.size() && std::strchr("-+ #0", text[i]) != nullptr)
      c.flags.push_back(text[i++]);
    number(text, i, c.flags);
    if (i < text.size() && text[i] == '.') {
      c.flags.push_back(text[i++]);
      number(text, i, c.flags);
    }
    while (i < text.size() && std::strchr("hljztL", text[i]) != nullptr) {
      if (text[i] != 'h') c.is_long = true;
      ++i;
    }
    c.kind = i < text.size() ? text[i] : '\0';
    if (c.kind == '\0' || c.flags.size() > 32 ||
        std::strchr("diouxXcsfFeEgGaAp", c.kind) == nullptr) {
      out += text.substr(start, i - start + 1);
      return;
    }
    ++taken_;
    out += print(c);
  }

  template <class T>
  std::string with(const std::string& specification, T value) {
    std::array<char, 1600> buffer{};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    const int n = std::snprintf(buffer.data(), buffer.size(), specification.c_str(), value);
#pragma GCC diagnostic pop
    return n < 0 ? std::string() : std::string(buffer.data());
  }

  std::string print(const Conversion& c) {
    switch (c.kind) {
      case 'd':
      case 'i':
        return c.is_long
                   ? with(c.flags + "ll" + c.kind, take_argument<long long>(w_, lane_, arguments_))
                   : with(c.flags + c.kind, take_argument<int>(w_, lane_, arguments_));
      case 'o':
      case 'u':
      case 'x':
      case 'X':
        return c.is_long ? with(c.flags + "ll" + c.kind,
                                take_argument<unsigned long long>(w_, lane_, arguments_))
                         : with(c.flags + c.kind, take_argument<unsigned>(w_, lane_, arguments_));
      case 'c':
        return with(c.flags + 'c', take_argument<int>(w_, lane_, arguments_));
      case 'p':
        return with("%#llx", take_argument<unsigned long long>(w_, lane_, arguments_));
      case 's': {
        const auto address = take_argument<std::uint64_t>(w_, lane_, arguments_);
        return with(c.flags + 's', read_text(w_, lane_, address, 1024).c_str());
      }
      default:
        return with(c.flags + c.kind, take_argument<double>(w_, lane_, arguments_));
    }
  }

  Warp& w_;
  unsigned lane_;
  std::uint64_t arguments_;
  std::int32_t taken_ = 0;
};

// One lane's argument of a call, from the caller's parameter rows.
std::uint64_t argument(Warp& w, const CallSite& call, std::size_t i, unsigned lane) {
  std::uint64_t value = 0;
  if (i >= call.arguments.size()) return 0;
  const FormalSlot& s = call.arguments[i];
  for (unsigned b = 0; b < s.bytes && b < 8; ++b) {
    const auto byte = static_cast<std::uint64_t>(w.rows[s.at(lane, b)]);
    value |= byte << (8 * b);
  }
  return value;
}

}  // namespace

void op_clock32(Warp& w, const Op& op) {
  broadcast(w, op.d, static_cast<std::uint32_t>(w.warp_instructions + w.pc - w.run_start));
}

void op_clock64(Warp& w, const Op& op) {
  broadcast(w, op.d, std::uint64_t{w.warp_instructions} + w.pc - w.run_start);
}

namespace {

// Runs that are compared must see the same time: there a warp instruction takes one nanosecond.
std::uint64_t time_ns(const Warp& w) {
  return w.trial != nullptr ? w.warp_instructions + w.pc - w.run_start : now_ns();
}

}  // namespace

void op_globaltimer(Warp& w, const Op& op) { broadcast(w, op.d, time_ns(w)); }

void op_globaltimer_low(Warp& w, const Op& op) {
  broadcast(w, op.d, static_cast<std::uint32_t>(time_ns(w)));
}

void op_globaltimer_high(Warp& w, const Op& op) {
  broadcast(w, op.d, static_cast<std::uint32_t>(time_ns(w) >> 32));
}

// Others may use the time: this group yields.
void op_nanosleep(Warp& w, const Op&) {
  w.turns += 64;
  w.slice -= 64;
}

void op_vprintf(Warp& w, const Op& op) {
  const CallSite& call = w.block->launch().text.calls[op.aux];
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::string format = read_text(w, k, argument(w, call, 0, k), kMaxFormatBytes);
    Printf text(w, k, argument(w, call, 1, k));
    w.block->launch().print(text.format(format));
    if (!call.results.empty() && call.results[0].bytes >= 4) {
      const std::int32_t written = text.taken();  // not of characters, as on a device
      std::memcpy(w.rows + call.results[0].at(k, 0), &written, 4);
    }
  }
  w.slice -= 256;
}

// __assertfail(message, file, line, function, char size)
void op_assertfail(Warp& w, const Op& op) {
  const CallSite& call = w.block->launch().text.calls[op.aux];
  const auto k = static_cast<unsigned>(__builtin_ctz(w.active));
  const std::string message = read_text(w, k, argument(w, call, 0, k), 1024);
  const std::string file = read_text(w, k, argument(w, call, 1, k), 1024);
  const auto line = static_cast<std::uint32_t>(argument(w, call, 2, k));
  const std::string function = read_text(w, k, argument(w, call, 3, k), 1024);
  fault_simple(
      w, op, FaultKind::assertion, k,
      file + ":" + std::to_string(line) + ": " + function + ": Assertion `" + message + "` failed");
}

}  // namespace assay::emulator
