/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "contract/contract.h"
#include "harness.h"
#include "models.h"

/* A faulty plugin: one of plait's own plugins with another table of functions, and without parameters. */
typedef struct
{
  PlaitPluginKind kind;
  const char *name; /* name of plait's own plugin */
  gconstpointer table;
  const char *decoders;    /* decoders that the plugin works in, as in its schema; NULL: all */
  PlaitStructure required; /* structure that the schema requires of all memories */
} Disguise;

/* Checks that the faulty plugin fails exactly the properties @failed, separated by spaces, and that the first message
 * contains @words. If @failed is "", checks that the plugin passes at least nine properties and fails no property.
 * @promised is the structure in the plugin's schema, @seconds the time limit of each property. */
void disguise_check (const Disguise *disguise, PlaitStructure promised, guint seconds, const char *failed,
                     const char *words);

/* Returns a node with the value of @x that passes back only half of its gradient. */
PlaitNode *disguise_halve_gradient (PlaitTape *tape, PlaitNode *x);

/* Returns @x with each row multiplied by the factor of its sentence in @rows. */
PlaitNode *disguise_scale (PlaitTape *tape, PlaitNode *x, PlaitRagged rows,
                           double (*factor) (gpointer data, gint64 sentence), gpointer data);

#define SECONDS 60
