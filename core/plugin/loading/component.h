/* SPDX-License-Identifier: MIT */
#pragma once

#include "loading/registry.h"

/*
 * A part of a model: a plugin and the values of its parameters, the same for encoders, leaves, combiners and coverages.
 * It travels from the experiment file, where it is read, to the model, where it is built. Files of this floor alone
 * call the functions of a plugin's table (call.h); all other code knows parts.
 */
typedef struct PlaitComponent PlaitComponent;

struct PlaitComponent
{
  PlaitPlugin *plugin;       /* its schema is read */
  const PlaitSchema *schema; /* the plugin's */
  PlaitSettings *parameters;
  char *group; /* "source en", "source en/leaves", "combiner": where the parameters stand in an experiment file */
  char *label; /* "encoder \"bigru\" of [source en]", for messages */
  PlaitComponent *leaves; /* the part that an encoder stands on, or NULL; owned */

  /* Of an opened part. */
  gpointer settings; /* the plugin's own struct, filled from the parameters */
};

/* The part of @group that is played by @plugin, whose schema has been read; all parameters at their defaults. (transfer
 * full) */
PlaitComponent *plait_component_new (PlaitPlugin *plugin, const char *group);

void plait_component_free (PlaitComponent *component);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitComponent, plait_component_free)

/* Loads the module, that of the leaves first, and fills the settings. Does nothing when that has been done. The
 * parameters stay as they are from now on. */
gboolean plait_component_open (PlaitComponent *component, GError **error);
