/* SPDX-License-Identifier: MIT */
#include "corpus/batch.h"
#include "training/trainer-private.h"

/*
 * Measures the memory of a step, from the largest of some batches. Attention takes time quadratic in the length of a
 * sentence, so a batch with a very long sentence is replaced: by the beginning of its longest sentence or, if the
 * sentence cannot be cut, by the largest batch without such a sentence, if there is one. The memory of the largest
 * batch is then extrapolated, because the memory of fused attention is proportional to the number of rows.
 */
enum
{
  SAMPLED_BATCHES = 200,
  MAX_ROWS = 4096, /* a sentence with more rows in a stream is long */
};

gint64
plait_trainer_rows (const PlaitBatch *batch)
{
  gint64 rows = plait_ragged_rows (batch->target_rows);

  for (gint64 source = 0; source < batch->n_sources; source++)
    rows += plait_ragged_rows (batch->inputs[source].rows);
  return rows;
}

/* Returns the number of rows of sentence @s in the stream where it has the most rows. */
static gint64
longest_of (const PlaitBatch *batch, gint64 s)
{
  gint64 longest = batch->target_rows.offsets ? plait_ragged_length (batch->target_rows, s) : 0;

  for (gint64 source = 0; source < batch->n_sources; source++)
    longest = MAX (longest, plait_ragged_length (batch->inputs[source].rows, s));
  return longest;
}

static gboolean
is_long (const PlaitBatch *batch)
{
  gboolean found = FALSE;

  for (gint64 s = 0; s < batch->n_sentences; s++)
    found |= longest_of (batch, s) > MAX_ROWS;
  return found;
}

static void
shorten (PlaitRagged rows, gint64 n)
{
  gint64 *offsets = plait_batch_fill (gint64, rows.offsets);

  offsets[1] = MIN (offsets[1], n);
}

/* Shortens the target of @part, which has one sentence. If tokens are masked, keeps those in the rows that are left. */
static void
shorten_target (const PlaitTrainer *trainer, const PlaitBatch *part)
{
  gint64 n = 0;

  if (plait_model_specification (trainer->setup.model)->predict.kind != PLAIT_PREDICT_MASKED)
    n = MAX_ROWS;
  else /* target_inputs has the positions of the masked tokens, in ascending order */
    while (n < plait_ragged_rows (part->target_rows) && part->target_inputs[n] < MAX_ROWS)
      n++;
  shorten (part->target_rows, n);
}

/* TRUE if rows of @input can be cut off: if they are tokens, and there are no trees, documents or alignment, which
 * refer to rows. */
static gboolean
can_be_cut (const PlaitInput *input)
{
  return input->kind == PLAIT_INPUT_TOKENS && !input->trees && !input->documents && !input->alignment;
}

PlaitBatch *
plait_trainer_truncated_batch (const PlaitTrainer *trainer, const PlaitBatch *batch)
{
  gint64 s = 0;
  PlaitBatch *part;

  if (!is_long (batch))
    return NULL;
  for (gint64 other = 1; other < batch->n_sentences; other++)
    if (longest_of (batch, other) > longest_of (batch, s))
      s = other;
  for (gint64 source = 0; source < batch->n_sources; source++)
    if (!can_be_cut (&batch->inputs[source]))
      return NULL;
  part = plait_batch_slice (batch, s, 1, NULL);
  if (!part)
    return NULL;
  for (gint64 source = 0; source < part->n_sources; source++)
    shorten (part->inputs[source].rows, MAX_ROWS);
  if (part->target_rows.offsets)
    shorten_target (trainer, part);
  return part;
}

/* Two of the sampled batches: the largest one with a long sentence, and the largest one without a long sentence. */
typedef struct
{
  PlaitBatch *all; /* NULL if no sampled batch has a long sentence */
  PlaitBatch *shorter;
  gint64 rows; /* largest number of rows of a batch */
} Largest;

static void
largest_clear (Largest *largest)
{
  plait_batch_free (largest->all);
  plait_batch_free (largest->shorter);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Largest, largest_clear)

static gboolean
find_largest (PlaitTrainer *trainer, Largest *largest, GError **error)
{
  gint64 epoch, position;

  plait_iterator_tell (trainer->iterator, &epoch, &position);
  for (gint64 i = 0; i < MIN (SAMPLED_BATCHES, plait_iterator_batches (trainer->iterator)); i++)
    {
      PlaitBatch *batch = plait_iterator_next (trainer->iterator, error);
      PlaitBatch **slot;

      if (!batch)
        return FALSE;
      slot = is_long (batch) ? &largest->all : &largest->shorter;
      largest->rows = MAX (largest->rows, plait_trainer_rows (batch));
      if (*slot && plait_trainer_rows (*slot) >= plait_trainer_rows (batch))
        {
          plait_batch_free (batch);
          continue;
        }
      plait_batch_free (*slot);
      *slot = batch;
    }
  return plait_iterator_seek (trainer->iterator, epoch, position, error);
}

gboolean
plait_trainer_measure_memory (PlaitTrainer *trainer, gsize *bytes, gboolean *estimated, GError **error)
{
  g_auto (Largest) largest = { NULL };
  g_autoptr (PlaitBatch) truncated = NULL;
  PlaitTrainingSums sums = trainer->sums;
  PlaitBatch *batch;
  gboolean fits;

  if (!find_largest (trainer, &largest, error))
    return FALSE;
  truncated = largest.all ? plait_trainer_truncated_batch (trainer, largest.all) : NULL;
  batch = truncated ? truncated : largest.shorter ? largest.shorter : largest.all;
  *estimated = batch != largest.all && plait_trainer_rows (batch) < largest.rows;
  if (!plait_model_check_batch (trainer->setup.model, largest.all ? largest.all : batch, error))
    return FALSE;
  fits = plait_update_gradients (trainer->update, &batch, 1,
                                 plait_random_key (trainer->setup.seed, "dropout", NULL, (guint64)trainer->step + 1),
                                 &trainer->sums, error);
  trainer->sums = sums;
  if (!fits)
    return FALSE;
  *bytes = plait_update_peak (trainer->update);
  if (*estimated)
    *bytes = (gsize)((double)*bytes * (double)largest.rows / (double)MAX (1, plait_trainer_rows (batch)));
  return TRUE;
}
