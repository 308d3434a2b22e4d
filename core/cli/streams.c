/* SPDX-License-Identifier: MIT */
#include "cli/streams.h"

#include "cli/output.h"
#include "cli/stop.h"

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

/* A path for each source of @experiment, NULL for a missing one. (transfer container) */
static const char **
source_files (const PlaitExperiment *experiment, const char *const *given, const char *const *without, GError **error)
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

/* Standard input can be read once, and what is read must not be written over. */
static gboolean
check_files (const PlaitTextUse *use, const char *run, const char *const *files, const char *target, GError **error)
{
  guint n = use->trained->experiment->n_sources;
  const char *standard_input = NULL;

  for (guint i = 0; i <= n; i++)
    {
      const char *file = i < n ? files[i] : target;

      if (!plait_output_differs ("--attention", use->attention, file, error)
          || !plait_output_differs ("--output", use->output, file, error))
        return FALSE;
      if (file && g_str_equal (file, "-"))
        {
          const char *name = i < n ? use->trained->experiment->sources[i].name : "target";

          if (standard_input)
            return plait_fail (error, PLAIT_ERROR_INPUT,
                               "standard input cannot be both %s and %s: name a file for one of them", standard_input,
                               name);
          standard_input = name;
        }
    }
  return plait_output_differs ("--attention", use->attention, run, error)
         && plait_output_differs ("--output", use->output, run, error)
         && plait_output_differs ("--attention", use->attention, use->output, error);
}

void
plait_text_use_clear (PlaitTextUse *use)
{
  plait_store_free (use->dump);
  plait_feed_free (use->feed);
  plait_search_free (use->search);
  plait_pool_free (use->pool);
  plait_trained_free (use->trained);
  g_strfreev (use->sources);
  g_strfreev (use->without);
  g_free (use->checkpoint);
  g_free (use->attention);
  g_free (use->output);
}

gboolean
plait_text_use_open (PlaitTextUse *use, const PlaitInvocation *invocation, const char *target, GError **error)
{
  g_autofree const char **files = NULL;

  if (use->threads < 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--threads=%d: expected a number from 0 (all processors) on",
                       use->threads);
  use->log = invocation->log;
  use->trained = plait_trained_open (invocation->arguments[0], use->checkpoint, invocation->log, error);
  if (!use->trained)
    return FALSE;
  files = source_files (use->trained->experiment, (const char *const *)use->sources, (const char *const *)use->without,
                        error);
  if (!files || !check_files (use, invocation->arguments[0], files, target, error))
    return FALSE;
  use->feed = plait_materials_open_feed (use->trained->materials, files, target, error);
  if (!use->feed)
    return FALSE;
  use->pool = plait_pool_new ((guint)use->threads);
  use->search = plait_search_new (use->trained->system->model, use->pool, 0, error);
  if (!use->search)
    return FALSE;
  if (use->attention)
    {
      use->dump = plait_store_create (use->attention, error);
      if (!use->dump)
        return FALSE;
    }
  use->stop = plait_stop_reads_on_signals ();
  return TRUE;
}

PlaitBatch *
plait_text_use_next (PlaitTextUse *use, gint64 sentences, GError **error)
{
  PlaitBatch *batch = plait_feed_next (use->feed, sentences, error);

  if (batch && g_atomic_int_get (use->stop))
    {
      plait_fail (error, PLAIT_ERROR_INTERRUPTED, "interrupted before line %" G_GINT64_FORMAT, batch->sentence[0] + 1);
      g_clear_pointer (&batch, plait_batch_free);
    }
  return batch;
}

gboolean
plait_text_use_dump (PlaitTextUse *use, const PlaitBatch *batch, PlaitSentenceAttention *attention,
                     const PlaitHypotheses *hypotheses, GError **error)
{
  PlaitEvaluator evaluator = { use->trained->system, use->trained->materials, use->search, use->log, use->stop };
  gboolean good = !use->dump
                  || plait_evaluation_write_batch_attention (&evaluator, hypotheses ? "translation" : "forced", batch,
                                                             attention, hypotheses, use->dump, error);

  plait_sentence_attention_free (attention, batch->n_sentences);
  return good;
}
