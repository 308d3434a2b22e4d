/* SPDX-License-Identifier: MIT */
#pragma once

#include "materials.h"

/*
 * Ways to damage any file.
 */

/* Ways after which a file of lines may still be valid. */
#define SOUND_LINES "empty|cut to a quarter|cut to half|cut by a byte|a page"

/* Spoils @file in each of the ways of spoil.c. Each time, @command, which reads it and writes nothing but "new", is
 * refused with a sentence that names it, and all is as before. After the ways in @sound (parted by '|', may be NULL)
 * the file may still be what the command takes; then it may succeed. A way with '-' before it is left out. */
void spoil_and_refuse (const char *file, const char *command, const char *sound);

/* Damages @file like spoil_and_refuse. Each time plait verify must find the damage, with code 1; a file of another
 * valid kind is accepted. */
void spoil_and_find (const char *file);
