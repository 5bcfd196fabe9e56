// A conversation with an MCP server as a file that people read and a test replays.
//
//   # prose; also blank lines
//   > {"jsonrpc":"2.0","id":1,"method":"ping"}   sent, followed by a line feed
//   >\ {"id":\xFF\0}                             sent with \xHH \0 \r \t \\ decoded: bytes that no
//                                                text file holds
//   < {"jsonrpc":"2.0","id":1,"result":{}}       the next message must be this one
//   <~ {…}                                       consecutive <~ lines: these, in any order
//   = eof                                        closes the server's input
//   = silence 100ms                              nothing may be received for that long
//   = wait 100ms                                 lets time pass
//
// When the file ends the input is closed, and the server must end without another word.
// Expected messages are compared as JSON. In place of a value: "<any>", "<string>", "<number>",
// "<uuid>"; the member "...": "<any>" lets an object have further members, and the item "..." at
// the end of an array further items. The order of members counts for nothing.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "mcp/json.h"

namespace assay::transcripts {

struct Line {
  enum class Kind { prose, send, expect, expect_any_order, eof, silence, wait };
  Kind kind = Kind::prose;
  std::string source{};   // the line as it stands in the file
  std::string payload{};  // the bytes to send; the text expected
  std::chrono::milliseconds time{0};
};

// Throws std::runtime_error, naming the line, on what is no transcript.
[[nodiscard]] std::vector<Line> parse_transcript(const std::string& text);
[[nodiscard]] std::vector<Line> read_transcript(const std::filesystem::path& file);

// Empty: `actual` is what `expected` asks for. Otherwise where and how they differ.
[[nodiscard]] std::string difference(const mcp::OrderedJson& expected,
                                     const mcp::OrderedJson& actual);

}  // namespace assay::transcripts
