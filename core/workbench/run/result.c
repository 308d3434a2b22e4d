/* SPDX-License-Identifier: MIT */
#include "run/result.h"

#include "experiment/groups.h"
#include "metrics/references.h"
#include "setup/trained.h"
#include "dumps/text-scores.h"
#include "dumps/translation-rates.h"
#include "scoring/outside-scores.h"
#include "tables/table.h"
#include "hdf5/walk.h"

/* Limits for one dataset of texts and for one table. Real runs have much less. */
#define MAX_BYTES ((gsize)1 << 30)
#define MAX_ROWS 10000000

static void
score_free (gpointer data)
{
  PlaitRunScore *score = data;

  g_free (score->split);
  g_free (score->metric);
  g_free (score->name);
  g_free (score->set);
  g_free (score->references);
  g_clear_pointer (&score->scorer, plait_metric_free);
  g_clear_pointer (&score->statistics, plait_statistics_free);
  g_free (score);
}

void
plait_run_result_free (PlaitRunResult *result)
{
  if (!result)
    return;
  g_ptr_array_unref (result->scores);
  g_array_unref (result->rates);
  g_array_unref (result->vocabularies);
  g_free (result);
}

gboolean
plait_run_score_larger_is_better (const PlaitRunScore *score)
{
  return score->scorer && plait_metric_larger_is_better (score->scorer);
}

const PlaitRunScore *
plait_run_result_find (const PlaitRunResult *result, const char *split, const char *metric)
{
  for (guint i = 0; i < result->scores->len; i++)
    {
      const PlaitRunScore *score = result->scores->pdata[i];

      if (g_str_equal (score->split, split) && g_str_equal (score->metric, metric))
        return score;
    }
  return NULL;
}

/* A row of the table of metrics. */
typedef struct
{
  char *metric, *name;
  double score, low, high;
} Row;

static const PlaitStoreField fields[] = {
  PLAIT_STORE_FIELD (Row, metric, STRING, NULL), PLAIT_STORE_FIELD (Row, name, STRING, NULL),
  PLAIT_STORE_FIELD (Row, score, DOUBLE, NULL),  PLAIT_STORE_FIELD (Row, low, DOUBLE, NULL),
  PLAIT_STORE_FIELD (Row, high, DOUBLE, NULL),
};

static void
row_clear (gpointer item)
{
  Row *row = item;

  g_free (row->metric);
  g_free (row->name);
}

static char **
read_texts (PlaitStore *run, const char *group, const char *name, gint64 *n, GError **error)
{
  g_autofree char *path = g_strdup_printf ("%s/%s", group, name);

  return plait_store_read_strings (run, path, MAX_BYTES, n, error);
}

/* Reads all references of the evaluation in @group. (transfer full) */
static PlaitReferences *
read_references (PlaitStore *run, const char *group, gint64 n_hypotheses, GError **error)
{
  gint64 n = 0;
  GStrv first = read_texts (run, group, "references", &n, error);
  g_autoptr (PlaitReferences) references = first ? plait_references_new (first) : NULL;
  g_autofree char *others = g_strconcat (group, "/other_references", NULL);
  g_auto (GStrv) names = NULL;

  if (!references)
    return NULL;
  if (n != n_hypotheses)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "%s: %s is not an evaluation: it has %jd hypotheses, but %jd references; run the experiment again",
        plait_store_path (run), group, n_hypotheses, n);
  if (!plait_store_has (run, others))
    return g_steal_pointer (&references);
  names = plait_store_members (run, others, error);
  for (guint i = 0; names && names[i]; i++)
    {
      GStrv texts = read_texts (run, others, names[i], &n, error);

      if (!texts)
        return NULL;
      if (!plait_references_add (references, names[i], texts))
        return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                "%s: %s/%s has %jd texts, but there are %jd hypotheses; run the experiment again",
                                plait_store_path (run), others, names[i], n, n_hypotheses);
    }
  return names ? g_steal_pointer (&references) : NULL;
}

