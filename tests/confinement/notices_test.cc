#include "engine/confinement/notices.h"
#include "tests/catch.h"

namespace assay::confinement {

TEST_CASE("a living peer is not gone, with and without unread notices") {
  const auto line = make_notice_line();
  CHECK_FALSE(peer_is_gone(line.theirs));
  CHECK_FALSE(peer_is_gone(line.ours));
  send_notice(line.ours, {.kind = Notice::Kind::proceed});
  send_notice(line.theirs, {.kind = Notice::Kind::confined});
  CHECK_FALSE(peer_is_gone(line.theirs));
  CHECK_FALSE(peer_is_gone(line.ours));
  CHECK(wait_to_proceed(line.theirs));
  CHECK_FALSE(peer_is_gone(line.theirs));
}

TEST_CASE("a peer that died is gone") {
  auto line = make_notice_line();
  line.ours.reset();
  CHECK(peer_is_gone(line.theirs));
  CHECK_FALSE(wait_to_proceed(line.theirs));
}

// The init would wait for ever for a keeper that was killed at this moment.
TEST_CASE("a peer that died before it read its notices is gone") {
  auto line = make_notice_line();
  send_notice(line.theirs, {.kind = Notice::Kind::confined});
  line.ours.reset();
  CHECK(peer_is_gone(line.theirs));
  CHECK_FALSE(wait_to_proceed(line.theirs));
}

}  // namespace assay::confinement
