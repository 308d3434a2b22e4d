/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"

/* A sound experiment file of 33 lines, with the sources en, de and image. */
extern const char example_text[];

/* The plugins of this build, and schemas without modules that the crossings of the tests need. (transfer full) */
PlaitRegistry *example_registry (void);

/* Writes @text as example.ini, and files of data, and loads it. (transfer full) */
PlaitExperiment *example_load (PlaitRegistry *registry, const char *text, const char *const *overrides, GError **error);
