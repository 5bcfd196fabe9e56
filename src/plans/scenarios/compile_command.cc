#include "plans/scenarios/compile_command.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace assay::scenarios {
namespace {

using Words = std::vector<ShellWord>;

std::string folded(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    const bool is_joint = letter == '_' || letter == '.';
    out += is_joint ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return out;
}

bool is_letter(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

template <std::size_t kCount>
bool is_one_of(const std::string& word, const std::array<const char*, kCount>& known) {
  return std::any_of(known.begin(), known.end(), [&](const char* one) { return word == one; });
}

bool ends_as_archive(const std::string& word) {
  return word.ends_with(".tar.gz") || word.ends_with(".zip") || word.ends_with(".tar.bz2");
}

// "./x[dev]", "x.whl#sha256=…" without what comes behind the path.
std::string path_of(const std::string& word) { return word.substr(0, word.find_first_of("[#")); }

enum class Source { index, folder, wheel };

Source source_of(const std::string& word) {
  const std::string path = path_of(word);
  if (path.ends_with(".whl")) return Source::wheel;
  for (const char* system : {"git+", "hg+", "svn+", "bzr+", "file:"}) {
    if (path.find(system) != std::string::npos) return Source::folder;
  }
  const bool is_path = path.starts_with('.') || path.starts_with('/') || path.starts_with('~') ||
                       path.find('/') != std::string::npos || ends_as_archive(path);
  const bool is_page = path.find("://") != std::string::npos && !ends_as_archive(path);
  return is_path && !is_page ? Source::folder : Source::index;
}

// Whether a source that is no wheel may be the package that counts.
bool may_be(const std::string& word, const std::string& target) {
  if (target.empty() || word.find('$') != std::string::npos) return true;
  const std::string path = path_of(word);
  return path.find_first_not_of("./") == std::string::npos || names_package(word, target);
}

// pip's options that take the next word.
bool takes_a_value(const std::string& word) {
  constexpr std::array<const char*, 26> kOptions{"-r",
                                                 "--requirement",
                                                 "-c",
                                                 "--constraint",
                                                 "-i",
                                                 "--index-url",
                                                 "--extra-index-url",
                                                 "-f",
                                                 "--find-links",
                                                 "-t",
                                                 "--target",
                                                 "--prefix",
                                                 "--root",
                                                 "--python",
                                                 "--cache-dir",
                                                 "-C",
                                                 "--config-settings",
                                                 "--timeout",
                                                 "--retries",
                                                 "--src",
                                                 "--platform",
                                                 "-w",
                                                 "--wheel-dir",
                                                 "--trusted-host",
                                                 "--only-binary",
                                                 "--python-version"};
  return is_one_of(word, kOptions);
}

// The arguments of one `pip install` or `pip wheel`.
class PipReader {
 public:
  PipReader(const Words& words, std::size_t first, const std::string& target)
      : words_(words), at_(first), target_(target) {}

  PackageInstall run() {
    for (; at_ < words_.size(); ++at_) take(words_[at_].text);
    if (wants_index_target_) (built_ ? install_.compiles : install_.takes_a_wheel) = true;
    return install_;
  }

 private:
  void take(const std::string& word) {
    if (word == "-e" || word == "--editable") {
      if (++at_ < words_.size()) editable(words_[at_].text);
    } else if (word.starts_with("--editable=")) {
      editable(word.substr(11));
    } else if (word.starts_with("-e") && word.size() > 2) {
      editable(word.substr(2));
    } else if (word.starts_with("--no-binary")) {
      no_binary(word);
    } else if (takes_a_value(word)) {
      ++at_;
    } else if (!word.starts_with('-') && word.find_first_of("<>") != 0) {
      positional(word);
    }
  }

  void editable(const std::string& source) {
    if (may_be(source, target_)) install_.compiles = true;
  }

  void no_binary(const std::string& word) {
    const bool is_joined = word.size() > 11 && word[11] == '=';
    const std::string names = is_joined               ? word.substr(12)
                              : ++at_ < words_.size() ? words_[at_].text
                                                      : std::string();
    if (names == ":all:" || (!target_.empty() && names_package(names, target_))) built_ = true;
  }

  void positional(const std::string& word) {
    const Source source = source_of(word);
    const bool is_named = !target_.empty() && names_package(word, target_);
    if (source == Source::folder && may_be(word, target_)) install_.compiles = true;
    // One that is downloaded by its address comes from where it was made; one that lies here not.
    if (source == Source::wheel && (is_named || word.find("://") == std::string::npos))
      install_.takes_a_wheel = true;
    if (source == Source::index && is_named) wants_index_target_ = true;
  }

  const Words& words_;
  std::size_t at_;
  const std::string& target_;
  PackageInstall install_{};
  bool wants_index_target_ = false;
  bool built_ = false;  // --no-binary
};

std::optional<PackageInstall> by_pip(const Words& words, std::size_t at,
                                     const std::string& target) {
  const std::string program = program_name(words[at].text);
  const bool is_pip =
      program == "pip" || (program.starts_with("pip3") &&
                           program.find_first_not_of("0123456789.", 3) == std::string::npos);
  if (!is_pip) return std::nullopt;
  // "apt-get install pip wheel" runs no pip.
  const bool is_package =
      std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at),
                  [](const ShellWord& one) { return one.text == "install" || one.text == "add"; });
  if (is_package) return std::nullopt;
  std::size_t verb = at + 1;
  while (verb < words.size() && words[verb].text.starts_with('-'))
    verb += takes_a_value(words[verb].text) ? 2 : 1;
  if (verb >= words.size()) return std::nullopt;
  if (words[verb].text != "install" && words[verb].text != "wheel") return std::nullopt;
  PackageInstall install = PipReader(words, verb + 1, target).run();
  install.offset = words[at].offset;
  install.keeps_wheels = words[verb].text == "wheel" && !install.compiles;
  return install;
}

