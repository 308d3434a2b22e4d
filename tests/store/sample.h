/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* A small file with one of everything that the store writes. */
void plait_test_write_sample (const char *path);

/* The bytes of the file @path. (transfer full) */
GBytes *plait_test_load (const char *path);
