/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Marks what libplait exports. Everything else is hidden. */
#define PLAIT_API __attribute__((visibility("default")))
