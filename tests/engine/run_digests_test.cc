// The digest of what a run leaves: its kernel on the emulator beside the same sum computed here.
#include "engine/runner/run_digests.h"

#include <numeric>
#include <random>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay;

namespace {

struct Piece {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const Piece&) const = default;
};

std::uint64_t mixed(const Piece& piece, std::uint64_t where, std::uint64_t drawn) {
  std::uint64_t h = (piece.low ^ drawn) + where * 0x9E37'79B9'7F4A'7C15;
  h *= 0xBF58'476D'1CE4'E5B9;
  h = (h ^ h >> 32) + piece.high * 0xC2B2'AE3D'27D4'EB4F;
  h *= 0x94D0'49BB'1331'11EB;
  h ^= h >> 29;
  h *= 0xBF58'476D'1CE4'E5B9;
  return h ^ h >> 32;
}

std::uint64_t expected(const std::vector<Piece>& pieces, std::uint64_t drawn) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) sum += mixed(pieces[i], i, drawn);
  return sum;
}

constexpr std::uint64_t kPlace = 0x6F00'0000'0000;

const std::shared_ptr<const emulator::Module>& digest_module() {
  static const auto module = std::get<std::shared_ptr<const emulator::Module>>(
      emulator::Module::parse(runner::kDigestPtx));
  return module;
}

std::uint64_t taken(std::vector<Piece> pieces, std::uint64_t drawn, unsigned blocks,
                    unsigned threads) {
  const std::uint64_t count = pieces.size();
  pieces.resize(count + 1);  // a buffer has to have something
  std::vector<std::uint64_t> to(runner::kDigestWords);
  emulator::test::Call call("assay_digest", {blocks, 1, 1}, {threads, 1, 1});
  call.buffer("left", pieces).value(count).value(drawn).buffer("to", to);
  call.value(std::uint64_t{0}).value(std::uint64_t{0});
  const auto outcome = call.run(digest_module());
  REQUIRE(outcome.ending == emulator::Ending::completed);
  return std::accumulate(to.begin(), to.end(), std::uint64_t{0});
}

constexpr std::uint64_t kDrawn = 0x1234'5678'9ABC'DEF0;

struct Put {
  std::vector<Piece> contents{};
  std::vector<Piece> place{};
  std::uint64_t digest = 0;
};

// Behind a run that left `left`, the next one's contents are put in its place, or in another.
Put put(std::vector<Piece> left, std::vector<Piece> contents, bool in_the_same_place) {
  std::vector<std::uint64_t> to(runner::kDigestWords);
  std::vector<Piece> other(left.size());
  emulator::test::Call call("assay_digest", {3, 1, 1}, {512, 1, 1});
  call.buffer_at("left", kPlace, std::as_writable_bytes(std::span(left)));
  call.value(std::uint64_t{left.size()}).value(kDrawn).buffer("to", to);
  call.buffer("contents", contents);
  if (in_the_same_place) {
    call.value(kPlace);
  } else {
    call.buffer("place", other);
  }
  REQUIRE(call.run(digest_module()).ending == emulator::Ending::completed);
  return {.contents = contents,
          .place = in_the_same_place ? left : other,
          .digest = std::accumulate(to.begin(), to.end(), std::uint64_t{0})};
}

std::vector<Piece> drawn_pieces(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<Piece> pieces(count);
  for (Piece& piece : pieces) piece = {random(), random()};
  return pieces;
}

}  // namespace

TEST_CASE("a digest is the sum of its mixed pieces, however many blocks take it") {
  for (const std::size_t count : {0U, 1U, 31U, 512U, 513U, 5'000U}) {
    for (const auto& [blocks, threads] : {std::pair{1U, 512U}, {3U, 512U}, {7U, 1'024U}}) {
      CAPTURE(count, blocks, threads);
      const auto pieces = drawn_pieces(count);
      CHECK(taken(pieces, kDrawn, blocks, threads) == expected(pieces, kDrawn));
    }
  }
}

TEST_CASE("a digest is taken of what was left before anything is put there, and all of it is put") {
  for (const std::size_t count : {1U, 512U, 5'000U}) {
    const auto left = drawn_pieces(count);
    const auto contents = drawn_pieces(count + 1);
    const std::vector<Piece> wanted(contents.begin(), contents.end() - 1);
    for (const bool in_the_same_place : {false, true}) {
      CAPTURE(count, in_the_same_place);
      const Put told = put(left, wanted, in_the_same_place);
      CHECK(told.digest == expected(left, kDrawn));
      CHECK(told.place == wanted);
      CHECK(told.contents == wanted);
    }
  }
}

TEST_CASE("one bit, one place or another draw makes another digest") {
  const auto pieces = drawn_pieces(300);
  const std::uint64_t digest = taken(pieces, 5, 1, 512);
  CHECK(taken(pieces, 6, 1, 512) != digest);
  for (const std::uint64_t bit : {0U, 31U, 63U}) {
    auto changed = pieces;
    changed[7].low ^= std::uint64_t{1} << bit;
    CHECK(taken(changed, 5, 1, 512) != digest);
    changed = pieces;
    changed[299].high ^= std::uint64_t{1} << bit;
    CHECK(taken(changed, 5, 1, 512) != digest);
  }
  // The signs of three floats at once, whose changes might meet.
  for (std::uint64_t drawn = 0; drawn < 16; ++drawn) {
    auto turned = pieces;
    turned[5].low ^= std::uint64_t{1} << 63;
    turned[5].high ^= std::uint64_t{1} << 63 | std::uint64_t{1} << 31;
    CHECK(taken(turned, drawn, 1, 512) != taken(pieces, drawn, 1, 512));
  }
  auto moved = pieces;
  std::swap(moved[3], moved[4]);
  CHECK(taken(moved, 5, 1, 512) != digest);
  auto halves = pieces;
  std::swap(halves[3].low, halves[3].high);
  CHECK(taken(halves, 5, 1, 512) != digest);
}
