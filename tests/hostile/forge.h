/* SPDX-License-Identifier: MIT */
#pragma once

#include <hdf5.h>

#include "materials.h"

/*
 * Files with correct digests but wrong contents, as an attacker or another program could write them. Each function
 * writes to @to a changed copy of @from; the two may be one file.
 */

/* Creates an object at @path of an open file, which has no object there yet. */
typedef void (*ForgeWrite) (hid_t file, const char *path);

/* Replaces the object at @path: deletes it, then lets @write create another one. */
void forge (const char *from, const char *to, const char *path, ForgeWrite write);

/* Sets the attribute @name of @path to @value. */
void forge_string (const char *from, const char *to, const char *path, const char *name, const char *value);
void forge_integer (const char *from, const char *to, const char *path, const char *name, gint64 value);
void forge_real (const char *from, const char *to, const char *path, const char *name, double value);

/* Sets all elements of the dataset of numbers @path to @value. */
void forge_values (const char *from, const char *to, const char *path, double value);

/* Changes one to three bytes of HDF5's own structure, and corrects its checksums. @seed selects the bytes. */
void forge_structure (const char *from, const char *to, guint32 seed);

/* Writes the user block, in format @format, that matches the bytes of the file @name. */
void forge_seal (const char *name, int format);

/* Creates an empty group with plait's properties. The caller closes it. */
hid_t forge_make_group (hid_t file, const char *path);

/* A function that writes an object of an unexpected kind. */
typedef struct
{
  const char *name;
  ForgeWrite write;
} ForgeWay;

extern const ForgeWay forge_ways[];
extern const guint forge_n_ways;
