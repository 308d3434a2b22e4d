/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* Writes /environment, which comparisons of runs ignore. Its attributes: command; written (time); host; revision (of
 * the git repository that plait was built from, with "-dirty" if files differed; "" if there was none); threads; blas;
 * and peak_memory (largest memory of the process so far, in bytes). */
gboolean plait_environment_write (PlaitStore *store, const char *command, guint threads, GError **error);