/* Sets the scorer and the statistics of sentences of @score. For a metric of text, computes the statistics from the
 * hypotheses. For other metrics, reads the numbers that the run stores for each sentence; without such numbers, leaves
 * the statistics NULL. */
static gboolean
take_statistics (PlaitRunScore *score, PlaitStore *run, const char *group, char *const *hypotheses,
                 const PlaitReferences *references, gint64 n, GError **error)
{
  PlaitTextPairs pairs = plait_references_pairs (references, (const char *const *)hypotheses);
  g_autofree char *rates = g_strconcat (group, "/translation_rates", NULL);
  g_autofree char *scores = g_strconcat (group, "/scores", NULL);
  GError *local = NULL;

  score->scorer = plait_metric_new (score->metric, NULL);
  if (score->scorer)
    {
      score->statistics = plait_metric_statistics (score->scorer, &pairs, error);
      return score->statistics != NULL;
    }
  score->statistics = plait_translation_rates_read (run, rates, score->metric, score->name, &score->scorer, &local);
  if (!local && !score->statistics)
    score->statistics = plait_text_scores_read (run, group, score->metric, score->name, &score->scorer, &local);
  if (!local && !score->statistics)
    score->statistics = plait_outside_scores_read (run, scores, score->metric, &score->scorer, &local);
  if (!local && score->statistics && (gint64)score->statistics->sentences != n)
    plait_fail (&local, PLAIT_ERROR_INPUT,
                "%s: the score %s is stored for %zu sentences, expected %jd; run the experiment again",
                plait_store_path (run), score->metric, score->statistics->sentences, n);
  return plait_no_error (&local, error);
}

/* Adds the number in the attribute @attribute of @path as a score. */
static gboolean
add_work (PlaitRunResult *result, PlaitStore *run, const char *split, const char *path, const char *attribute,
          const char *name, const char *references, gboolean aside, GError **error)
{
  PlaitRunScore *score = g_new0 (PlaitRunScore, 1);

  g_ptr_array_add (result->scores, score);
  score->split = g_strdup (split);
  score->metric = g_strdup (attribute);
  score->name = g_strdup (name);
  score->references = g_strdup (references);
  score->aside = aside;
  if (!plait_store_get_double (run, path, attribute, &score->score, error))
    return FALSE;
  score->low = score->high = score->score;
  return TRUE;
}

/* Adds the scores that measure work of the search, if the run stores them. Runs of old versions and runs without
 * search, such as those of classifiers, do not. The field aside is TRUE if no combiner of this run selects rows. */
static gboolean
read_work (PlaitRunResult *result, PlaitStore *run, const char *split, const char *references, GError **error)
{
  g_autofree char *group = g_strdup_printf ("/evaluation/%s", split);
  g_autofree char *times = g_strdup_printf ("/environment/evaluation/%s", split);
  double chosen;

  if (!plait_store_has_attribute (run, group, "states_touched"))
    return TRUE;
  return plait_store_get_double (run, group, "states_chosen", &chosen, error)
         && add_work (result, run, split, group, "states_touched", "states touched", references, chosen == 0, error)
         && add_work (result, run, split, times, "milliseconds_a_word", "ms/word", references, chosen == 0, error);
}

