// The tables, as a list of migrations: version n is what the first n of them make. A released
// migration is never edited; a change is a new one at the end.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "engine/journal/database.h"

namespace assay::journal {

// Written by a newer version of Assay; reading it with this one would lose what it cannot see.
struct SchemaTooNew : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[nodiscard]] std::int64_t schema_version();

// Brings an empty or older file up to schema_version(). Throws SchemaTooNew, and JournalUnavailable
// (damaged) for an SQLite file that holds something else.
void migrate(const Database& database);

}  // namespace assay::journal
