/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * A folder of its own below the system's one for temporary files ($TMPDIR, else /tmp). It is locked (files/lock.h) as
 * long as it is in use; whoever makes the next one removes those that killed processes of the same user left.
 */
typedef struct PlaitTemporary PlaitTemporary;

/* Makes an empty folder. PLAIT_ERROR_FAILED if the system has no room or place for it. (transfer full) */
PlaitTemporary *plait_temporary_new (GError **error);

/* Removes the folder with the files in it; folders in it are none of ours. */
void plait_temporary_free (PlaitTemporary *temporary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTemporary, plait_temporary_free)

/* The folder's path. (transfer none) */
const char *plait_temporary_path (const PlaitTemporary *temporary);