static gboolean
read_split (PlaitRunResult *result, PlaitStore *run, const char *split, GError **error)
{
  g_autofree char *group = g_strdup_printf ("/evaluation/%s", split);
  g_autofree char *table = g_strconcat (group, "/metrics", NULL);
  gint64 n_hypotheses = 0;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_array_set_clear_func (rows, row_clear);
  gboolean known = plait_store_read_table (run, table, fields, G_N_ELEMENTS (fields), MAX_ROWS, rows, error);
  g_auto (GStrv) hypotheses = known ? read_texts (run, group, "hypotheses", &n_hypotheses, error) : NULL;
  g_autoptr (PlaitReferences) references = hypotheses ? read_references (run, group, n_hypotheses, error) : NULL;
  g_autofree char *digest = NULL;

  if (!references)
    return FALSE;
  digest = plait_references_digest (references);
  for (guint i = 0; i < rows->len; i++)
    {
      Row *row = &g_array_index (rows, Row, i);
      PlaitRunScore *score = g_new0 (PlaitRunScore, 1);

      g_ptr_array_add (result->scores, score);
      score->split = g_strdup (split);
      score->metric = g_steal_pointer (&row->metric);
      score->name = g_steal_pointer (&row->name);
      score->score = row->score;
      score->low = row->low;
      score->high = row->high;
      score->references = g_strdup (digest);
      if (!take_statistics (score, run, group, hypotheses, references, n_hypotheses, error))
        return FALSE;
    }
  return read_work (result, run, split, digest, error);
}

/* Removes from @list ("GROUP.KEY=VALUE") the settings that cannot change a score. */
static void
drop_neutral (char **list)
{
  guint n = 0;

  for (guint i = 0; list[i]; i++)
    {
      g_auto (GStrv) parts = g_strsplit_set (list[i], ".=", 3);

      if (!parts[0] || !parts[1] || plait_experiment_changes_scores (parts[0], parts[1]))
        list[n++] = list[i];
      else
        g_free (list[i]);
    }
  list[n] = NULL;
}

/* If @split is a named evaluation, sets score->set for all its scores. */
static gboolean
read_set (PlaitRunResult *result, PlaitStore *run, const char *split, GError **error)
{
  g_autofree char *group = g_strdup_printf ("/evaluation/%s", split);
  g_auto (GStrv) list = NULL;
  g_autofree char *set = NULL;
  gint64 n;

  if (!plait_store_has_attribute (run, group, "set"))
    return TRUE;
  list = plait_store_get_list (run, group, "set", PLAIT_STORE_STRING, &n, error);
  if (list)
    drop_neutral (list);
  set = list ? g_strjoinv (" ", list) : NULL;
  for (guint i = 0; set && i < result->scores->len; i++)
    {
      PlaitRunScore *score = result->scores->pdata[i];

      if (g_str_equal (score->split, split))
        score->set = g_strdup (set);
    }
  return set != NULL;
}

static PlaitStoreWalkAction
count_elements (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  gint64 *count = data;

  if (visit->object.kind == PLAIT_STORE_DATASET)
    *count += visit->object.elements;
  return PLAIT_STORE_WALK_CONTINUE;
}

static void
vocabulary_clear (gpointer item)
{
  PlaitRunVocabulary *vocabulary = item;

  g_free (vocabulary->name);
  g_free (vocabulary->digest);
}

/* Reads the vocabularies of @run. The target's vocabulary is the one named like the target; if there is none, the
 * shared one. */
static gboolean
read_vocabularies (PlaitRunResult *result, PlaitStore *run, GError **error)
{
  g_auto (GStrv) names = plait_store_has (run, "/vocabulary") ? plait_store_members (run, "/vocabulary", error) : NULL;
  g_autoptr (PlaitKeyFile) file = plait_trained_key_file (run, NULL);
  const char *target = file ? plait_key_file_value (file, "data", "target") : NULL;

  for (guint i = 0; names && names[i]; i++)
    {
      g_autofree char *path = g_strconcat ("/vocabulary/", names[i], NULL);
      g_autofree char *pieces = g_strconcat (path, "/pieces", NULL);
      PlaitRunVocabulary vocabulary = { .name = g_strdup (names[i]) };
      PlaitStoreObject object;

      vocabulary.digest = plait_store_get_string (run, path, "sha256", error);
      g_array_append_val (result->vocabularies, vocabulary);
      if (!vocabulary.digest || !plait_store_describe (run, pieces, &object, error))
        return FALSE;
      g_array_index (result->vocabularies, PlaitRunVocabulary, i).entries = object.elements;
      if (g_strcmp0 (names[i], target) == 0 || (!result->target && g_str_equal (names[i], "shared")))
        result->target = vocabulary.digest;
    }
  return names || !plait_store_has (run, "/vocabulary");
}

