/* SPDX-License-Identifier: MIT */
#include "cli/streams.h"

#include <string.h>

static gint
find_source (const PlaitExperiment *experiment, const char *name, gsize length)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    if (strlen (experiment->sources[i].name) == length && strncmp (experiment->sources[i].name, name, length) == 0)
      return (gint)i;
  return -1;
}

static gboolean
unknown_source (const PlaitExperiment *experiment, const char *option, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < experiment->n_sources; i++)
    g_string_append_printf (names, "%s%s", i ? ", " : "", experiment->sources[i].name);
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the run has no such source; it reads: %s", option, names->str);
}

const char **
plait_source_files (const PlaitExperiment *experiment, const char *const *given, const char *const *without,
                    GError **error)
{
  g_autofree const char **files = g_new0 (const char *, experiment->n_sources);
  g_autofree gboolean *missing = g_new0 (gboolean, experiment->n_sources);

  for (guint i = 0; given && given[i]; i++)
    {
      const char *equals = strchr (given[i], '=');
      gint source = equals ? find_source (experiment, given[i], (gsize)(equals - given[i])) : -1;

      if (!equals || equals[1] == '\0')
        {
          plait_fail (error, PLAIT_ERROR_INPUT, "--source %s: expected NAME=FILE", given[i]);
          return NULL;
        }
      if (source < 0)
        {
          g_autofree char *option = g_strconcat ("--source ", given[i], NULL);

          unknown_source (experiment, option, error);
          return NULL;
        }
      if (files[source])
        {
          plait_fail (error, PLAIT_ERROR_INPUT, "--source %s: this source was given already", given[i]);
          return NULL;
        }
      files[source] = equals + 1;
    }
  for (guint i = 0; without && without[i]; i++)
    {
      gint source = find_source (experiment, without[i], strlen (without[i]));

      if (source < 0)
        {
          g_autofree char *option = g_strconcat ("--without ", without[i], NULL);

          unknown_source (experiment, option, error);
          return NULL;
        }
      missing[source] = TRUE;
    }
  for (guint i = 0; i < experiment->n_sources; i++)
    if (!files[i] == !missing[i])
      {
        const char *name = experiment->sources[i].name;

        plait_fail (error, PLAIT_ERROR_INPUT,
                    missing[i] ? "source \"%s\" is given by --source and left out by --without"
                               : "source \"%s\" is not given: add --source %s=FILE, or --without %s to leave it out",
                    name, name, name);
        return NULL;
      }
  return g_steal_pointer (&files);
}
