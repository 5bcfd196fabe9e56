#include "tests/transcripts/replay.h"

#include <algorithm>
#include <optional>
#include <thread>

namespace assay::transcripts {
namespace {

using mcp::OrderedJson;
using std::chrono::milliseconds;

// Generous, for a loaded machine under a sanitizer; nobody waits for it when all is well.
constexpr milliseconds kPatience{20'000};
// When rewriting: how long a server may think before it is taken to be silent.
constexpr milliseconds kRewritePatience{700};

bool expects(const Line& line) {
  return line.kind == Line::Kind::expect || line.kind == Line::Kind::expect_any_order;
}

OrderedJson parsed(const std::string& text) {
  return OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string mismatch(const Line& line, const std::string& received) {
  const OrderedJson actual = parsed(received);
  if (actual.is_discarded()) return "not JSON: " + received;
  return difference(parsed(line.payload), actual);
}

// Sends and lets time pass; expectations are the caller's.
void act(const Line& line, Endpoint& server) {
  if (line.kind == Line::Kind::send) server.send(line.payload + '\n');
  if (line.kind == Line::Kind::eof) server.close_input();
  if (line.kind == Line::Kind::wait) std::this_thread::sleep_for(line.time);
}

// The run of <~ lines that begins at `first`.
std::size_t end_of_run(const std::vector<Line>& lines, std::size_t first) {
  std::size_t end = first;
  while (end < lines.size() && lines[end].kind == Line::Kind::expect_any_order) ++end;
  return end;
}

std::string replay_run(const std::vector<Line>& lines, std::size_t first, std::size_t end,
                       Endpoint& server) {
  std::vector<const Line*> open;
  for (std::size_t i = first; i < end; ++i) open.push_back(&lines[i]);
  while (!open.empty()) {
    const auto received = server.receive(kPatience);
    if (!received) return "nothing received, expected " + open.front()->payload;
    const auto match = std::find_if(open.begin(), open.end(), [&](const Line* line) {
      return mismatch(*line, *received).empty();
    });
    if (match == open.end()) return "none of the expected messages: " + *received;
    open.erase(match);
  }
  return {};
}

std::string replay_line(const Line& line, Endpoint& server) {
  act(line, server);
  if (line.kind == Line::Kind::silence) {
    const auto received = server.receive(line.time);
    return received ? "expected silence, received " + *received : "";
  }
  if (line.kind != Line::Kind::expect) return {};
  const auto received = server.receive(kPatience);
  if (!received) return "nothing received, expected " + line.payload;
  const std::string different = mismatch(line, *received);
  return different.empty() ? "" : different + "\n  received " + *received;
}

// What stands for one run of expectations: the lines themselves where they hold, else what came.
std::vector<std::string> rewritten_run(std::vector<Line> run, Endpoint& server) {
  std::vector<std::string> written;
  while (true) {
    const auto received = server.receive(kRewritePatience);
    if (!received) return written;
    const auto match = std::find_if(run.begin(), run.end(), [&](const Line& line) {
      return mismatch(line, *received).empty();
    });
    if (match == run.end()) {
      written.push_back("< " + *received);
    } else {
      written.push_back(match->source);
      run.erase(match);
    }
  }
}

}  // namespace

std::string replay(const std::vector<Line>& transcript, Endpoint& server) {
  for (std::size_t i = 0; i < transcript.size();) {
    const std::size_t end = end_of_run(transcript, i);
    const std::string fault =
        end > i ? replay_run(transcript, i, end, server) : replay_line(transcript[i], server);
    if (!fault.empty()) return "line " + std::to_string(i + 1) + ": " + fault;
    i = std::max(end, i + 1);
  }
  const std::string fault = server.finish(kPatience);
  return fault.empty() ? "" : "at the end: " + fault;
}

std::string rewrite(const std::vector<Line>& transcript, Endpoint& server) {
  std::string text;
  const auto write_run = [&](std::vector<Line> run) {
    for (const std::string& line : rewritten_run(std::move(run), server)) text += line + '\n';
  };
  for (std::size_t i = 0; i < transcript.size();) {
    std::vector<Line> run;
    while (i < transcript.size() && expects(transcript[i])) run.push_back(transcript[i++]);
    if (!run.empty()) {
      write_run(std::move(run));
      continue;
    }
    const Line& line = transcript[i++];
    act(line, server);
    text += line.source + '\n';
    // Prose after a sent line: its answers belong before it.
    const bool more = i < transcript.size() && transcript[i].kind != Line::Kind::prose;
    if (line.kind == Line::Kind::send && !more) write_run({});
  }
  return text;
}

}  // namespace assay::transcripts
