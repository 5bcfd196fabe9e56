// Plays a transcript against a server. Either checks it, or writes down what the server says.
#pragma once

#include <string>
#include <vector>

#include "tests/transcripts/endpoint.h"
#include "tests/transcripts/transcript.h"

namespace assay::transcripts {

// Empty: the server said what the transcript says. Otherwise the first thing that is not so.
[[nodiscard]] std::string replay(const std::vector<Line>& transcript, Endpoint& server);

// The transcript with every expectation that does not hold replaced by what the server says. An
// expectation that holds stays as it is, placeholders and all.
[[nodiscard]] std::string rewrite(const std::vector<Line>& transcript, Endpoint& server);

}  // namespace assay::transcripts
