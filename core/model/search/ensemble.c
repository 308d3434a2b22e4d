/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"

#include <math.h>

/* Searches with several models. */

PlaitBatch
plait_search_member_batch (const PlaitSearch *search, guint member, const PlaitBatch *batch)
{
  PlaitBatch part = *batch;

  for (guint i = 0; i < member; i++)
    part.inputs += plait_model_specification (search->members[i].model)->n_sources;
  part.n_sources = plait_model_specification (search->members[member].model)->n_sources;
  return part;
}

PlaitModel *
plait_search_reader (const PlaitSearch *search, guint source, guint *of_model)
{
  guint member = 0;

  for (*of_model = source;; member++)
    {
      guint n = plait_model_specification (search->members[member].model)->n_sources;

      if (*of_model < n || member + 1 == search->n_members)
        return search->members[member].model;
      *of_model -= n;
    }
}

gboolean
plait_search_check_batch (const PlaitSearch *search, const PlaitBatch *batch, GError **error)
{
  for (guint i = 0; i < search->n_members; i++)
    {
      PlaitBatch part = plait_search_member_batch (search, i, batch);

      if (!plait_model_check_batch (search->members[i].model, &part, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_search_check_target (const PlaitSearch *search, gint64 rows)
{
  for (guint i = 0; i < search->n_members; i++)
    {
      const PlaitModel *model = search->members[i].model;

      if (!plait_model_check_length (model, plait_model_specification (model)->n_sources, rows, NULL))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_search_is_unread (const PlaitBatch *batch, gint64 sentence)
{
  for (gint64 i = 0; i < batch->n_sources; i++)
    if (!plait_input_is_missing (&batch->inputs[i], sentence))
      return FALSE;
  return TRUE;
}

void
plait_search_weigh (const PlaitSearch *search, const PlaitBatch *batch, double *weights)
{
  for (gint64 s = 0; s < batch->n_sentences; s++)
    {
      gboolean all = plait_search_is_unread (batch, s);
      double *of_sentence = weights + s * search->n_members, sum = 0;

      for (guint i = 0; i < search->n_members; i++)
        {
          PlaitBatch part = plait_search_member_batch (search, i, batch);

          of_sentence[i] = all || !plait_search_is_unread (&part, s) ? search->members[i].weight : 0;
          sum += of_sentence[i];
        }
      for (guint i = 0; i < search->n_members; i++)
        of_sentence[i] /= sum;
    }
}

/* Subtracts the greatest log-probability before exp, which could otherwise give 0 for all members. */
double
plait_search_combine (const PlaitSearch *search, const double *weights, const double *log_probabilities)
{
  double greatest = -INFINITY, sum = 0;

  for (guint i = 0; i < search->n_members; i++)
    if (weights[i] > 0)
      greatest = MAX (greatest, log_probabilities[i]);
  if (greatest == -INFINITY)
    return greatest;
  for (guint i = 0; i < search->n_members; i++)
    {
      double more = log_probabilities[i] - greatest;

      if (weights[i] > 0)
        sum += weights[i] * (search->rule == PLAIT_ENSEMBLE_LOG ? more : more == 0 ? 1 : exp (more));
    }
  return greatest + (search->rule == PLAIT_ENSEMBLE_LOG ? sum : log (sum));
}

typedef struct
{
  const PlaitSearch *search;
  PlaitPool *pool;
  PlaitRagged hypotheses; /* rows of each sentence in the step */
  const double *weights;  /* weights of the members: [sentences][members] */
  gint64 words;
  gint64 row;                     /* row of the step with which @log_probabilities begins */
  gint64 rows;                    /* number of rows of each member */
  PlaitScalar *log_probabilities; /* [members][rows][words]; those of the ensemble replace those of the first member */
  guint best;                     /* number of best words of a row that the caller needs; 0: all */
} Combining;

/* Inserts @value among the @found greatest values in @top [@best], greatest first, and returns their new number. */
static guint
insert (PlaitScalar *top, guint found, guint best, PlaitScalar value)
{
  guint at = found < best ? found : best - 1;

  if (found == best && !(value > top[at]))
    return found;
  for (; at > 0 && value > top[at - 1]; at--)
    top[at] = top[at - 1];
  top[at] = value;
  return MIN (found + 1, best);
}

/* Returns the weights of the members in the sentence of row combining->row + @row. */
static const double *
weights_of (const Combining *combining, gint64 row)
{
  gint64 sentence = 0;

  while (combining->hypotheses.offsets[sentence + 1] <= combining->row + row)
    sentence++;
  return combining->weights + sentence * combining->search->n_members;
}

/* Combines a row. The ensemble gives a word at most the greatest log-probability that a member gives. So its value is
 * not computed for a word that cannot be among the best, except for EOS. */
static void
combine_row (gpointer data, gint64 row, guint thread)
{
  const Combining *combining = data;
  const PlaitSearch *search = combining->search;
  const double *weights = weights_of (combining, row);
  gint64 stride = combining->rows * combining->words;
  guint best = combining->best, found = 0;
  PlaitScalar *first = combining->log_probabilities + row * combining->words;
  PlaitScalar *top = plait_pool_scratch (combining->pool, thread, sizeof (PlaitScalar) * (best + 1));
  double members[PLAIT_SEARCH_MAX_MEMBERS];

  for (gint64 word = 0; word < combining->words; word++)
    {
      PlaitScalar greatest = -(PlaitScalar)INFINITY;

      for (guint i = 0; i < search->n_members; i++)
        if (weights[i] > 0)
          greatest = MAX (greatest, first[i * stride + word]);
      if (best > 0 && found == best && greatest <= top[best - 1] && word != PLAIT_TOKEN_EOS)
        {
          first[word] = -(PlaitScalar)INFINITY;
          continue;
        }
      for (guint i = 0; i < search->n_members; i++)
        members[i] = (double)first[i * stride + word];
      first[word] = (PlaitScalar)plait_search_combine (search, weights, members);
      if (best > 0)
        found = insert (top, found, best, first[word]);
    }
}

void
plait_search_row_log_probabilities (const PlaitSearch *search, PlaitSearchWorkspace *workspace, PlaitRagged hypotheses,
                                    const PlaitWordDistribution *words, gint64 first, gint64 n, gint64 n_words,
                                    guint best, PlaitScalar *log_probabilities)
{
  Combining combining = { .search = search,
                          .pool = workspace->pool,
                          .hypotheses = hypotheses,
                          .weights = workspace->weights,
                          .words = n_words,
                          .row = first,
                          .rows = n,
                          .log_probabilities = log_probabilities,
                          .best = best };

  for (guint i = 0; i < search->n_members; i++)
    plait_word_distribution_rows (&words[i], workspace->step, first, n, n_words,
                                  log_probabilities + (gint64)i * n * n_words);
  if (search->n_members > 1)
    plait_pool_run (workspace->pool, n, combine_row, &combining);
}
