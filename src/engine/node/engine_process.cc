#include "engine/node/engine_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <system_error>

#include "engine/frames/outbox.h"
#include "engine/node/link.h"
#include "engine/posix/awake.h"

extern char** environ;

namespace assay::node {

using frames::Frame;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Stages of a small kernel follow one another within milliseconds.
constexpr std::chrono::microseconds kLooksForFrames{3'000};

// Frames for one waiting caller.
struct EngineProcess::Mailbox {
  std::mutex mutex{};
  std::condition_variable_any arrived{};
  std::deque<Frame> frames{};
  bool lost = false;                  // the engine has gone: nothing more will come
  std::atomic<bool> has_news{false};  // for who looks without the lock

  void put(Frame frame) {
    const std::lock_guard lock(mutex);
    frames.push_back(std::move(frame));
    has_news = true;
    arrived.notify_all();
  }
  void lose() {
    const std::lock_guard lock(mutex);
    lost = true;
    has_news = true;
    arrived.notify_all();
  }
  // Nothing: the engine is lost, or `stop` was requested before a frame came.
  std::optional<Frame> take(const std::stop_token& stop) {
    posix::look_for(kLooksForFrames, [&] { return has_news || stop.stop_requested(); });
    std::unique_lock lock(mutex);
    arrived.wait(lock, stop, [&] { return !frames.empty() || lost; });
    if (frames.empty()) return std::nullopt;
    Frame frame = std::move(frames.front());
    frames.pop_front();
    has_news = !frames.empty() || lost;
    return frame;
  }
  bool is_lost() {
    const std::lock_guard lock(mutex);
    return lost && frames.empty();
  }
};

// One life of the engine. Its thread reads the channel; callers post to `outbox`.
struct EngineProcess::Child {
  pid_t pid = 0;
  frames::Channel channel;
  frames::Outbox outbox{channel};
  std::atomic<bool> closing{false};
  std::mutex mutex{};
  std::map<std::string, std::shared_ptr<Mailbox>> mailboxes{};
  std::shared_ptr<Mailbox> capability_box = std::make_shared<Mailbox>();
  bool ended = false;
  Clock::time_point last_heard = Clock::now();
  const std::chrono::milliseconds silence;
  Log log{};
  std::thread thread{};

  Child(pid_t process, posix::Descriptor stream, std::chrono::milliseconds longest_silence,
        Log log_to)
      : pid(process),
        channel(std::move(stream), link::kCaps, false),
        silence(longest_silence),
        log(std::move(log_to)) {
    thread = std::thread([this] { serve(); });
  }
  ~Child() {
    closing = true;
    outbox.rouse();
    thread.join();
  }

  // Nothing if this life is over already.
  std::shared_ptr<Mailbox> open_mailbox(const std::string& job_id) {
    const std::lock_guard lock(mutex);
    if (ended) return nullptr;
    // An engine without work owes no word: its silence counts from the moment it is given some.
    if (mailboxes.empty()) last_heard = Clock::now();
    auto box = std::make_shared<Mailbox>();
    mailboxes[job_id] = box;
    return box;
  }
  void close_mailbox(const std::string& job_id) {
    const std::lock_guard lock(mutex);
    mailboxes.erase(job_id);
  }
  bool is_ended() {
    const std::lock_guard lock(mutex);
    return ended;
  }

  void serve();
  void deliver(Frame frame);
  bool is_silent();
  void reap();
};

void EngineProcess::Child::deliver(Frame frame) {
  const std::string type = frame.type();
  if (type == "heartbeat") return;
  std::shared_ptr<Mailbox> box;
  if (type == "capabilities") {
    box = capability_box;
  } else {
    const std::lock_guard lock(mutex);
    const auto found = mailboxes.find(frame.body.value("job_id", std::string()));
    if (found != mailboxes.end()) box = found->second;
  }
  if (box) box->put(std::move(frame));
}

bool EngineProcess::Child::is_silent() {
  const std::lock_guard lock(mutex);
  return !mailboxes.empty() && Clock::now() - last_heard > silence;
}

void EngineProcess::Child::serve() {
  posix::Awake awake(kLooksForFrames);
  while (!closing && channel.state() == frames::Channel::State::open) {
    const short events = outbox.wants_write() ? POLLIN | POLLOUT : POLLIN;
    pollfd entries[] = {{channel.descriptor(), events, 0}, {outbox.wake(), POLLIN, 0}};
    awake.poll(entries, 1000);
    if (entries[1].revents != 0 || entries[0].revents != 0) awake.extend();
    if (entries[1].revents != 0) outbox.heed();
    outbox.flush();
    if (entries[0].revents != 0) {
      channel.read_available();
      const std::lock_guard lock(mutex);
      last_heard = Clock::now();
    }
    while (auto frame = channel.next()) deliver(std::move(*frame));
    if (is_silent()) {
      log("engine: silent for too long with work in flight, killed");
      ::kill(pid, SIGKILL);
      break;
    }
  }
  if (!closing) log("engine: its stream ended " + channel.complaint());
  reap();
  const std::lock_guard lock(mutex);
  ended = true;
  for (auto& [job_id, box] : mailboxes) box->lose();
  capability_box->lose();
}

void EngineProcess::Child::reap() {
  // The end of the stream is the engine's order to kill its runners and go.
  outbox.close();
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  while (::waitpid(pid, nullptr, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      log("engine: did not end by itself, killed");
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

EngineProcess::EngineProcess(EngineCommand command, Log log)
    : command_(std::move(command)), log_(std::move(log)) {}

EngineProcess::~EngineProcess() = default;

int EngineProcess::pid() const {
  const std::lock_guard lock(mutex_);
  return child_ && !child_->is_ended() ? child_->pid : 0;
}

std::shared_ptr<EngineProcess::Child> EngineProcess::start() const {
  auto pair = posix::make_socket_pair();
  std::vector<std::string> words{command_.executable.string()};
  words.insert(words.end(), command_.arguments.begin(), command_.arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // Standard output is the protocol of whoever started the server: the engine must not have it.
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, 2, 1);
  // dup2 onto itself would keep close-on-exec.
  const posix::Descriptor high(::fcntl(pair.theirs.get(), F_DUPFD_CLOEXEC, 10));
  ::posix_spawn_file_actions_adddup2(&actions, high.get(), 3);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 4);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  // Ctrl-C on a terminal goes to the foreground group: the server decides what ends, not the tty.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, command_.executable.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(),
                            "start the engine " + command_.executable.string());
  }
  return std::make_shared<Child>(pid, std::move(pair.ours), command_.silence, log_);
}

std::shared_ptr<EngineProcess::Child> EngineProcess::running() {
  const std::lock_guard lock(mutex_);
  if (!child_ || child_->is_ended()) child_ = start();
  return child_;
}

Conclusion EngineProcess::run(const Order& order,
                              const std::function<void(const StageEvent&)>& on_stage,
                              const std::stop_token& stop) {
  const Conclusion lost{.verdict = job::Verdict::engine_fault,
                        .body = {{"summary",
                                  "The engine ended while this job ran. What it had done "
                                  "is kept; run the job again."}},
                        .interrupted = true};
  auto child = running();
  const auto box = child->open_mailbox(order.job_id);
  if (!box) return lost;
  child->outbox.post(link::run(order, 1));
  child->outbox.rouse();  // its first stage may be here at once: the reader looks for it
  bool cancelled = false;
  const auto cancel = [&] {
    if (!std::exchange(cancelled, true)) child->outbox.post(link::cancel(order.job_id));
  };
  Conclusion conclusion = lost;
  std::exception_ptr failure;
  // Once cancelled the conclusion is still awaited: the runner's death is part of the answer.
  while (true) {
    auto frame = box->take(cancelled ? std::stop_token() : stop);
    if (!frame) {
      if (box->is_lost()) break;
      cancel();
      continue;
    }
    if (frame->type() == "conclusion") {
      conclusion = link::decode_conclusion(*frame);
      break;
    }
    if (frame->type() != "stage" || failure) continue;
    try {
      on_stage(link::decode_stage(*frame));
      child->outbox.post(link::ack(order.job_id, frame->body.at("seq").get<std::uint64_t>()));
    } catch (...) {
      failure = std::current_exception();
      cancel();
    }
  }
  child->close_mailbox(order.job_id);
  if (failure) std::rethrow_exception(failure);
  return conclusion;
}

json EngineProcess::capabilities() {
  auto child = running();
  child->outbox.post(link::plain("capabilities"));
  auto frame = child->capability_box->take(std::stop_token());
  if (!frame) throw std::runtime_error("the engine ended before it could describe itself");
  const auto failed = frame->body.find("failed");
  if (failed != frame->body.end()) throw std::runtime_error(failed->get<std::string>());
  return frame->body.at("body");
}

}  // namespace assay::node