std::optional<PackageInstall> by_setup(const Words& words, std::size_t at,
                                       const std::string& target) {
  if (program_name(words[at].text) != "setup.py") return std::nullopt;
  const std::string& script = words[at].text;
  const bool counts = may_be(script.substr(0, script.size() - 8), target);
  for (std::size_t i = at + 1; i < words.size() && counts; ++i) {
    const std::string& word = words[i].text;
    if (word == "install" || word == "develop" || word == "bdist_wheel" || word == "bdist" ||
        word.starts_with("build"))
      return PackageInstall{.offset = words[at].offset, .compiles = true};
  }
  return std::nullopt;
}

// "python -m build X", "uv build X", "poetry install", …: the word of `at` and the next.
bool is_builder(const std::string& program, const std::string& verb) {
  if (program == "-m") return verb == "build";
  if (program == "uv") return verb == "build" || verb == "sync";
  if (program == "hatch" || program == "pdm") return verb == "build";
  if (program == "maturin") return verb == "build" || verb == "develop";
  if (program == "poetry" || program == "flit") return verb == "build" || verb == "install";
  return false;
}

std::optional<PackageInstall> by_builder(const Words& words, std::size_t at,
                                         const std::string& target) {
  const std::string program = program_name(words[at].text);
  const bool stands_alone = program == "pyproject-build";
  const bool is_two = at + 1 < words.size() && is_builder(program, words[at + 1].text);
  if (!stands_alone && !is_two) return std::nullopt;
  std::string source = ".";
  bool only_source = false;
  for (std::size_t i = at + (stands_alone ? 1 : 2); i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (word == "--sdist" || word == "-s") only_source = true;
    if (word == "--wheel" || word == "-w") only_source = false;
    if (word == "--outdir" || word == "-o" || word == "--out-dir") ++i;
    if (!word.starts_with('-')) source = word;
  }
  if (only_source || !may_be(source, target)) return std::nullopt;
  return PackageInstall{.offset = words[at].offset, .compiles = true};
}

}  // namespace

bool names_package(const std::string& text, const std::string& package) {
  const std::string in = folded(text);
  const std::string name = folded(package);
  if (name.empty()) return false;
  for (std::size_t at = in.find(name); at != std::string::npos; at = in.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || (!is_letter(in[at - 1]) && in[at - 1] != '-');
    // "x-1.0" and "x.git" are of x, "x-stubs" is another package.
    const bool goes_on = end + 1 < in.size() && in[end] == '-' && std::isdigit(in[end + 1]) == 0 &&
                         is_letter(in[end + 1]) && text[end] != '.';
    const bool ends = end == in.size() || (!is_letter(in[end]) && !goes_on);
    if (begins && ends) return true;
  }
  return false;
}

std::optional<PackageInstall> package_install(const ShellCommand& command,
                                              const std::string& target) {
  for (std::size_t at = 0; at < command.words.size(); ++at) {
    for (const auto& reader : {by_pip, by_setup, by_builder}) {
      if (auto install = reader(command.words, at, target)) return install;
    }
  }
  return std::nullopt;
}

}  // namespace assay::scenarios
