#include <algorithm>
#include <sstream>

#include "plans/scenarios/audit.h"
#include "plans/scenarios/compile_command.h"
#include "tests/catch.h"

using assay::scenarios::audit_devcontainer;
using assay::scenarios::audit_dockerfile;
using assay::scenarios::audit_log;
using assay::scenarios::audit_script;
using assay::scenarios::commands_of;
using assay::scenarios::Finding;
using assay::scenarios::Joined;
using assay::scenarios::names_package;
using assay::scenarios::Subject;
using assay::scenarios::subject_from;
using nlohmann::json;

namespace {

Subject of_xformers() { return subject_from({{"compile", {{"target", "xformers"}}}}); }

// "compile:3 cache_mount:5", in the order of lines.
std::string told(std::vector<Finding> findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.line < b.line; });
  std::string text;
  for (const auto& one : findings)
    text += (text.empty() ? "" : " ") + one.kind + ":" + std::to_string(one.line);
  return text;
}

struct Row {
  const char* text;
  const char* expected;
};

}  // namespace

TEST_CASE("Dockerfiles: every cache, builder image and compile at its own line, and no other") {
  const std::vector<Row> rows{
      // Good ones.
      {"FROM ubuntu\nRUN apt-get update && apt-get install -y git pip wheel\n", ""},
      {"FROM a AS one\nFROM one\nCOPY --from=one /x /y\nCOPY --from=0 /x /y\n", ""},
      {"FROM a AS Builder\nFROM b\nCOPY --from=builder /x /y\n", ""},
      {"FROM a AS xformers-builder\nFROM b\nCOPY --from=xformers-builder /x /y\n", ""},
      {"FROM a\nRUN pip install --no-cache-dir torch triton --index-url https://x/whl/cu128\n", ""},
      {"FROM a\nRUN pip install -e ./flash-attn xformers-stubs\n", ""},
      {"FROM a\n# RUN pip install -e xformers\nRUN true # pip install -e xformers\n", ""},
      {"FROM a\nRUN echo 'pip install -e xformers' > /hint\n", ""},
      {"FROM a\nRUN <<EOF python3\nimport os; pip install -e xformers\nEOF\n", ""},
      {"FROM a\nRUN python3 <<EOF\n'pip install -e xformers'\nEOF\nRUN true\n", ""},
      {"FROM a\nCOPY <<EOF /hint.txt\npip install -e xformers\nEOF\n", ""},
      {"FROM a\nCMD pip install -e xformers\n", ""},
      // Compiles, each at the line on which pip stands.
      {"FROM a\nRUN pip install -e xformers\n", "compile:2"},
      {"FROM a\nRUN apt-get update \\\n # a comment\n\n && FORCE_CUDA=1 \\\n pip install -e .\n",
       "compile:6"},
      {"from a\nrun pip install -e . && python3 -m pip install ./xformers\n",
       "compile:2 compile:2"},
      {"FROM a\nRUN <<EOF\napt-get update\npip install \\\n  -e xformers\nEOF\nRUN true\n",
       "compile:4"},
      {"FROM a\nRUN <<-'END' bash -e\n\tset -x\n\tpip install -e xformers\n\tEND\nRUN pip install "
       ".\n",
       "compile:4 compile:6"},
      {"FROM a\nRUN bash <<EOF\npip install -e xformers\nEOF\n", "compile:3"},
      {"FROM a\nCOPY <<EOF /post.sh\npip install -e xformers\nEOF\nRUN sh /post.sh\n", "compile:3"},
      {"FROM a\nRUN bash -lc \"cd /x && \\\n pip install -e xformers\"\n", "compile:3"},
      {"FROM a\nRUN [\"pip\", \"install\", \"-e\", \"/src/xformers\"]\n", "compile:2"},
      {"FROM a\nRUN [\"bash\", \"-c\", \"pip install -e . ; pip install -e .\"]\n",
       "compile:2 compile:2"},
      {"FROM a\nONBUILD RUN pip install git+https://host/u/xformers.git@main\n", "compile:2"},
      {"FROM a\nRUN uv pip install 'xformers @ git+https://host/u/xformers'\n", "compile:2"},
      {"FROM a\nRUN pip3.11 install --no-binary xformers xformers==0.0.28\n", "compile:2"},
      {"FROM a\nRUN pip install https://host/xformers-0.0.28.tar.gz\n", "compile:2"},
      {"FROM a\nRUN cd xformers && python setup.py bdist_wheel\n", "compile:2"},
      {"FROM a\nRUN python -m build --wheel ./xformers && pip wheel ./xformers\n",
       "compile:2 compile:2"},
      {"FROM a\nRUN python -m build --sdist ./xformers; python -m build ./other\n", ""},
      {"# escape=`\nFROM a\nRUN echo a `\n && pip install -e .\n", "compile:4"},
      {"\xEF\xBB\xBF"
       "FROM xformers-builder\r\nRUN pip install -e .\r\n",
       "builder_image:1 compile:2"},
      // Caches and what was built elsewhere.
      {"FROM a\nRUN --mount=target=/c,type=cache \\\n true\n", "cache_mount:2"},
      {"FROM a\nRUN true \\\n && pip download torch\n", "prefetch:3"},
      {"FROM a\nRUN pip wheel -w /wheels torch\n", "prefetch:2"},
      {"FROM a\nRUN pip install -f /wheels torch\n", "prefetch:2"},
      {"FROM a\nRUN curl -O https://host/torch.whl\n", "prefetch:2"},
      {"FROM a\nRUN pip install xformers\n", "prebuilt_wheel:2"},
      {"FROM a\nRUN pip install /tmp/torch-2.0-cp311.whl\n", "prebuilt_wheel:2"},
      {"FROM a\nCOPY wheels/torch.whl /tmp/\n", "prebuilt_wheel:2"},
      {"FROM a\nRUN CC='ccache gcc' make\nENV CCACHE_DIR=/c\n",
       "compiler_cache:2 compiler_cache:3"},
      {"FROM a\nARG OTHER=someone/wheels\nCOPY --from=${OTHER} /x /y\n", "copy_from_image:3"},
      {"FROM a\nCOPY --link \\\n --from=xformers-builder:1 /x /y\n", "builder_image:3"},
      {"FROM a\nRUN docker build --build-arg BUILDKIT_INLINE_CACHE=1 \\\n --cache-from x .\n",
       "cache_to:2 cache_from:3"},
      {"FROM a\nRUN 'unclosed && pip install -e .\n", "compile:2"},
      {"FROM a\nRUN cat <<NEVER\npip install -e .\n", ""},
      {"", ""},
      {"\\\n\\\n", ""},
  };
  for (const auto& row : rows) {
    INFO(row.text);
    CHECK(told(audit_dockerfile(row.text, "Dockerfile", of_xformers())) == row.expected);
  }
}

