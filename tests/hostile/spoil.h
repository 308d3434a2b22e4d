/* SPDX-License-Identifier: MIT */
#pragma once

#include "materials.h"

/*
 * Ways to damage any file.
 */

/* Ways after which a file of lines may still be valid. */
#define SOUND_LINES "empty|cut to a quarter|cut to half|cut by a byte|a page"

/* Spoils @file in each way of spoil.c. Each time @command, which reads @file and writes only "new", must be refused
 * with a sentence that names @file, and the folder must be unchanged. @sound: ways after which @command may succeed,
 * separated by '|', or NULL; a way after '-' is left out. */
void spoil_and_refuse (const char *file, const char *command, const char *sound);

/* Damages @file like spoil_and_refuse. Each time plait verify must find the damage, with code 1; a file of another
 * valid kind is accepted. */
void spoil_and_find (const char *file);
