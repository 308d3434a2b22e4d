/* SPDX-License-Identifier: MIT */
#include "run/result.h"

/* Describes how runs differ in their vocabularies and in their training data. */

#define DIGITS 8 /* number of digits of a digest in messages */

static const PlaitRunVocabulary *
find_vocabulary (const PlaitRunResult *result, const char *name)
{
  for (guint i = 0; result && i < result->vocabularies->len; i++)
    if (g_str_equal (g_array_index (result->vocabularies, PlaitRunVocabulary, i).name, name))
      return &g_array_index (result->vocabularies, PlaitRunVocabulary, i);
  return NULL;
}

/* Returns a sentence that says which versions of the vocabulary @name the results have; NULL if there are no two
 * different versions. (transfer full) */
static char *
describe_vocabulary (const PlaitRunResult *const *results, const char *const *names, guint n, const char *name)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *groups = NULL;

  for (guint r = 0; r < n; r++)
    {
      const PlaitRunVocabulary *own = find_vocabulary (results[r], name);

      g_ptr_array_add (values, own ? g_strdup_printf ("%jd entries (%.*s)", own->entries, DIGITS, own->digest) : NULL);
    }
  groups = plait_group_names_by_value ((const char *const *)values->pdata, NULL, names, n);
  return groups ? g_strdup_printf ("The vocabulary %s differs: %s.", name, groups) : NULL;
}

char **
plait_run_results_describe_differences (const PlaitRunResult *const *results, const char *const *names, guint n)
{
  g_autoptr (GStrvBuilder) notes = g_strv_builder_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree PlaitTrainingSet *sets = g_new0 (PlaitTrainingSet, n + 1);
  g_auto (GStrv) sentences = NULL;

  for (guint r = 0; r < n; r++)
    for (guint i = 0; results[r] && i < results[r]->vocabularies->len; i++)
      {
        const char *name = g_array_index (results[r]->vocabularies, PlaitRunVocabulary, i).name;
        g_autofree char *note
            = g_hash_table_add (seen, (gpointer)name) ? describe_vocabulary (results, names, n, name) : NULL;

        if (note)
          g_strv_builder_add (notes, note);
      }
  if (plait_run_results_differ_in_target (results, n))
    g_strv_builder_add (notes, "Values per target token cannot be compared between these runs: their perplexity is "
                               "left out, and rates, losses, states touched and limits count other tokens. An unknown "
                               "word costs little, so perplexity per word can be compared only without unknown words.");
  for (guint r = 0; r < n; r++)
    if (results[r])
      sets[r] = results[r]->set;
  sentences = plait_training_sets_describe_differences (sets, names, n);
  g_strv_builder_addv (notes, (const char **)sentences);
  return g_strv_builder_end (notes);
}
