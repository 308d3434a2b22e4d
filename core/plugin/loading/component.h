/* SPDX-License-Identifier: MIT */
#pragma once

#include "loading/registry.h"

/*
 * A component: a plugin of any kind and the values of its parameters. It is created when an experiment file is read,
 * and built into models.
 */
typedef struct PlaitComponent PlaitComponent;

struct PlaitComponent
{
  PlaitPlugin *plugin;       /* a plugin whose schema has been read */
  const PlaitSchema *schema; /* the plugin's schema */
  PlaitSettings *parameters;
  char *group; /* group of the parameters in the experiment file: "source en", "source en/leaves", "combiner" */
  char *label; /* name of this component in messages, such as "encoder \"bigru\" of [source en]" */
  PlaitComponent *leaves; /* component of the inner encoder, or NULL; owned */

  gpointer settings; /* the plugin's own struct, filled from parameters; NULL until opened */
};

/* Returns a component of @group with @plugin. All parameters have their defaults. The schema of @plugin must have been
 * read. (transfer full) */
PlaitComponent *plait_component_new (PlaitPlugin *plugin, const char *group);

void plait_component_free (PlaitComponent *component);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitComponent, plait_component_free)

/* Loads the module of the component, and of its inner encoder first, and fills settings. Does nothing if the component
 * is open. Parameters must not change afterwards. */
gboolean plait_component_open (PlaitComponent *component, GError **error);
