// transcripts [--update] [--http|--sse] FILE… [-- COMMAND ARG…]
//
// Replays transcripts against COMMAND, one process per file, or without one against a server in
// this process that has the made-up tools of tests/mcp. Prints one line per file; exit status 1 if
// one failed. With --http each line is a POST, with --sse (COMMAND only) answers come on a stream;
// COMMAND says on stderr where it listens. With --update the files are rewritten to say what the
// server says.
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tests/mcp/fake_tools.h"
#include "tests/transcripts/http_endpoint.h"
#include "tests/transcripts/pipe_endpoint.h"
#include "tests/transcripts/replay.h"
#include "tests/transcripts/sse_endpoint.h"

namespace {

using namespace assay;

struct Options {
  bool update = false;
  bool http = false;
  bool sse = false;
  std::vector<std::string> files{};
  std::vector<std::string> command{};
};

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") {
      options.command.assign(argv + i + 1, argv + argc);
      break;
    }
    if (word == "--update")
      options.update = true;
    else if (word == "--http")
      options.http = true;
    else if (word == "--sse")
      options.sse = true;
    else
      options.files.push_back(word);
  }
  return options;
}

template <class Endpoint>
std::unique_ptr<transcripts::Endpoint> connect(const std::vector<std::string>& command) {
  if (!command.empty()) return std::make_unique<Endpoint>(command);
  return std::make_unique<Endpoint>(mcp::ServerConfig{
      .version = "1.2.3", .instructions = "Try echo first.", .tools = mcp::fake_tools()});
}

std::unique_ptr<transcripts::Endpoint> connect(const Options& options) {
  if (options.sse) return std::make_unique<transcripts::SseEndpoint>(options.command);
  return options.http ? connect<transcripts::HttpEndpoint>(options.command)
                      : connect<transcripts::PipeEndpoint>(options.command);
}

bool play(const std::string& file, const Options& options) {
  const auto transcript = transcripts::read_transcript(file);
  const auto server = connect(options);
  if (options.update) {
    const std::string text = transcripts::rewrite(transcript, *server);
    std::ofstream(file) << text;
    std::cout << "written  " << file << '\n';
    return true;
  }
  const std::string fault = transcripts::replay(transcript, *server);
  std::cout << (fault.empty() ? "ok       " : "FAILED   ") << file << '\n';
  if (!fault.empty()) std::cout << "  " << fault << '\n';
  return fault.empty();
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  if (options.files.empty() || (options.sse && options.command.empty())) {
    std::cerr << "usage: transcripts [--update] [--http|--sse] FILE… [-- COMMAND ARG…]\n";
    return 2;
  }
  bool all_well = true;
  for (const std::string& file : options.files) {
    try {
      all_well &= play(file, options);
    } catch (const std::exception& fault) {
      std::cerr << file << ": " << fault.what() << '\n';
      all_well = false;
    }
  }
  return all_well ? 0 : 1;
}