PlaitRunResult *
plait_run_result_new (PlaitStore *run, GError **error)
{
  g_autoptr (PlaitRunResult) result = g_new0 (PlaitRunResult, 1);
  static const PlaitStoreField rate = { "target_tokens_per_second", PLAIT_STORE_DOUBLE, 0, NULL };
  g_auto (GStrv) splits = NULL;

  result->scores = g_ptr_array_new_with_free_func (score_free);
  result->rates = g_array_new (FALSE, FALSE, sizeof (double));
  result->vocabularies = g_array_new (FALSE, FALSE, sizeof (PlaitRunVocabulary));
  g_array_set_clear_func (result->vocabularies, vocabulary_clear);
  if (!plait_store_has (run, "/training"))
    return g_steal_pointer (&result);
  result->set = plait_training_set_read (run);
  if (!read_vocabularies (result, run, error))
    return NULL;
  if (!plait_store_walk (run, "/checkpoint/last/parameters", G_MAXUINT, count_elements, &result->parameters, error))
    return NULL;
  /* An average of checkpoints has no training of its own. */
  if (plait_store_has (run, "/training/updates")
      && !plait_store_read_table (run, "/training/updates", &rate, 1, MAX_ROWS, result->rates, error))
    return NULL;
  if (!plait_store_has (run, "/evaluation"))
    return g_steal_pointer (&result);
  splits = plait_store_members (run, "/evaluation", error);
  if (!splits)
    return NULL;
  for (guint i = 0; splits[i]; i++)
    if (!read_split (result, run, splits[i], error) || !read_set (result, run, splits[i], error))
      return NULL;
  return g_steal_pointer (&result);
}

/* Returns score->set of the evaluation @split, from the first of @results that has this evaluation. NULL if no result
 * has it, or if it is not a named evaluation. */
static const char *
find_set (PlaitRunResult *const *results, guint n, const char *split)
{
  for (guint r = 0; r < n; r++)
    for (guint i = 0; results[r] && i < results[r]->scores->len; i++)
      {
        const PlaitRunScore *score = results[r]->scores->pdata[i];

        if (g_str_equal (score->split, split))
          return score->set;
      }
  return NULL;
}

static void
drop_mixed (PlaitRunResult *const *results, guint n, PlaitRunResult *result, const char *name, PlaitLog *log)
{
  static const char own[] = "the run's own settings";
  g_autofree char *reported = NULL; /* split of the last warning */

  for (guint i = 0; i < result->scores->len;)
    {
      const PlaitRunScore *score = result->scores->pdata[i];
      const char *first = find_set (results, n, score->split);

      if (!score->set || !first || g_str_equal (score->set, first))
        {
          i++;
          continue;
        }
      if (g_strcmp0 (reported, score->split) != 0)
        plait_log_warning (log,
                           "%s: the evaluation %s was made with %s in this run, but with %s in another run, so this "
                           "run's scores for it are left out; plait test --as can make it again with equal settings",
                           name, score->split, *score->set ? score->set : own, *first ? first : own);
      g_free (reported);
      reported = g_strdup (score->split);
      g_ptr_array_remove_index (result->scores, i);
    }
}

void
plait_run_results_drop_mixed (PlaitRunResult *const *results, const char *const *names, guint n, PlaitLog *log)
{
  for (guint r = 0; r < n; r++)
    if (results[r])
      drop_mixed (results, n, results[r], names[r], log);
}

/*
 * Functions for the score columns of tables
 */

/* number of digits that titles show of the digest of the references */
#define DIGITS_SHOWN 8

gboolean
plait_score_column_has_same_references (const PlaitScoreColumn *score_column, const PlaitScoreColumn *other)
{
  return g_str_equal (score_column->split, other->split) && g_str_equal (score_column->references, other->references);
}