TEST_CASE("scripts: what is run counts, what is printed or written down does not") {
  const std::vector<Row> rows{
      {"#!/bin/bash\nset -e\ngit clone --recurse-submodules \"$URL\" xformers\n", ""},
      {"FORCE_CUDA=1 \\\n  python3 -m pip install --no-deps \\\n  -e \"${XFORMERS_PATH}\"\n",
       "compile:2"},
      {"if true; then pip install -e .; else echo pip install -e .; fi\n", "compile:1"},
      {"(cd xformers && pip install .) || exit 1\n", "compile:1"},
      {"cat > notes.txt <<EOF\npip install -e .\nEOF\npip install -e .\n", "compile:4"},
      {"cat > do.sh <<'EOF'\npip install -e .\nEOF\nbash do.sh\n", "compile:2"},
      {"docker exec -i c bash <<EOF\npip install -e .\nEOF\n", "compile:2"},
      {"echo $((1<<2)) <<< x\npip install -e .\n", "compile:2"},
      {"echo \"<<EOF\"\npip install -e .\n", "compile:2"},
      {"echo a \\\n# comment\npip install -e .\n", "compile:3"},
      {"x=$(pip install -e .)\n", "compile:1"},
      {"make 2>&1 | tee log & pip install -e xformers &> log\n", "compile:1"},
      {"uv sync\npoetry install\n", "compile:1 compile:2"},
      {"docker image rm -f xformers-builder || true\ndocker pull \\\n xformers-builder\n",
       "builder_image:3"},
      {"echo no xformers-builder here\n", ""},
      {"read -r -p 'Name: ' NAME\nread LINE < file\n", "prompt:1"},
      {"devcontainer up --cache-from ghcr.io/x\n", "cache_from:1"},
  };
  for (const auto& row : rows) {
    INFO(row.text);
    CHECK(told(audit_script(row.text, "post.sh", of_xformers())) == row.expected);
  }
}

