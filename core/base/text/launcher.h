/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Returns how many processes a launcher such as mpirun says that it has started; 0 without a launcher. */
guint plait_launched_processes (void);
