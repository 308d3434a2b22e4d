/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/* The whole command. Returns its exit code (exit-codes.h). */
PLAIT_API int plait_main (int argc, char **argv);
