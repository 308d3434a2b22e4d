/* SPDX-License-Identifier: MIT */
#pragma once

#include "materials.h"

/*
 * Ways to damage any file.
 */

/* Ways of damage after which a file of lines may still be valid. */
#define SOUND_LINES "empty|cut to a quarter|cut to half|cut by a byte|a page"

/* Damages @file in each way of spoil.c. Each time, @command, which reads @file and writes only "new", must fail with a
 * sentence that names @file, and the folder must stay unchanged. @sound lists ways after which @command may succeed,
 * separated by '|', or is NULL; ways preceded by '-' are skipped. */
void spoil_and_refuse (const char *file, const char *command, const char *sound);

/* Damages @file in the ways of spoil_and_refuse(). Each time plait verify must find the damage and exit with code 1.
 * plait verify may accept the file if the damage made it a valid file of another kind. */
void spoil_and_find (const char *file);
