/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"

/* Number of rows whose log-probabilities are in memory at once. */
#define ROWS_AT_ONCE 32

typedef struct
{
  const PlaitBeam *beam;
  gint64 first;                   /* first row of log_probabilities */
  PlaitScalar *log_probabilities; /* [rows][n_words] */
  gint32 n_words;
  const gint32 *forbidden;
  guint n_forbidden;
  gboolean end;
  guint best;
  gint32 *ids;
  PlaitScalar *of_ids;
} Rows;

static void
row_piece (gpointer data, gint64 i, guint thread)
{
  const Rows *rows = data;
  gint64 row = rows->first + i;

  plait_beam_row_words (rows->beam, row, rows->log_probabilities + i * rows->n_words, rows->n_words, rows->forbidden,
                        rows->n_forbidden, rows->end, rows->ids + row * rows->best, rows->of_ids + row * rows->best);
}

void
plait_search_row_words (const PlaitSearch *search, PlaitSearchWorkspace *workspace, const PlaitBeam *beam,
                        const PlaitWordDistribution *words, gint64 own_words, const gint32 *forbidden,
                        guint n_forbidden, gboolean end, guint best, gint32 *ids, PlaitScalar *log_probabilities)
{
  gint64 n = words->states->value.rows;
  gint64 n_words = plait_model_specification (search->model)->target_vocabulary_size + own_words;
  gint64 at_once = MIN (n, ROWS_AT_ONCE);
  guint needed = plait_beam_needs_rows (beam) ? 0 : best + n_forbidden;
  Rows rows = { .beam = beam,
                .n_words = (gint32)n_words,
                .forbidden = forbidden,
                .n_forbidden = n_forbidden,
                .end = end,
                .best = best,
                .ids = ids,
                .of_ids = log_probabilities };

  rows.log_probabilities
      = plait_arena_new_array (workspace->step_arena, PlaitScalar, search->n_members * at_once * n_words);
  for (; rows.first < n; rows.first += at_once)
    {
      gint64 now = MIN (at_once, n - rows.first);

      plait_search_row_log_probabilities (search, workspace, plait_beam_rows (beam).hypotheses, words, rows.first, now,
                                          n_words, needed, rows.log_probabilities);
      plait_pool_run (workspace->pool, now, row_piece, &rows);
    }
}
