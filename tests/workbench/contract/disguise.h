/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "contract/contract.h"
#include "harness.h"
#include "models.h"

/* A faulty plugin: a plugin of the tree with another function table, and without parameters. */
typedef struct
{
  PlaitPluginKind kind;
  const char *name; /* name of the plugin of the tree */
  gconstpointer table;
} Disguise;

/* Checks that the faulty plugin fails the properties @failed, separated by spaces, with a message that contains @words.
 * @promised: structure in its schema; @seconds: limit of each property. */
void disguise_check (const Disguise *disguise, PlaitStructure promised, guint seconds, const char *failed,
                     const char *words);

/* Returns @x, with half of its gradient. */
PlaitNode *disguise_halve_gradient (PlaitTape *tape, PlaitNode *x);

/* Returns row i of @x times the factor of its sentence in @rows. */
PlaitNode *disguise_scale (PlaitTape *tape, PlaitNode *x, PlaitRagged rows,
                           double (*factor) (gpointer data, gint64 sentence), gpointer data);

#define SECONDS 60
