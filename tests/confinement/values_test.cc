#include <stdexcept>

#include "engine/confinement/confinement.h"
#include "engine/confinement/filter.h"
#include "engine/confinement/sha256.h"
#include "tests/catch.h"

namespace assay::confinement {

TEST_CASE("every level and profile is known by its own name only") {
  for (const Level level : {Level::L0, Level::L1, Level::L1u, Level::L1n, Level::L2, Level::L3}) {
    CHECK(level_from_text(to_text(level)) == level);
  }
  for (const Profile profile : {Profile::compile, Profile::cpu, Profile::gpu}) {
    CHECK(profile_from_text(to_text(profile)) == profile);
  }
  CHECK_FALSE(level_from_text("l1"));
  CHECK_FALSE(level_from_text(""));
  CHECK_FALSE(level_from_text("L4"));
  CHECK_FALSE(profile_from_text("GPU"));
}

TEST_CASE("levels are ordered by strength") {
  CHECK(Level::L0 < Level::L1);
  CHECK(Level::L1 < Level::L1u);
  CHECK(Level::L1u < Level::L1n);
  CHECK(Level::L1n < Level::L2);
  CHECK(Level::L2 < Level::L3);
}

TEST_CASE("a confinement arrives at the child as it was sent") {
  Confinement sent{.layers = {.level = Level::L1n, .separate_uid = true, .user_namespace = false},
                   .profile = Profile::gpu,
                   .may_start_processes = true,
                   .is_company = true,
                   .readable = {"/opt/a b", "/opt/\"c\""},
                   .writable = {"/var/w"},
                   .devices = {"/dev/nvidia0"}};
  sent.limits = {.cpu_seconds = 1,
                 .data_bytes = 1ULL << 40,
                 .file_bytes = 3,
                 .locked_bytes = 4,
                 .open_files = 5,
                 .tasks = 6,
                 .temporary_bytes = 7,
                 .temporary_files = 8,
                 .resident_bytes = 9};
  const Confinement got = decode(encode(sent));
  CHECK(encode(got) == encode(sent));
  CHECK(got.layers.level == Level::L1n);
  CHECK(got.readable == sent.readable);
  CHECK(got.is_company);
  CHECK(got.limits.data_bytes == 1ULL << 40);
}

TEST_CASE("a confinement that is not understood is refused") {
  CHECK_THROWS_AS(decode("{}"), std::runtime_error);
  CHECK_THROWS_AS(decode("not json"), std::runtime_error);
  std::string text = encode({});
  text.replace(text.find("\"L1\""), 4, "\"L9\"");
  CHECK_THROWS_AS(decode(text), std::runtime_error);
}

TEST_CASE("the temporary folder is one that the child may write to, or none") {
  CHECK(temporary_folder({.layers = {.level = Level::L2}}) == "/tmp");
  CHECK(temporary_folder({.writable = {"/var/w"}}) == "/var/w");
  CHECK(temporary_folder({}) == "/nonexistent");
}

TEST_CASE("the call filter covers what older kernels' Landlock does not") {
  const Confinement l1{};
  CHECK(filter_shape(l1, 2).refuse_truncate);
  CHECK(filter_shape(l1, 5).own_signals_only);
  CHECK_FALSE(filter_shape(l1, 7).own_signals_only);
  CHECK_FALSE(filter_shape({.layers = {.level = Level::L2}}, 2).own_signals_only);
  CHECK(filter_shape({.layers = {.level = Level::L1n, .landlock = false}}, 7).own_signals_only);
  CHECK(filter_program(filter_shape(l1, 2)) != filter_program(filter_shape(l1, 7)));
}

TEST_CASE("the digest is SHA-256, also where the padding needs a block of its own") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256(std::string(55, 'a')) ==
        "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  CHECK(sha256(std::string(56, 'a')) ==
        "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  CHECK(sha256(std::string(63, 'a')) ==
        "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
  CHECK(sha256(std::string(64, 'a')) ==
        "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  CHECK(sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace assay::confinement
