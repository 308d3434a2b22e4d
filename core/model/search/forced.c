/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"

#include <math.h>

#include "autograd/layer-operators.h"

typedef struct
{
  PlaitSearch *search;
  const PlaitBatch *batch;
  double *row_log_probabilities;
  PlaitAttentionRecord *record;
  guint member; /* index of the model that scores, among the members of the search */
  gboolean recording;
  gboolean recording_coverage;
} Forced;

/* Returns the target ids for a member of an ensemble. For a member that cannot copy own words (source words outside the
 * vocabulary), own words are replaced by the unknown token, in a copy in @arena. */
static const gint32 *
targets_of_member (PlaitArena *arena, const PlaitBatch *batch)
{
  gint64 n = plait_ragged_rows (batch->target_rows);
  gint32 *targets;

  for (gint64 i = 0; i < batch->n_sources; i++)
    if (batch->inputs[i].own_ids)
      return batch->target_outputs;
  targets = plait_arena_new_array (arena, gint32, n);
  for (gint64 i = 0; i < n; i++)
    targets[i] = plait_batch_known_id (batch, batch->target_outputs[i]);
  return targets;
}

static void
force (gpointer data)
{
  Forced *forced = data;
  PlaitSearch *search = forced->search;
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitModelSums sums;
  PlaitBatch batch = plait_search_member_batch (search, forced->member, forced->batch);
  gint64 rows = plait_ragged_rows (batch.target_rows);

  if (search->n_members > 1)
    batch.target_outputs = targets_of_member (search->whole.batch_arena, &batch);
  if (forced->recording && forced->member == 0)
    forced->record = plait_search_record (search, &search->whole, forced->recording_coverage);
  plait_model_loss (search->members[forced->member].model, search->whole.batch_tape, &batch, &options, &sums,
                    forced->row_log_probabilities, forced->record);
  for (gint64 row = 0; row < rows; row++)
    forced->row_log_probabilities[row] = -forced->row_log_probabilities[row];
}

/* Scores the batch with member forced->member. */
static gboolean
score (Forced *forced, GError **error)
{
  PlaitSearch *search = forced->search;
  g_autoptr (GError) cause = NULL;

  plait_tape_begin (search->whole.batch_tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  if (plait_arena_protect (search->whole.batch_arena, force, forced, &cause))
    return TRUE;
  if (!g_error_matches (cause, PLAIT_ERROR, PLAIT_ERROR_MEMORY))
    return plait_no_error (&cause, error);
  return plait_fail (error, PLAIT_ERROR_MEMORY,
                     "scoring %jd sentences does not fit into memory; lower decode.batch (%s)",
                     forced->batch->n_sentences, cause->message);
}

/* Replaces the log-probabilities in @rows [target rows], which are those of the first member, by those of the ensemble.
 * @others [members - 1][target rows]: log-probabilities of the other members. */
static void
combine (const PlaitSearch *search, const PlaitBatch *batch, const double *others, double *rows)
{
  gint64 n = plait_ragged_rows (batch->target_rows);
  g_autofree double *weights = g_new (double, batch->n_sentences * search->n_members);
  double row[PLAIT_SEARCH_MAX_MEMBERS];

  plait_search_weigh (search, batch, weights);
  for (gint64 s = 0; s < batch->n_sentences; s++)
    for (gint64 i = batch->target_rows.offsets[s]; i < batch->target_rows.offsets[s + 1]; i++)
      {
        row[0] = rows[i];
        for (guint m = 1; m < search->n_members; m++)
          row[m] = others[(m - 1) * n + i];
        rows[i] = plait_search_combine (search, weights + s * search->n_members, row);
      }
}

/* Fails if one of the @n log-probabilities in @rows is NaN. */
static gboolean
check_rows (const double *rows, gint64 n, GError **error)
{
  for (gint64 i = 0; i < n; i++)
    if (isnan (rows[i]))
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "scoring: the model gives no target a probability, because its states are not finite numbers; "
                         "choose another checkpoint");
  return TRUE;
}

gboolean
plait_search_forced (PlaitSearch *search, const PlaitBatch *batch, double *row_log_probabilities,
                     PlaitAttentionRecords **attention, gboolean coverage, GError **error)
{
  Forced forced = {
    .search = search,
    .batch = batch,
    .recording = attention != NULL,
    .recording_coverage = coverage,
  };
  gint64 rows = plait_ragged_rows (batch->target_rows);
  g_autofree double *others = g_new (double, (search->n_members - 1) * rows);

  if (!plait_search_check_batch (search, batch, error))
    return FALSE;
  /* Score with the first member last: the result includes its attention, which the next scoring would clear. */
  for (forced.member = search->n_members; forced.member-- > 0;)
    {
      forced.row_log_probabilities = forced.member == 0 ? row_log_probabilities : others + (forced.member - 1) * rows;
      if (!score (&forced, error))
        return FALSE;
    }
  if (search->n_members > 1)
    combine (search, batch, others, row_log_probabilities);
  if (!check_rows (row_log_probabilities, rows, error))
    return FALSE;
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
