// The state directory as a place: private to its owner, on a local or a network file system,
// entered by one starting server at a time. Any thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/posix/descriptor.h"

namespace assay::journal {

using Log = std::function<void(const std::string&)>;

// Creates the folder (0700) with its parents, or closes one of ours that is open to others, with a
// word in the log. Throws std::runtime_error for another user's that is open to others: whoever can
// write there decides what we read. Throws JournalUnavailable if the file system refuses.
void make_private(const std::filesystem::path& folder, const Log& log);

// Where one host cannot see another's shared memory, so WAL would corrupt the database.
[[nodiscard]] bool is_network_file_system(const std::filesystem::path& folder);

// Locks `file` against other servers until the descriptor is closed. Throws JournalUnavailable
// (busy) at the timeout.
[[nodiscard]] posix::Descriptor lock_file(const std::filesystem::path& file,
                                          std::chrono::milliseconds timeout);

void sync_folder(const std::filesystem::path& folder);

}  // namespace assay::journal
