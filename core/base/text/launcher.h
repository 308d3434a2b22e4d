/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Returns the number of processes that a launcher such as mpirun has started; 0 without a launcher. */
guint plait_launched_processes (void);
