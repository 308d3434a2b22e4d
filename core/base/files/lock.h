/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/log.h"

/*
 * Holding what one process alone may write. The locks are the kernel's, which lets go of them whatever a process dies
 * of, so none is ever stale. Over NFS they are the server's, as Linux hands flock on as a lock of all bytes; it lets go
 * of those of a machine that died when that is up again (version 3) or its lease has run out (version 4). A forked
 * process holds what its parent held, until both have ended.
 */
typedef enum
{
  PLAIT_LOCK_TAKEN,
  PLAIT_LOCK_BUSY, /* another process holds it, or this one by another descriptor */
  PLAIT_LOCK_NONE, /* the file system has no locks */
} PlaitLockState;

/* Locks the file or folder that is open as @descriptor, without waiting, until the descriptor is closed. */
PlaitLockState plait_lock_descriptor (int descriptor);

/* Makes the lock that plait_lock_descriptor took one that others may share, such as readers of HDF5 files: still no
 * process can take it for itself. */
void plait_lock_share (int descriptor);

/* TRUE if what is open as @descriptor still stands at @path. */
gboolean plait_lock_is_at_path (int descriptor, const char *path);

/* TRUE if @mounts, the text of /proc/self/mountinfo, says of a file system on device @major:@minor that its locks do
 * not reach other machines that have it too. */
gboolean plait_lock_is_local (const char *mounts, guint major, guint minor);

/* Removes the file at @path unless a process holds it or the file system has no locks; unless @here, when it was made
 * on another host, also if its locks do not reach other hosts. */
PlaitLockState plait_lock_remove_stale (const char *path, gboolean here);

/*
 * The lock of something that is itself replaced: a file beside it, named as it is with PLAIT_LOCK_SUFFIX. The file
 * tells people who holds it and goes when the lock is let go of. Where a process was killed it stays, held by nobody,
 * and whoever comes next takes or removes it.
 */
#define PLAIT_LOCK_SUFFIX ".plait-lock"

typedef struct PlaitLock PlaitLock;

/* Takes the lock of @path. A process that was killed, and those that it had begun, need a moment to die, so there is
 * some patience. PLAIT_ERROR_INPUT if a process holds it; the message is @busy, that process with its host, and
 * @remedy. Where the file system has no locks, or none that other machines see, @log warns, and the lock holds nobody
 * off, or none of these. (transfer full) */
PlaitLock *plait_lock_take (const char *path, const char *busy, const char *remedy, PlaitLog *log, GError **error);
void plait_lock_release (PlaitLock *lock);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitLock, plait_lock_release)
