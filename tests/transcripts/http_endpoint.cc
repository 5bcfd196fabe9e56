#include "tests/transcripts/http_endpoint.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <stdexcept>
#include <system_error>

namespace assay::transcripts {
namespace {

using mcp::Json;
using mcp::OwnedFd;
using mcp::http::post_text;
using mcp::http::WireClient;

// How long an answer may take before the next line is sent all the same.
constexpr std::chrono::milliseconds kMoment{150};

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string string_member(const Json& object, const char* key) {
  const Json* value = member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::string modern_fields(const Json& message, const Json& version) {
  std::string fields;
  if (version.is_string()) fields += "MCP-Protocol-Version: " + version.get<std::string>() + "\r\n";
  const std::string method = string_member(message, "method");
  fields += "Mcp-Method: " + method + "\r\n";
  const char* named = method == "tools/call" || method == "prompts/get" ? "name"
                      : method == "resources/read"                      ? "uri"
                      : method.starts_with("tasks/")                    ? "taskId"
                                                                        : nullptr;
  const Json* params = member(message, "params");
  if (const std::string name = params && named ? string_member(*params, named) : ""; !name.empty())
    fields += "Mcp-Name: " + name + "\r\n";
  return fields;
}

const Json* claimed_version(const Json& message) {
  const Json* params = member(message, "params");
  const Json* meta = params ? member(*params, "_meta") : nullptr;
  return meta ? member(*meta, "io.modelcontextprotocol/protocolVersion") : nullptr;
}

}  // namespace

ListeningProcess::ListeningProcess(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  errors_ = OwnedFd(ends[0]);
  const OwnedFd write(ends[1]);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, write.get(), STDERR_FILENO);
  const int fault = ::posix_spawnp(&child_, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (fault != 0) throw std::system_error(fault, std::generic_category(), command.front());
  std::string said;
  std::array<char, 4096> buffer{};
  while (said.find('\n', said.find("http://")) == std::string::npos) {
    const ssize_t count = ::read(errors_.get(), buffer.data(), buffer.size());
    if (count <= 0) throw std::runtime_error("the server does not say where it listens: " + said);
    said.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const std::size_t host = said.find("http://") + 7;
  port_ = static_cast<std::uint16_t>(std::stoul(said.substr(said.find(':', host) + 1)));
  passing_on_ = std::thread([this] {
    std::array<char, 4096> more{};
    for (ssize_t count = 0; (count = ::read(errors_.get(), more.data(), more.size())) > 0;)
      std::cerr.write(more.data(), count);
  });
}

ListeningProcess::~ListeningProcess() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  if (passing_on_.joinable()) passing_on_.join();
}

int ListeningProcess::end() {
  ::kill(child_, SIGTERM);
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  return status;
}

HttpEndpoint::HttpEndpoint(mcp::ServerConfig config)
    : server_(std::make_unique<mcp::http::HttpServer>(std::move(config),
                                                      mcp::http::HttpConfig{.port = 0})) {
  port_ = server_->port();
  thread_ =
      std::thread([this, stop = stop_.get_token()] { static_cast<void>(server_->run(stop)); });
}

HttpEndpoint::HttpEndpoint(const std::vector<std::string>& command)
    : process_(std::make_unique<ListeningProcess>(command)) {
  port_ = process_->port();
}

HttpEndpoint::~HttpEndpoint() {
  end_posts();
  stop_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void HttpEndpoint::end_posts() {
  for (const auto& [id, post] : posts_) post->client->abort();
  for (const auto& [id, post] : posts_) post->thread.join();
  posts_.clear();
}

void HttpEndpoint::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    post(std::string(bytes.substr(0, end)));
    bytes.remove_prefix(std::min(end == std::string_view::npos ? end : end + 1, bytes.size()));
  }
}

void HttpEndpoint::post(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;  // no message: nothing to post
  const Json message = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const Json* id = member(message, "id");
  const std::string key = id ? id->dump() : "";
  const std::string method = string_member(message, "method");
  const Json* params = member(message, "params");
  if (const Json* version = claimed_version(message))
    return start(key, post_text("/mcp", line, modern_fields(message, *version)), id != nullptr);
  if (method == "notifications/cancelled" && params && member(*params, "requestId"))
    for (auto [at, end] = posts_.equal_range(member(*params, "requestId")->dump()); at != end; ++at)
      at->second->client->abort();
  if (method != "initialize" && !method.empty()) need_session();
  // What is no object or has no member "jsonrpc" is answered before anybody looks for a session.
  const bool answered = id != nullptr || !message.is_object() || method.empty();
  start(key, post_text("/mcp", line, legacy_fields(method == "initialize")), answered);
}

void HttpEndpoint::need_session() {
  if (!session_.empty()) return;
  WireClient client(port_);
  client.send(post_text("/mcp", R"({"jsonrpc":"2.0","id":"s","method":"initialize","params":)"
                                R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                                R"("clientInfo":{"name":"transport","version":"0"}}})"));
  const auto answer = client.receive();
  if (!answer || !answer->fields.contains("mcp-session-id"))
    throw std::runtime_error("no session could be had");
  session_ = answer->fields.at("mcp-session-id");
}

std::string HttpEndpoint::legacy_fields(bool initialize) {
  return initialize || session_.empty() ? "" : "Mcp-Session-Id: " + session_ + "\r\n";
}

void HttpEndpoint::start(const std::string& id, const std::string& text, bool answered) {
  auto owned = std::make_unique<Post>();
  Post& post = *owned;
  post.client = std::make_unique<WireClient>(port_);
  post.client->send(text);
  post.thread = std::thread([this, &post, answered] { follow(post, answered); });
  posts_.emplace(id, std::move(owned));
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kMoment, [&post] { return post.over; });
}

