/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/log.h"

/*
 * Locks on files that only one process may write. They are locks of the kernel (flock), which releases them when the
 * process dies. Over NFS they are locks of the server, because Linux maps flock to a lock of all bytes. The server
 * releases the locks of a dead machine when the dead machine restarts (version 3) or when the machine's lease expires
 * (version 4). A forked process shares its parent's locks until both have ended.
 */
typedef enum
{
  PLAIT_LOCK_TAKEN,
  PLAIT_LOCK_BUSY, /* held by another process, or by another descriptor of this process */
  PLAIT_LOCK_NONE, /* the file system does not support locks */
} PlaitLockState;

/* Tries to lock the file or folder open as @descriptor exclusively, without waiting. Closing the descriptor releases
 * the lock. */
PlaitLockState plait_lock_descriptor (int descriptor);

/* Turns the exclusive lock of plait_lock_descriptor into a shared one, which readers such as HDF5 can share. Other
 * processes still cannot lock exclusively. */
void plait_lock_share (int descriptor);

/* TRUE if @path is the file open as @descriptor: it has not been renamed, replaced or deleted. */
gboolean plait_lock_is_at_path (int descriptor, const char *path);

/* TRUE if a mount option says that locks on device @major:@minor do not reach other machines that mount the same file
 * system; FALSE for a local disk. @mounts: the text of /proc/self/mountinfo. */
gboolean plait_lock_is_local (const char *mounts, guint major, guint minor);

/* Deletes the file @path if no process holds its lock. Keeps a file that was made on another host (@here FALSE) if
 * locks do not reach other hosts. Returns PLAIT_LOCK_TAKEN if no process held the lock; PLAIT_LOCK_BUSY if a process
 * holds the lock or the file cannot be opened; PLAIT_LOCK_NONE if the file system has no locks. The last two keep the
 * file. */
PlaitLockState plait_lock_remove_stale (const char *path, gboolean here);

/*
 * Lock of a file that is replaced, not written in place: a second file with the suffix PLAIT_LOCK_SUFFIX next to it.
 * The lock file names its holder and is deleted on release. A killed process leaves an unlocked lock file, which the
 * next process takes or deletes.
 */
#define PLAIT_LOCK_SUFFIX ".plait-lock"

typedef struct PlaitLock PlaitLock;

/* Takes the lock of @path. Retries for a few seconds, because a killed process and its children need time to die.
 * PLAIT_ERROR_INPUT if a process holds the lock; the message then consists of @busy, the process with its host, and
 * @remedy. Also fails if the lock file cannot be made. Warns in @log if the file system has no locks, so that no
 * process is excluded, or if its locks do not reach other machines. (transfer full) */
PlaitLock *plait_lock_take (const char *path, const char *busy, const char *remedy, PlaitLog *log, GError **error);
void plait_lock_release (PlaitLock *lock);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitLock, plait_lock_release)
