// Who a child is: a uid of its own, the maps of its user namespace, no capabilities. System calls
// are made directly, because glibc's wrappers signal threads that a cloned process no longer has.
// All throw SetupFailure.
#pragma once

#include <sys/types.h>

namespace assay::confinement {

// A uid (and gid of the same number) that no other live child has, as it is made from the keeper's
// pid.
[[nodiscard]] uid_t unused_uid(pid_t keeper);

// By the process itself, just after it entered a user namespace: it stays who it is, and is nobody
// else.
void map_own_identity(uid_t uid, gid_t gid);
// By the keeper of a root engine, for the process `pid` that entered one: only `uid` exists there.
void map_identity_of(pid_t pid, uid_t uid);

// Becomes `uid` for good, with no supplementary groups. The process stays dumpable, for otherwise
// its own /proc/self would belong to root.
void become(uid_t uid);

// The bounding set must go while there are privileges left to take it away.
void drop_capability_bounds();
void drop_capabilities();

// To be killed when the parent dies. Lost at every change of uid, and not delivered while the
// parent may not signal the child: to be called after every such change.
void die_with_parent();
// The same, and ends the process if `parent` is dead already.
void follow_parent(pid_t parent);

}  // namespace assay::confinement