TEST_CASE("devcontainers: mounts, features and settings that bring caches; all forms of commands") {
  const std::vector<Row> rows{
      {R"({"build": {"dockerfile": "Dockerfile"}, "mounts": ["source=home,target=/home/v,type=volume"]})",
       ""},
      {"{\n\"mounts\": [\n\"source=x,target=/cache-of-pip/.cache/pip,type=volume\",\n"
       "{\"source\": \"ccache\", \"target\": \"/c\", \"type\": \"volume\"}]}",
       "cache_mount:3 cache_mount:4"},
      {"{\n\"runArgs\": [\"--gpus\", \"all\",\n\"-v\", "
       "\"pipcache:/x\",\n\"--mount=source=wheels,target=/w\"]}",
       "cache_mount:3 cache_mount:4"},
      {"{\"features\": {\n\"ghcr.io/devcontainers/features/git:1\": {},\n\"ghcr.io/x/ccache:1\": "
       "{}}}",
       "compiler_cache:3"},
      {"{\"containerEnv\": {\n\"CMAKE_CUDA_COMPILER_LAUNCHER\": \"sccache\"},\n"
       "\"build\": {\"args\": {\"A\": 1,\n\"BUILDKIT_INLINE_CACHE\": \"1\"},\n"
       "\"options\": [\"--cache-to=x\"]}}",
       "compiler_cache:2 cache_to:4 cache_to:5"},
      {R"({"postCreateCommand": "pip install -e a/xformers && cd x; pip install -e ."})",
       "compile:1 compile:1"},
      {R"({"postCreateCommand": ["pip", "install", "-e", "."]})", "compile:1"},
      {R"({"onCreateCommand": ["bash", "-c", "pip install -e . && pip install ."]})",
       "compile:1 compile:1"},
      {"{\"postCreateCommand\": {\n\"a\": \"pip install -e .\",\n\"b\": [\"pip\", \"install\", "
       "\".\"]}}",
       "compile:2 compile:3"},
      {"{\n\"postStartCommand\": \"echo one\\npip install -e .\"}", "compile:2"},
      {"{\"dockerComposeFile\": \"compose.yaml\"}", "not_audited:1"},
      {R"({"postCreateCommand": [1, null], "mounts": 3, "features": [], "runArgs": ["-v"]})", ""},
      {"[]", "unreadable:1"},
  };
  for (const auto& row : rows) {
    INFO(row.text);
    CHECK(told(audit_devcontainer(row.text, "devcontainer.json", of_xformers())) == row.expected);
  }
}

TEST_CASE("without a target every build of a package from its source is the compile") {
  const Subject any = subject_from(json::object());
  CHECK(told(audit_script("pip install torch\npip install ./other\npip install -e x\n", "s",
                          any)) == "compile:2 compile:3");
}

TEST_CASE("a package is named whole") {
  for (const char* text : {"xformers", "./XFormers/", "xformers[dev]", "git+https://h/xformers.git",
                           "xformers-0.1.tar.gz", "xformers==1", "/a/xformers@main"})
    CHECK(names_package(text, "xformers"));
  for (const char* text : {"xformers-stubs", "myxformers", "my-xformers", "xformers2", ""})
    CHECK_FALSE(names_package(text, "xformers"));
  CHECK(names_package("flash_attn-2.0", "flash-attn"));
  CHECK_FALSE(names_package("anything", ""));
}

TEST_CASE("a log without a target counts builds, with one the package's installs") {
  const std::string log =
      "Building editable for xformers (pyproject.toml): started\n"
      "Building editable for xformers (pyproject.toml): finished with status 'done'\n"
      "Successfully installed numpy-1.0 xformers-0.0.1\nSuccessfully installed pre-commit-4\n"
      "Successfully installed xformers-stubs-1\n";
  CHECK(audit_log(log, "log", subject_from(json::object())).compiles == 1);
  CHECK(audit_log(log, "log", of_xformers()).compiles == 1);
  CHECK(audit_log(log, "log", subject_from({{"compile", {{"target", "numpy"}}}})).compiles == 1);
  CHECK(audit_log("Successfully installed torch-2.0\n", "log", subject_from(json::object()))
            .compiles == 0);
  CHECK(audit_log("Successfully installed a.b_c-1\n", "log",
                  subject_from({{"compile", {{"target", "A-B-C"}}}}))
            .compiles == 1);
}

TEST_CASE("hostile scripts are read in bounded time and depth") {
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "bash <<EOF\n";
  CHECK(audit_script(nested, "s", of_xformers()).empty());
  std::string quotes;
  for (int i = 0; i < 5'000; ++i) quotes += "\"'\\\"`(;&|<<A <<B \\\n";
  (void)audit_script(quotes, "s", of_xformers());
  (void)audit_dockerfile("RUN " + quotes, "d", of_xformers());
  (void)audit_script("echo <<" + std::string(1'000'000, 'A'), "s", of_xformers());
  std::string pips = "sh -c ";
  for (int i = 0; i < 20'000; ++i) pips += "pip setup.py ";
  (void)audit_script(pips, "s", of_xformers());
  CHECK(commands_of(Joined(std::string(1'000'000, '('), 1)).empty());
}
