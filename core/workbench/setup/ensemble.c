/* SPDX-License-Identifier: MIT */
#include "setup/ensemble.h"

#include "text/number.h"
#include "text/separators.h"

static const PlaitVocabulary *
target_vocabulary (const PlaitTrained *run)
{
  return plait_run_inputs_vocabulary (run->run_inputs, run->experiment->data.target);
}

/* Fails if @second, the run at the path @b, cannot translate together with @first, the run at the path @a. */
static gboolean
check_fits (const PlaitTrained *first, const PlaitTrained *second, const char *a, const char *b, GError **error)
{
  const char *here = plait_vocabulary_hash (target_vocabulary (first));
  const char *there = plait_vocabulary_hash (target_vocabulary (second));
  gboolean starts = plait_experiment_documents (first->experiment, first->experiment->data.target).start_tokens;

  if (!g_str_equal (here, there))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s and %s have different target vocabularies (SHA-256 %.12s... and %.12s...); an ensemble "
                       "needs runs of one target vocabulary, which data.vocabulary.NAME gives them",
                       a, b, here, there);
  return starts == plait_experiment_documents (second->experiment, second->experiment->data.target).start_tokens
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s separates the sentences of the target by start tokens, %s does not; an ensemble needs runs "
                        "that agree in this (data.document_starts)",
                        starts ? a : b, starts ? b : a);
}

/* Fails if the run at @path has no decoder, which an ensemble needs. */
static gboolean
check_translates (const PlaitTrained *run, const char *path, GError **error)
{
  return plait_experiment_has_decoder (run->experiment)
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s has no decoder; an ensemble needs runs that predict sequences, so give this run alone",
                        path);
}

GPtrArray *
plait_ensemble_open (char *const *paths, const PlaitEnsembleOptions *options, GError **error)
{
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_trained_free);
  g_autoptr (GArray) sets = g_array_new (TRUE, FALSE, sizeof (PlaitOverride));
  guint n = g_strv_length ((char **)paths);

  for (guint i = 0; options->sets && options->sets[i].key; i++)
    g_array_append_val (sets, options->sets[i]);
  for (guint i = 0; options->implied && options->implied[i].key; i++)
    g_array_append_val (sets, options->implied[i]);
  if (n > PLAIT_SEARCH_MAX_MEMBERS)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "there are %u runs, but an ensemble has at most %d; name fewer",
                            n, PLAIT_SEARCH_MAX_MEMBERS);
  for (guint i = 0; i < n; i++)
    {
      PlaitTrained *run
          = plait_trained_open (paths[i], options->checkpoint, (const PlaitOverride *)(gpointer)sets->data,
                                options->changed, options->log, error);

      if (!run)
        return NULL;
      g_ptr_array_add (runs, run);
      if (!plait_experiment_check_sets (run->experiment, options->sets, error)
          || (n > 1 && !check_translates (run, paths[i], error))
          || (i > 0 && !check_fits (runs->pdata[0], run, paths[0], paths[i], error)))
        return NULL;
    }
  return g_steal_pointer (&runs);
}

static gboolean
is_number (const char *text, gconstpointer data)
{
  double number;

  return plait_parse_double (text, &number);
}

gboolean
plait_ensemble_weights (const char *text, guint n, double *weights, GError **error)
{
  g_auto (GStrv) parts = text ? g_strsplit (text, ";", -1) : NULL;
  g_autofree char *mended = text ? plait_separators_mend (text, ";", is_number, NULL) : NULL;
  double greatest = 1, sum = 0;

  if (mended)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--weights %s: did you mean \"%s\"?", text, mended);
  if (parts && g_strv_length (parts) != n)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--weights %s: number of weights: %u, number of runs: %u; give a weight for each run", text,
                       g_strv_length (parts), n);
  for (guint i = 0; i < n; i++)
    {
      weights[i] = 1;
      if (parts && (!plait_parse_double (parts[i], &weights[i]) || weights[i] <= 0))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "--weights %s: \"%s\" is not a positive number; expected numbers such as \"0.7;0.3\"", text,
                           parts[i]);
      greatest = i == 0 ? weights[i] : MAX (greatest, weights[i]);
    }
  /* Divide by the greatest weight, because a sum of large weights could be infinite. */
  for (guint i = 0; i < n; i++)
    sum += weights[i] / greatest;
  for (guint i = 0; i < n; i++)
    weights[i] = weights[i] / greatest / sum;
  return TRUE;
}

PlaitSearch *
plait_ensemble_search (const GPtrArray *runs, const double *weights, PlaitEnsembleRule rule, PlaitPool *pool,
                       GError **error)
{
  g_autofree PlaitSearchMember *members = g_new (PlaitSearchMember, runs->len);

  for (guint i = 0; i < runs->len; i++)
    {
      const PlaitTrained *run = runs->pdata[i];

      members[i] = (PlaitSearchMember){ run->experiment_model->model, run->experiment->decode.precision, weights[i] };
    }
  return plait_search_new_ensemble (members, runs->len, rule, pool, 0, error);
}
