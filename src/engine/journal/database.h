// SQLite as resource types: a connection, a statement, a transaction, each with one cleanup. Used
// by one thread at a time; the Store's mutexes see to it. Every failure is JournalUnavailable (the
// storage) or std::logic_error (our SQL).
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace assay::journal {

class Database {
 public:
  Database(const std::filesystem::path& file, std::chrono::milliseconds busy_timeout);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // One or more statements without results that matter.
  void execute(const char* sql) const;
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] bool in_transaction() const;
  // Writes what the open transaction has changed so far: it takes its place on the disk, committed
  // or not.
  void flush() const;
  // Whether commits wait for the disk, as they do at first, or leave that to the next that does.
  // Not within a transaction.
  void wait_for_disk(bool wait);
  // True, once: a wait for the disk has failed since this was last asked.
  [[nodiscard]] bool take_failed_sync() const { return std::exchange(failed_sync_, false); }
  // Throws unless the result is OK, ROW or DONE; `what` begins the message.
  void check(int result, std::string_view what) const;

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const { ::sqlite3_close(handle); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { ::sqlite3_finalize(handle); }
  };
  using Handle = std::unique_ptr<sqlite3_stmt, Finalize>;

  std::unique_ptr<sqlite3, Close> handle_{};
  std::optional<bool> waits_for_disk_{};  // as was said last
  mutable bool failed_sync_ = false;
  // Compiled statements not in use, by their text. Declared last: finalized before the close.
  mutable std::unordered_map<std::string, Handle> idle_{};
};

// One execution of one statement: bind in order, then step. Compiled on first use, then kept by its
// connection.
class Statement {
 public:
  Statement(const Database& database, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::string_view text);  // the text must outlive the statement
  Statement& bind(std::string&& text) = delete;
  Statement& bind(const char* text) { return bind(std::string_view(text)); }
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind_null();
  // True: a row is there.
  [[nodiscard]] bool step();
  void run() {
    while (step()) {
    }
  }

  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  const Database& database_;
  const char* sql_;
  Database::Handle handle_{};
  int bound_ = 0;
};

// BEGIN IMMEDIATE; rolls back unless commit() was reached.
class Transaction {
 public:
  explicit Transaction(const Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  const Database& database_;
};

}  // namespace assay::journal
