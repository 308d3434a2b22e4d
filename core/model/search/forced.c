/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"
#include "autograd/layer-operators.h"

typedef struct
{
  PlaitSearch *search;
  const PlaitBatch *batch;
  double *row_log_probabilities;
  PlaitAttentionRecord *record;
  gboolean recording;
  gboolean recording_coverage;
} Forced;

static void
force (gpointer data)
{
  Forced *forced = data;
  PlaitSearch *search = forced->search;
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitModelSums sums;
  gint64 rows = plait_ragged_rows (forced->batch->target_rows);

  if (forced->recording)
    forced->record = plait_search_record (search, &search->whole, forced->recording_coverage);
  plait_model_loss (search->model, search->whole.batch_tape, forced->batch, &options, &sums,
                    forced->row_log_probabilities, forced->record);
  for (gint64 row = 0; row < rows; row++)
    forced->row_log_probabilities[row] = -forced->row_log_probabilities[row];
}

gboolean
plait_search_forced (PlaitSearch *search, const PlaitBatch *batch, double *row_log_probabilities,
                     PlaitAttentionRecords **attention, gboolean coverage, GError **error)
{
  Forced forced = {
    .search = search,
    .batch = batch,
    .row_log_probabilities = row_log_probabilities,
    .recording = attention != NULL,
    .recording_coverage = coverage,
  };
  g_autoptr (GError) cause = NULL;

  if (!plait_model_check_batch (search->model, batch, error))
    return FALSE;
  plait_tape_begin (search->whole.batch_tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  if (!plait_arena_protect (search->whole.batch_arena, force, &forced, &cause))
    {
      if (!g_error_matches (cause, PLAIT_ERROR, PLAIT_ERROR_MEMORY))
        return plait_no_error (&cause, error);
      return plait_fail (error, PLAIT_ERROR_MEMORY, "scoring %jd sentences does not fit (%s): lower decode.batch",
                         batch->n_sentences, cause->message);
    }
  if (attention)
    {
      *attention = plait_attention_records_new (batch->n_sentences);
      for (gint64 s = 0; s < batch->n_sentences; s++)
        {
          gint64 length = plait_ragged_length (batch->target_rows, s);
          PlaitAttentionRecord *sentence_record
              = plait_attention_record_sentence ((*attention)->arena, forced.record, s, length);

          for (gint64 t = 0; t < length; t++)
            plait_attention_record_add_row (sentence_record, t, forced.record, s, batch->target_rows.offsets[s] + t);
          (*attention)->of[s] = sentence_record;
        }
    }
  return TRUE;
}
