/* SPDX-License-Identifier: MIT */
#pragma once

#include <hdf5.h>

#include "materials.h"

/*
 * Files of our own whose digest is right and whose contents are not: somebody made them to do harm, or another program
 * wrote them. All write @to, which is as @from but for what they change; the two may be the same.
 */

/* Writes what is to stand at @path of an open file, where nothing is. */
typedef void (*ForgeWrite) (hid_t file, const char *path);

/* What stood at @path is gone before @write is called. */
void forge (const char *from, const char *to, const char *path, ForgeWrite write);

/* Gives the attribute @name of @path another value. */
void forge_string (const char *from, const char *to, const char *path, const char *name, const char *value);
void forge_integer (const char *from, const char *to, const char *path, const char *name, gint64 value);
void forge_real (const char *from, const char *to, const char *path, const char *name, double value);

/* Gives all elements of the dataset @path, which is of numbers, the value @value. */
void forge_values (const char *from, const char *to, const char *path, double value);

/* Changes one to three bytes of the structure of HDF5, which ones says @seed. */
void forge_structure (const char *from, const char *to, guint32 seed);

/* Gives the file @name the user block that belongs to its bytes, of format @format. */
void forge_seal (const char *name, int format);

/* A group as plait makes them, empty; to be closed. */
hid_t forge_make_group (hid_t file, const char *path);

/* Ways to write what belongs nowhere. */
typedef struct
{
  const char *name;
  ForgeWrite write;
} ForgeWay;

extern const ForgeWay forge_ways[];
extern const guint forge_n_ways;
