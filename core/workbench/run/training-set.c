/* SPDX-License-Identifier: MIT */
#include "run/training-set.h"

#include <math.h>

#include "corpus/iterator.h"

#define GROUP "/training"
#define OUTCOMES "/initialisation/parameters/outcome"
#define MAX_BYTES ((gsize)1 << 26)
#define MAX_NAMES 3  /* maximum number of names listed for one value */
#define MAX_VALUES 6 /* maximum number of values listed */

PlaitTrainingSet
plait_training_set_new (const PlaitExperiment *experiment, const PlaitCorpus *corpus, const PlaitTrainer *trainer,
                        const PlaitInitialisation *initialisation)
{
  const PlaitTrainSettings *train = &experiment->train;
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  gint64 updates = plait_trainer_epoch_updates (trainer);
  PlaitTrainingSet set = {
    .lines = plait_corpus_lines (corpus),
    .tuples = plait_corpus_size (corpus),
    .tokens = train->batch_unit == PLAIT_BATCH_BY_TOKENS ? train->batch * train->accumulate : 0,
  };

  if (initialisation)
    set.taken = plait_initialisation_taken (initialisation, &set.all);
  for (gint64 i = 0; i < set.tuples; i++)
    {
      guint64 line = GUINT64_TO_LE ((guint64)plait_corpus_line (corpus, i));

      g_checksum_update (checksum, (const guchar *)&line, sizeof line);
    }
  g_strlcpy (set.digest, g_checksum_get_string (checksum), sizeof set.digest);
  set.sentences = (double)set.tuples / (double)MAX (1, updates);
  return set;
}

gboolean
plait_training_set_write (const PlaitTrainingSet *set, PlaitStore *run, GError **error)
{
  return plait_store_set_int (run, GROUP, "lines", set->lines, error)
         && plait_store_set_int (run, GROUP, "tuples", set->tuples, error)
         && plait_store_set_string (run, GROUP, "lines_sha256", set->digest, error)
         && plait_store_set_int (run, GROUP, "batch_tokens", set->tokens, error)
         && plait_store_set_double (run, GROUP, "batch_sentences", set->sentences, error);
}

/* Reads from /initialisation of @run how many parameter tensors the run took from train.initialise. */
static void
read_taken (PlaitTrainingSet *set, PlaitStore *run)
{
  gint64 n = 0;
  g_auto (GStrv) outcomes
      = plait_store_has (run, OUTCOMES) ? plait_store_read_strings (run, OUTCOMES, MAX_BYTES, &n, NULL) : NULL;

  for (gint64 i = 0; outcomes && i < n; i++)
    set->taken += g_str_equal (outcomes[i], "taken") || g_str_equal (outcomes[i], "grown");
  set->all = outcomes ? (guint)n : 0;
}

PlaitTrainingSet
plait_training_set_read (PlaitStore *run)
{
  PlaitTrainingSet set = { 0 };
  g_autofree char *digest = NULL;

  if (!plait_store_has_attribute (run, GROUP, "lines_sha256"))
    return set;
  digest = plait_store_get_string (run, GROUP, "lines_sha256", NULL);
  if (!digest || !plait_store_get_int (run, GROUP, "lines", &set.lines, NULL)
      || !plait_store_get_int (run, GROUP, "tuples", &set.tuples, NULL)
      || !plait_store_get_int (run, GROUP, "batch_tokens", &set.tokens, NULL)
      || !plait_store_get_double (run, GROUP, "batch_sentences", &set.sentences, NULL))
    return (PlaitTrainingSet){ 0 };
  read_taken (&set, run);
  g_strlcpy (set.digest, digest, sizeof set.digest);
  return set;
}

/*
 * Functions that describe differences
 */

/* Appends the names of the entries whose key is @key, each name once, at most MAX_NAMES names, then the number of
 * further names. */
