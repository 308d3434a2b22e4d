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
plait_search_check_target (const PlaitSearch *search, gint64 rows, GError **error)
{
  for (guint i = 0; i < search->n_members; i++)
    {
      const PlaitModel *model = search->members[i].model;

      if (!plait_model_check_length (model, plait_model_specification (model)->n_sources, rows, error))
        return FALSE;
    }
  return TRUE;
}

/* The greatest log-probability is taken out of the sum of exponentials, so that equal members give their own
 * log-probability, bit by bit. */
double
plait_search_combine (const PlaitSearch *search, const double *log_probabilities)
{
  double greatest = -INFINITY, sum = 0;

  for (guint i = 0; i < search->n_members; i++)
    greatest = MAX (greatest, log_probabilities[i]);
  if (greatest == -INFINITY)
    return greatest;
  for (guint i = 0; i < search->n_members; i++)
    {
      double more = log_probabilities[i] - greatest;

      sum += search->members[i].weight * (search->rule == PLAIT_ENSEMBLE_LOG ? more : more == 0 ? 1 : exp (more));
    }
  return greatest + (search->rule == PLAIT_ENSEMBLE_LOG ? sum : log (sum));
}

typedef struct
{
  const PlaitSearch *search;
  PlaitPool *pool;
  gint64 words;
  gint64 rows;                    /* rows of each member */
  PlaitScalar *log_probabilities; /* [members][rows][words]; receives those of the ensemble in the first member */
  guint best;                     /* number of best words of a row that are needed; 0: all */
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

/* Combines a row. No mean is above the greatest log-probability of the members, so the mean of a word that cannot be
 * among the best need not be computed. */
static void
combine_row (gpointer data, gint64 row, guint thread)
{
  const Combining *combining = data;
  const PlaitSearch *search = combining->search;
  gint64 stride = combining->rows * combining->words;
  guint best = combining->best, found = 0;
  PlaitScalar *first = combining->log_probabilities + row * combining->words;
  PlaitScalar *top = plait_pool_scratch (combining->pool, thread, sizeof (PlaitScalar) * (best + 1));
  double members[PLAIT_SEARCH_MAX_MEMBERS];

  for (gint64 word = 0; word < combining->words; word++)
    {
      PlaitScalar greatest = first[word];

      for (guint i = 1; i < search->n_members; i++)
        greatest = MAX (greatest, first[i * stride + word]);
      if (best > 0 && found == best && greatest <= top[best - 1] && word != PLAIT_TOKEN_EOS)
        {
          first[word] = -(PlaitScalar)INFINITY;
          continue;
        }
      for (guint i = 0; i < search->n_members; i++)
        members[i] = (double)first[i * stride + word];
      first[word] = (PlaitScalar)plait_search_combine (search, members);
      if (best > 0)
        found = insert (top, found, best, first[word]);
    }
}

void
plait_search_row_log_probabilities (const PlaitSearch *search, PlaitSearchWorkspace *workspace,
                                    const PlaitWordDistribution *words, gint64 first, gint64 n, guint best,
                                    PlaitScalar *log_probabilities)
{
  gint64 n_words = plait_model_specification (search->model)->target_vocabulary_size;
  Combining combining = { search, workspace->pool, n_words, n, log_probabilities, best };

  for (guint i = 0; i < search->n_members; i++)
    plait_word_distribution_rows (&words[i], workspace->step, first, n, log_probabilities + (gint64)i * n * n_words);
  if (search->n_members > 1)
    plait_pool_run (workspace->pool, n, combine_row, &combining);
}
