/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"
#include "autograd/layer-operators.h"

typedef struct
{
  PlaitSearch *search;
  const PlaitBatch *batch;
  double *row_log_probabilities;
  PlaitCapture *capture;
  gboolean capturing;
  gboolean covering;
} Forced;

static void
force (gpointer data)
{
  Forced *forced = data;
  PlaitSearch *search = forced->search;
  PlaitVocabularyLossOptions options = { .scale = 1 };
  PlaitModelSums sums;
  gint64 rows = plait_ragged_rows (forced->batch->target_rows);

  if (forced->capturing)
    forced->capture = plait_search_capture (search, &search->whole, forced->covering);
  plait_model_loss (search->model, search->whole.lasting, forced->batch, &options, &sums, forced->row_log_probabilities,
                    forced->capture);
  for (gint64 row = 0; row < rows; row++)
    forced->row_log_probabilities[row] = -forced->row_log_probabilities[row];
}

gboolean
plait_search_forced (PlaitSearch *search, const PlaitBatch *batch, double *row_log_probabilities,
                     PlaitCaptures **attention, gboolean coverage, GError **error)
{
  Forced forced = {
    .search = search,
    .batch = batch,
    .row_log_probabilities = row_log_probabilities,
    .capturing = attention != NULL,
    .covering = coverage,
  };
  g_autoptr (GError) cause = NULL;

  if (!plait_model_check_batch (search->model, batch, error))
    return FALSE;
  plait_tape_begin (search->whole.lasting, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  if (!plait_arena_protect (search->whole.lasting_arena, force, &forced, &cause))
    {
      if (!g_error_matches (cause, PLAIT_ERROR, PLAIT_ERROR_MEMORY))
        return plait_no_fault (&cause, error);
      return plait_fail (error, PLAIT_ERROR_MEMORY, "scoring %jd sentences does not fit (%s): lower decode.batch",
                         batch->n_sentences, cause->message);
    }
  if (attention)
    {
      *attention = plait_captures_new (batch->n_sentences);
      for (gint64 s = 0; s < batch->n_sentences; s++)
        {
          gint64 length = plait_ragged_length (batch->target_rows, s);
          PlaitCapture *paid = plait_capture_sentence ((*attention)->arena, forced.capture, s, length);

          for (gint64 t = 0; t < length; t++)
            plait_capture_add_row (paid, t, forced.capture, s, batch->target_rows.offsets[s] + t);
          (*attention)->of[s] = paid;
        }
    }
  return TRUE;
}
