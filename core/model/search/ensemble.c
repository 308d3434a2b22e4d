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
  gint64 words;
  gint64 rows;                    /* rows of each member */
  PlaitScalar *log_probabilities; /* [members][rows][words]; receives those of the ensemble in the first member */
} Combining;

static void
combine_row (gpointer data, gint64 row, guint thread)
{
  const Combining *combining = data;
  const PlaitSearch *search = combining->search;
  PlaitScalar *first = combining->log_probabilities + row * combining->words;
  double members[PLAIT_SEARCH_MAX_MEMBERS];

  for (gint64 word = 0; word < combining->words; word++)
    {
      for (guint i = 0; i < search->n_members; i++)
        members[i] = (double)first[(gint64)i * combining->rows * combining->words + word];
      first[word] = (PlaitScalar)plait_search_combine (search, members);
    }
}

void
plait_search_row_log_probabilities (const PlaitSearch *search, PlaitSearchWorkspace *workspace,
                                    const PlaitWordDistribution *words, gint64 first, gint64 n,
                                    PlaitScalar *log_probabilities)
{
  gint64 n_words = plait_model_specification (search->model)->target_vocabulary_size;
  Combining combining = { search, n_words, n, log_probabilities };

  for (guint i = 0; i < search->n_members; i++)
    plait_word_distribution_rows (&words[i], workspace->step, first, n, log_probabilities + (gint64)i * n * n_words);
  if (search->n_members > 1)
    plait_pool_run (workspace->pool, n, combine_row, &combining);
}
