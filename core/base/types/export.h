/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Exports a function to plugins, with C linkage in C++. All other functions are hidden. */
#ifdef __cplusplus
#define PLAIT_API extern "C" __attribute__ ((visibility ("default")))
#else
#define PLAIT_API __attribute__ ((visibility ("default")))
#endif