void HttpEndpoint::follow(Post& post, bool answered) {
  if (const auto head = post.client->receive_head()) {
    if (const auto session = head->fields.find("mcp-session-id"); session != head->fields.end()) {
      const std::lock_guard lock(mutex_);
      session_ = session->second;
    }
    if (head->fields.contains("transfer-encoding")) {
      std::string text;
      while (const auto chunk = post.client->next_chunk()) {
        if (chunk->empty()) break;
        text += *chunk;
        take_events(text);
      }
    } else if (const auto length = head->fields.find("content-length");
               length != head->fields.end() && length->second != "0") {
      std::string body;
      while (body.size() < std::stoul(length->second)) {
        const std::string more = post.client->read_some();
        if (more.empty()) break;
        body += more;
      }
      // A notification is not answered; what is wrong with it is HTTP's to say.
      if (answered) deliver(body);
    }
  }
  const std::lock_guard lock(mutex_);
  post.over = true;
  changed_.notify_all();
}

void HttpEndpoint::take_events(std::string& text) {
  std::size_t end = 0;
  while ((end = text.find("\n\n")) != std::string::npos) {
    const std::size_t data = text.find("data: ");
    if (data < end) deliver(text.substr(data + 6, end - data - 6));
    text.erase(0, end + 2);
  }
}

void HttpEndpoint::deliver(std::string message) {
  const std::lock_guard lock(mutex_);
  received_.push_back(std::move(message));
  changed_.notify_all();
}

std::optional<std::string> HttpEndpoint::receive(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [this] { return !received_.empty(); })) return {};
  std::string message = std::move(received_.front());
  received_.pop_front();
  return message;
}

std::string HttpEndpoint::finish(std::chrono::milliseconds) {
  end_posts();
  if (!received_.empty()) return "more than was expected: " + received_.front();
  if (!process_) return {};
  const int status = process_->end();
  return WIFEXITED(status) && WEXITSTATUS(status) == 0
             ? ""
             : "the server ended with wait status " + std::to_string(status);
}

}  // namespace assay::transcripts
