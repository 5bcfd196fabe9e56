// A load generator that costs little beside what it loads: one thread, every connection with one
// request in flight, bytes made beforehand.
//
//   http_load PORT CONNECTIONS SECONDS|0 COUNT|0 MARKER FILE...
//
// FILE i holds the whole request that connection i (modulo their number) repeats. In its body the
// digits 10000000 are counted up, so that no id comes twice; an answer must be a 200 that holds its
// id and MARKER. Prints {"requests", "errors", "seconds", "p50_us", "p99_us", "first_error"}.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kIdDigits = "10000000";
constexpr std::uint32_t kFirstId = 10'000'000;

struct Load {
  std::uint16_t port = 0;
  std::size_t connections = 1;
  double seconds = 0;
  std::size_t count = 0;
  std::string marker{};
  std::vector<std::string> requests{};
};

struct Tally {
  std::vector<float> took_us{};
  std::size_t errors = 0;
  std::string first_error{};

  void fault(std::string_view what) {
    ++errors;
    if (first_error.empty()) first_error = what.substr(0, 200);
  }
};

// One keep-alive connection that asks, waits for the whole answer, and asks again.
class Asker {
 public:
  Asker(const Load& load, std::string request, std::uint32_t& next_id)
      : load_(load), request_(std::move(request)), next_id_(next_id) {
    id_at_ = request_.find(kIdDigits, request_.find("\r\n\r\n"));
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(load.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      std::cerr << "http_load: nobody at port " << load.port << '\n';
      std::exit(1);
    }
    const int yes = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  ~Asker() { ::close(fd_); }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  [[nodiscard]] int fd() const { return fd_; }

  // False: the connection is of no more use.
  bool ask(Tally& tally) {
    id_ = std::to_string(next_id_++);
    if (id_at_ != std::string::npos) request_.replace(id_at_, id_.size(), id_);
    answer_.clear();
    asked_ = Clock::now();
    // Small enough for the socket's buffer.
    const ssize_t sent = ::send(fd_, request_.data(), request_.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(request_.size())) return true;
    tally.fault("a request could not be sent");
    return false;
  }

  enum class Heard { part, whole, end };
  Heard hear(Tally& tally) {
    char bytes[65536];
    const ssize_t count = ::recv(fd_, bytes, sizeof bytes, 0);
    if (count <= 0) {
      tally.fault("the server closed the connection");
      return Heard::end;
    }
    answer_.append(bytes, static_cast<std::size_t>(count));
    if (!is_whole()) return Heard::part;
    const std::chrono::duration<float, std::micro> took = Clock::now() - asked_;
    tally.took_us.push_back(took.count());
    if (!is_right()) tally.fault(answer_);
    return Heard::whole;
  }

 private:
  [[nodiscard]] bool is_whole() const {
    const std::size_t head = answer_.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    std::string fields = answer_.substr(0, head);
    std::transform(fields.begin(), fields.end(), fields.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    constexpr std::string_view kLength = "\r\ncontent-length:";
    const std::size_t length = fields.find(kLength);
    if (length == std::string::npos) return answer_.ends_with("\r\n0\r\n\r\n");
    const long bytes = std::atol(fields.c_str() + length + kLength.size());
    return answer_.size() >= head + 4 + static_cast<std::size_t>(bytes);
  }

  [[nodiscard]] bool is_right() const {
    return answer_.starts_with("HTTP/1.1 200 ") &&
           answer_.find(load_.marker) != std::string::npos &&
           (id_at_ == std::string::npos || answer_.find(id_) != std::string::npos);
  }

  const Load& load_;
  std::string request_;
  std::uint32_t& next_id_;
  std::size_t id_at_ = std::string::npos;
  int fd_ = -1;
  std::string id_{};
  std::string answer_{};
  Clock::time_point asked_{};
};

Load read_arguments(int argc, char** argv) {
  if (argc < 7) {
    std::cerr << "usage: http_load PORT CONNECTIONS SECONDS|0 COUNT|0 MARKER FILE...\n";
    std::exit(2);
  }
  Load load{.port = static_cast<std::uint16_t>(std::atoi(argv[1])),
            .connections = static_cast<std::size_t>(std::atol(argv[2])),
            .seconds = std::atof(argv[3]),
            .count = static_cast<std::size_t>(std::atol(argv[4])),
            .marker = argv[5]};
  for (int i = 6; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    load.requests.emplace_back(std::istreambuf_iterator<char>(file),
                               std::istreambuf_iterator<char>());
  }
  return load;
}

// Looks instead of sleeping: to be woken costs this program more than the servers' whole work, and
// would be counted as theirs.
int await(int poll, std::vector<epoll_event>& events) {
  const auto end = Clock::now() + std::chrono::seconds(30);
  for (;;) {
    const int ready = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), 0);
    if (ready != 0 || Clock::now() > end) return ready;
  }
}

Tally run(const Load& load) {
  Tally tally;
  std::uint32_t next_id = kFirstId;
  std::vector<std::unique_ptr<Asker>> askers;
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  for (std::size_t i = 0; i < load.connections; ++i) {
    askers.push_back(
        std::make_unique<Asker>(load, load.requests[i % load.requests.size()], next_id));
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    ::epoll_ctl(poll, EPOLL_CTL_ADD, askers.back()->fd(), &event);
  }
  const auto begin = Clock::now();
  std::size_t asked = 0;
  std::size_t open = 0;
  const auto more = [&] {
    const std::chrono::duration<double> passed = Clock::now() - begin;
    return load.count > 0 ? asked < load.count : passed.count() < load.seconds;
  };
  for (auto& asker : askers) {
    ++asked;
    if (asker->ask(tally)) ++open;
  }
  std::vector<epoll_event> events(load.connections);
  while (open > 0) {
    const int ready = await(poll, events);
    if (ready <= 0) {
      tally.fault("no answer within 30 s");
      break;
    }
    for (int i = 0; i < ready; ++i) {
      Asker& asker = *askers[events[static_cast<std::size_t>(i)].data.u64];
      const auto heard = asker.hear(tally);
      if (heard == Asker::Heard::part) continue;
      const bool goes_on = heard == Asker::Heard::whole && more() && (++asked, asker.ask(tally));
      if (goes_on) continue;
      ::epoll_ctl(poll, EPOLL_CTL_DEL, asker.fd(), nullptr);
      --open;
    }
  }
  ::close(poll);
  return tally;
}

float quantile(const std::vector<float>& ordered, double share) {
  if (ordered.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(ordered.size()));
  return ordered[std::min(at, ordered.size() - 1)];
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c >= ' ' && c < 127 && c != '"' && c != '\\' ? c : '.';
  return out + '"';
}

}  // namespace

int main(int argc, char** argv) {
  const Load load = read_arguments(argc, argv);
  const auto begin = Clock::now();
  Tally tally = run(load);
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  std::sort(tally.took_us.begin(), tally.took_us.end());
  std::cout << "{\"requests\": " << tally.took_us.size() << ", \"errors\": " << tally.errors
            << ", \"seconds\": " << seconds.count()
            << ", \"p50_us\": " << quantile(tally.took_us, 0.5)
            << ", \"p99_us\": " << quantile(tally.took_us, 0.99)
            << ", \"first_error\": " << quoted(tally.first_error) << "}\n";
  return 0;
}