static void
append_names (GString *text, const char *const *keys, const char *key, const char *const *names, guint n)
{
  g_autoptr (GPtrArray) listed = g_ptr_array_new ();

  for (guint i = 0; i < n; i++)
    if (g_strcmp0 (keys[i], key) == 0 && !g_ptr_array_find_with_equal_func (listed, names[i], g_str_equal, NULL))
      g_ptr_array_add (listed, (gpointer)names[i]);
  for (guint i = 0; i < MIN (listed->len, MAX_NAMES); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", (const char *)listed->pdata[i]);
  if (listed->len > MAX_NAMES)
    g_string_append_printf (text, " and %u more", listed->len - MAX_NAMES);
}

char *
plait_group_names_by_value (const char *const *values, const char *const *keys, const char *const *names, guint n)
{
  g_autoptr (GPtrArray) listed = g_ptr_array_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  const char *const *by = keys ? keys : values;

  for (guint i = 0; i < n; i++)
    {
      if (!values[i] || g_ptr_array_find_with_equal_func (listed, by[i], g_str_equal, NULL))
        continue;
      g_ptr_array_add (listed, (gpointer)by[i]);
      if (listed->len > MAX_VALUES)
        continue;
      g_string_append_printf (text, "%s%s in ", listed->len > 1 ? "; " : "", values[i]);
      append_names (text, by, by[i], names, n);
    }
  if (listed->len < 2)
    return NULL;
  if (listed->len > MAX_VALUES)
    g_string_append_printf (text, "; and %u more", listed->len - MAX_VALUES);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Returns a sentence that says which of @names train on different lines; NULL if no difference is known, or if no run
 * dropped lines. (transfer full) */
static char *
describe_lines (const PlaitTrainingSet *sets, const char *const *names, guint n)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  g_autofree char *groups = NULL;
  gboolean dropped = FALSE;

  for (guint i = 0; i < n; i++)
    {
      gboolean known = sets[i].lines > 0;

      dropped |= sets[i].tuples != sets[i].lines;
      g_ptr_array_add (values, known ? g_strdup_printf ("%jd of %jd lines", sets[i].tuples, sets[i].lines) : NULL);
      g_ptr_array_add (keys, known ? (gpointer)sets[i].digest : NULL);
    }
  groups = plait_group_names_by_value ((const char *const *)values->pdata, (const char *const *)keys->pdata, names, n);
  return groups && dropped ? g_strdup_printf ("The runs are trained on different lines, because data.share, length "
                                              "limits, missing trees, empty targets or cut documents drop lines: %s.",
                                              groups)
                           : NULL;
}

/* Two mean numbers of sentences count as equal up to this ratio, because different seeds shuffle into slightly
 * different batches. */
#define ALIKE 1.02

/* Returns the mean of the field sentences over the sets named @name whose field tokens is @tokens. */
static double
mean_sentences (const PlaitTrainingSet *sets, const char *const *names, guint n, const char *name, gint64 tokens)
{
  double sum = 0;
  guint count = 0;

  for (guint i = 0; i < n; i++)
    if (g_str_equal (names[i], name) && sets[i].tokens == tokens)
      {
        sum += sets[i].sentences;
        count++;
      }
  return sum / count;
}

/* Returns a sentence about the mean_sentences() of the sets whose field tokens is @tokens; NULL if the means are alike.
 * (transfer full) */
static char *
describe_batches (const PlaitTrainingSet *sets, const char *const *names, guint n, gint64 tokens)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *groups = NULL;
  double low = INFINITY, high = 0;

  for (guint i = 0; i < n; i++)
    {
      double sentences = sets[i].tokens == tokens ? mean_sentences (sets, names, n, names[i], tokens) : NAN;

      low = fmin (low, sentences);
      high = fmax (high, sentences);
      g_ptr_array_add (values, isnan (sentences) ? NULL : g_strdup_printf ("%.1f", sentences));
    }
  groups = plait_group_names_by_value ((const char *const *)values->pdata, NULL, names, n);
  return groups && high > low * ALIKE ? g_strdup_printf (
             "Updates of %jd tokens, which count all text that is read, have different mean numbers of sentences: %s.",
             tokens, groups)
                                      : NULL;
}

/* Adds to @notes a sentence of describe_batches() for each limit of tokens that @sets have. */
static void
add_batches (GStrvBuilder *notes, const PlaitTrainingSet *sets, const char *const *names, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      gint64 tokens = sets[i].tokens;
      guint first = 0;

      while (sets[first].tokens != tokens)
        first++;
      g_autofree char *batches = tokens > 0 && first == i ? describe_batches (sets, names, n, tokens) : NULL;
      if (batches)
        g_strv_builder_add (notes, batches);
    }
}

/* Returns a sentence that says how many parameters each of @names takes from train.initialise; NULL if no difference is
 * known. (transfer full) */
static char *
describe_taken (const PlaitTrainingSet *sets, const char *const *names, guint n)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *groups = NULL;

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (values, sets[i].all == 0 ? NULL
                             : sets[i].taken == sets[i].all
                                 ? g_strdup ("all")
                                 : g_strdup_printf ("%u of %u parameters", sets[i].taken, sets[i].all));
  groups = plait_group_names_by_value ((const char *const *)values->pdata, NULL, names, n);
  return groups ? g_strdup_printf ("The runs take different numbers of parameters from train.initialise: %s.", groups)
                : NULL;
}

char **
plait_training_sets_describe_differences (const PlaitTrainingSet *sets, const char *const *names, guint n)
{
  g_autoptr (GStrvBuilder) notes = g_strv_builder_new ();
  g_autofree char *lines = describe_lines (sets, names, n);
  g_autofree char *taken = describe_taken (sets, names, n);

  if (lines)
    g_strv_builder_add (notes, lines);
  add_batches (notes, sets, names, n);
  if (taken)
    g_strv_builder_add (notes, taken);
  return g_strv_builder_end (notes);
}
