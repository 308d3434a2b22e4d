/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/export.h"

/* The whole command. Returns the exit code: 0 done, 1 failed, 2 bad usage or bad input, 130 interrupted after a
 * checkpoint was written. */
PLAIT_API int plait_main (int argc, char **argv);
