#include "engine/journal/database.h"

#include <cerrno>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "engine/journal/unavailable.h"

namespace assay::journal {
namespace {

using Why = JournalUnavailable::Why;

// nullopt: not the storage's doing, so ours.
std::optional<Why> storage_failure(int result, int error) {
  switch (result & 0xff) {
    case SQLITE_FULL:
      return Why::disk_full;
    case SQLITE_IOERR:
      // Quotas, limits on file sizes and the shared-memory file of WAL report a full disk this way.
      if (error == ENOSPC || error == EDQUOT || error == EFBIG) return Why::disk_full;
      return (result == SQLITE_IOERR_CORRUPTFS || result == SQLITE_IOERR_DATA) ? Why::damaged
                                                                               : Why::io_error;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Why::read_only;
    case SQLITE_CANTOPEN:
      return (error == EROFS || error == EACCES) ? Why::read_only : Why::io_error;
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return Why::io_error;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return Why::busy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Why::damaged;
    default:
      return std::nullopt;
  }
}

}  // namespace

Database::Database(const std::filesystem::path& file, std::chrono::milliseconds busy_timeout) {
  sqlite3* handle = nullptr;
  // Our own mutexes serialise the use of a connection.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                    SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
  errno = 0;
  const int opened = ::sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);  // closed also when it could not be opened
  if (handle == nullptr) throw JournalUnavailable(Why::io_error, "out of memory");
  check(opened, "open " + file.string());
  ::sqlite3_busy_timeout(handle, static_cast<int>(busy_timeout.count()));
  // A damaged schema must not run code of its choosing.
  ::sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  ::sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

void Database::check(int result, std::string_view what) const {
  // Of the system call that failed, if one did: sqlite3_system_errno() is not set by every step.
  const int error = errno;
  if (result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE) return;
  if (result == SQLITE_IOERR_FSYNC) failed_sync_ = true;
  // Some calls return an error without leaving it at the connection.
  const bool is_kept = ::sqlite3_extended_errcode(handle_.get()) != SQLITE_OK;
  std::string message = "journal: " + std::string(what) + ": " +
                        (is_kept ? ::sqlite3_errmsg(handle_.get()) : ::sqlite3_errstr(result));
  const auto why = storage_failure(result, error);
  if (!why) throw std::logic_error(message);
  const bool from_kernel = (result & 0xff) == SQLITE_IOERR || (result & 0xff) == SQLITE_CANTOPEN;
  if (from_kernel && error != 0) message += " (" + std::generic_category().message(error) + ")";
  throw JournalUnavailable(*why, message);
}

void Database::execute(const char* sql) const {
  errno = 0;
  check(::sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr), sql);
}

void Database::wait_for_disk(bool wait) {
  if (waits_for_disk_ == wait) return;
  waits_for_disk_.reset();
  execute(wait ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  waits_for_disk_ = wait;
}

std::int64_t Database::changes() const { return ::sqlite3_changes64(handle_.get()); }

bool Database::in_transaction() const { return ::sqlite3_get_autocommit(handle_.get()) == 0; }

Statement::Statement(const Database& database, const char* sql) : database_(database), sql_(sql) {
  // Taken out while in use, so that the same text may be stepped twice at once.
  if (auto kept = database_.idle_.extract(sql)) {
    handle_ = std::move(kept.mapped());
    return;
  }
  sqlite3_stmt* handle = nullptr;
  errno = 0;
  database_.check(::sqlite3_prepare_v3(database_.handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT,
                                       &handle, nullptr),
                  sql);
  handle_.reset(handle);
}

Statement::~Statement() {
  ::sqlite3_reset(handle_.get());
  ::sqlite3_clear_bindings(handle_.get());
  try {
    database_.idle_.insert_or_assign(sql_, std::move(handle_));
  } catch (const std::bad_alloc&) {
    handle_.reset();  // compiled again next time
  }
}

Statement& Statement::bind(std::string_view text) {
  database_.check(::sqlite3_bind_text64(handle_.get(), ++bound_, text.data(), text.size(),
                                        SQLITE_STATIC, SQLITE_UTF8),
                  "bind");
  return *this;
}

Statement& Statement::bind(std::int64_t value) {
  database_.check(::sqlite3_bind_int64(handle_.get(), ++bound_, value), "bind");
  return *this;
}

Statement& Statement::bind(double value) {
  database_.check(::sqlite3_bind_double(handle_.get(), ++bound_, value), "bind");
  return *this;
}

Statement& Statement::bind_null() {
  database_.check(::sqlite3_bind_null(handle_.get(), ++bound_), "bind");
  return *this;
}

bool Statement::step() {
  errno = 0;
  const int result = ::sqlite3_step(handle_.get());
  database_.check(result, sql_);
  return result == SQLITE_ROW;
}

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(::sqlite3_column_text(handle_.get(), column));
  const auto bytes = static_cast<std::size_t>(::sqlite3_column_bytes(handle_.get(), column));
  return text != nullptr ? std::string(text, bytes) : std::string();
}

std::int64_t Statement::integer(int column) const {
  return ::sqlite3_column_int64(handle_.get(), column);
}

double Statement::real(int column) const { return ::sqlite3_column_double(handle_.get(), column); }

bool Statement::is_null(int column) const {
  return ::sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

void Database::flush() const { check(::sqlite3_db_cacheflush(handle_.get()), "flush"); }

Transaction::Transaction(const Database& database) : database_(database) {
  Statement(database_, "BEGIN IMMEDIATE").run();
}

Transaction::~Transaction() {
  // After some failures SQLite has rolled back by itself; then there is nothing to undo.
  if (!database_.in_transaction()) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const std::exception&) {
    // The connection rolls back when it next begins or closes; there is no more to do here.
  }
}

void Transaction::commit() { Statement(database_, "COMMIT").run(); }

}  // namespace assay::journal