const PlaitRunScore *
plait_score_column_score (const PlaitScoreColumn *score_column, const PlaitRunResult *result)
{
  const PlaitRunScore *score = plait_run_result_find (result, score_column->split, score_column->metric);

  return score && g_str_equal (score->references, score_column->references) ? score : NULL;
}

char *
plait_score_column_split_text (const PlaitScoreColumn *score_column)
{
  return score_column->apart
             ? g_strdup_printf ("%s (references %.*s)", score_column->split, DIGITS_SHOWN, score_column->references)
             : g_strdup (score_column->split);
}

/* Adds a column for @score if there is none yet. Columns of one split stay together, and among them the columns with
 * the same references. */
static void
add_score_column (GArray *score_columns, const PlaitRunScore *score)
{
  PlaitScoreColumn score_column = {
    .split = score->split,
    .references = score->references,
    .metric = score->metric,
    .name = score->name,
    .larger_is_better = plait_run_score_larger_is_better (score),
    .tested = score->scorer != NULL,
  };
  gboolean beside = FALSE;
  guint place = score_columns->len;

  for (guint i = 0; i < score_columns->len; i++)
    {
      const PlaitScoreColumn *other = &g_array_index (score_columns, PlaitScoreColumn, i);

      if (!g_str_equal (other->split, score->split)
          || (beside && !plait_score_column_has_same_references (other, &score_column)))
        continue;
      beside = plait_score_column_has_same_references (other, &score_column);
      if (beside && g_str_equal (other->metric, score->metric))
        return;
      place = i + 1;
    }
  g_array_insert_val (score_columns, place, score_column);
}

/* Sets score_column->apart of column @i. Returns TRUE if another column with the same split and references has the same
 * title, as bleu and bleu:tok=none have. */
static gboolean
compare_score_columns (GArray *score_columns, guint i)
{
  PlaitScoreColumn *score_column = &g_array_index (score_columns, PlaitScoreColumn, i);
  gboolean ambiguous = FALSE;

  for (guint k = 0; k < score_columns->len; k++)
    {
      const PlaitScoreColumn *other = &g_array_index (score_columns, PlaitScoreColumn, k);
      gboolean beside = plait_score_column_has_same_references (other, score_column);

      score_column->apart |= g_str_equal (other->split, score_column->split) && !beside;
      ambiguous |= k != i && beside && g_str_equal (other->name, score_column->name);
    }
  return ambiguous;
}

/* TRUE if scores of @metric are per token, so that runs with different tokens cannot be compared. */
static gboolean
is_per_token (const char *metric)
{
  return g_str_equal (metric, "perplexity");
}

gboolean
plait_run_results_differ_in_target (const PlaitRunResult *const *results, guint n)
{
  const char *first = NULL;

  for (guint r = 0; r < n; r++)
    {
      const char *target = results[r] ? results[r]->target : NULL;

      if (target && first && !g_str_equal (target, first))
        return TRUE;
      first = first ? first : target;
    }
  return FALSE;
}

GArray *
plait_run_results_score_columns (const PlaitRunResult *const *results, guint n)
{
  GArray *score_columns = g_array_new (FALSE, FALSE, sizeof (PlaitScoreColumn));
  g_autofree gboolean *ambiguous = NULL;
  gboolean apart = plait_run_results_differ_in_target (results, n);

  for (guint r = 0; r < n; r++)
    for (guint i = 0; results[r] && i < results[r]->scores->len; i++)
      {
        const PlaitRunScore *score = results[r]->scores->pdata[i];

        if (!score->aside && !(apart && is_per_token (score->metric)))
          add_score_column (score_columns, score);
      }
  ambiguous = g_new (gboolean, score_columns->len + 1);
  for (guint i = 0; i < score_columns->len; i++)
    ambiguous[i] = compare_score_columns (score_columns, i);
  for (guint i = 0; i < score_columns->len; i++)
    if (ambiguous[i])
      g_array_index (score_columns, PlaitScoreColumn, i).name
          = g_array_index (score_columns, PlaitScoreColumn, i).metric;
  return score_columns;
}
