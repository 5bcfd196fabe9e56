#include "plans/scenarios/command_trace.h"

#include <algorithm>
#include <fstream>

#include "plans/scenarios/audit.h"
#include "plans/scenarios/shell_command.h"
#include "plans/text_file.h"

namespace assay::scenarios {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStartFile = "trace.sh";
constexpr const char* kTraceFile = "commands";
constexpr std::size_t kMaxTraceBytes = 64U << 20;
constexpr std::string_view kBegun = "begun";
constexpr std::string_view kScriptMark = "script\n";  // the text of one for another shell follows

// A DEBUG trap, as `set -x` would go to where the script's own does. Variables are put in where
// that runs nothing; "$@" stays, as what a wrapper is given was noted when it was called. A
// substitution is cut off, as its commands are traced themselves. `$_` stays what it is, which is
// why it is handed over last.
constexpr const char* kScript = R"(assay_trace=${BASH_ENV%/*}/commands
printf 'begun\0' >> "$assay_trace"
assay_note() {
  local said=$BASH_COMMAND
  set -- "${@:1:$#-1}"
  [ "${said%%[[:space:]]*}" = "${FUNCNAME[1]-}" ] && return 0
  said=${said%%'$('*}
  said=${said%%'`'*}
  case $said in
    *['(;|&<>']* | *'$'[@*#]* | *'${'[@*#]*) ;;
    *'$'*) said=$(eval "printf '%q ' $said") || said=$BASH_COMMAND ;;
  esac
  printf '%s\0' "$said" >> "$assay_trace"
  said=${said%%['(;|&<>']*}
  case $said in
    *'$'*) ;;
    sh[[:space:]]* | dash[[:space:]]* | ash[[:space:]]* | */*) eval "assay_note_script $said" ;;
  esac
}
assay_note_script() {
  case ${1##*/} in
    sh | dash | ash)
      shift
      while [ "${1#-}" != "${1-}" ] && [ "$1" != -c ]; do shift; done
      [ "${1-}" != -c ] || return 0
      ;;
    *)
      local first
      [ -f "$1" ] && read -r first < "$1" || return 0
      case $first in '#!'*bash*) return 0 ;; '#!'*sh*) ;; *) return 0 ;; esac
      ;;
  esac
  [ -f "${1-}" ] || return 0
  { printf 'script\n'; head -c 65536 "$1" | tr -d '\0'; printf '\0'; } >> "$assay_trace"
}
set -o functrace
trap '{ assay_note "$@" "$_" || :; } 2>/dev/null' DEBUG
)";

// Its own trace holds what it runs.
bool is_of_bash(const std::string& command) {
  const std::string program = program_name(command.substr(0, command.find_first_of(" \t\n")));
  return program == "bash" || program == "source" || program == ".";
}

}  // namespace

CommandTrace::CommandTrace(fs::path folder) : folder_(std::move(folder)) {
  plans::write_text(folder_ / kStartFile, kScript);
  plans::write_text(folder_ / kTraceFile, "");
  fs::permissions(folder_, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  fs::permissions(folder_ / kStartFile, fs::perms::owner_all | fs::perms::others_read);
  fs::permissions(folder_ / kTraceFile, fs::perms::owner_read | fs::perms::owner_write |
                                            fs::perms::others_read | fs::perms::others_write);
}

std::string CommandTrace::start_file(const fs::path& inside) {
  return (inside / kStartFile).string();
}

CommandTrace::Seen CommandTrace::read() const {
  std::ifstream stream(folder_ / kTraceFile, std::ios::binary);
  std::string text(kMaxTraceBytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  Seen seen;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    std::string command = text.substr(at, end - at);
    at = end + 1;
    if (command == kBegun)
      seen.in_force = true;
    else
      seen.commands.push_back(std::move(command));
  }
  return seen;
}

std::size_t compiles_among(const std::vector<std::string>& commands, const Subject& subject) {
  std::size_t compiles = 0;
  for (const auto& command : commands) {
    if (is_of_bash(command)) continue;
    const auto findings = audit_script(command, "", subject);
    const auto found = static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(),
                      [](const Finding& one) { return one.kind == "compile"; }));
    // Of a script that another shell runs each line is taken for executed once.
    compiles += command.starts_with(kScriptMark) ? found : std::min<std::size_t>(found, 1);
  }
  return compiles;
}

}  // namespace assay::scenarios
