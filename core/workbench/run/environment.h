/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* Writes /environment, what no two runs share and nobody compares: command, written (when), host, revision (of the git
 * repository that plait was built in, "-dirty" behind it if files differed; "" if there was none), threads, blas, and
 * peak_memory, the most bytes that the process has held so far. */
gboolean plait_environment_write (PlaitStore *store, const char *command, guint threads, GError **error);
