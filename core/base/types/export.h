/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Marks what the program exports for plugins, with C linkage for those in C++ too. Everything else is hidden. */
#ifdef __cplusplus
#define PLAIT_API extern "C" __attribute__ ((visibility ("default")))
#else
#define PLAIT_API __attribute__ ((visibility ("default")))
#endif
