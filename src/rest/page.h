// The page for people: a few files, embedded byte for byte, that hold no data. Its script asks the
// REST interface for that, with the token that the person gives it. Any thread.
#pragma once

#include <string>

#include "rest/answers.h"

namespace assay::rest {

// "/", "/page.js", "/page.css", "/icon.svg".
[[nodiscard]] HttpAnswer page_file(const std::string& path);

}  // namespace assay::rest
