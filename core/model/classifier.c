/* SPDX-License-Identifier: MIT */
#include "model/decoder.h"

#include "model/memory-row.h"

/* What a class is told from, and which of several sentences is chosen: a state for each sentence that was read. */
typedef struct
{
  PlaitDecoder decoder;
  PlaitRowReader reader;
  PlaitLinear score; /* of a choice */
} Classifier;

static PlaitNode *
classify (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitDecoderSources *sources, PlaitRagged target_rows,
          const gint32 *target_inputs, PlaitCapture *capture)
{
  return plait_row_reader_apply (&((const Classifier *)decoder)->reader, tape, sources);
}

/* The scores of the @candidates of each document side by side, and where it has none so low a number that it has no
 * share. */
static PlaitNode *
side_by_side (PlaitTape *tape, PlaitNode *scores, PlaitRagged candidates)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = candidates.n, most = 1;
  PlaitNode *terms[2];
  gint64 *rows;
  PlaitScalar *absent;

  for (gint64 d = 0; d < n; d++)
    most = MAX (most, plait_ragged_length (candidates, d));
  rows = plait_arena_new_array (arena, gint64, n * most + 1);
  absent = plait_arena_new_array (arena, PlaitScalar, n * most + 1);
  for (gint64 d = 0; d < n; d++)
    for (gint64 i = 0; i < most; i++)
      {
        gboolean there = i < plait_ragged_length (candidates, d);

        rows[d * most + i] = there ? candidates.offsets[d] + i : -1;
        absent[d * most + i] = there ? 0 : PLAIT_NO_CHOICE;
      }
  terms[0] = plait_gather_windows (tape, scores, rows, n, most);
  terms[1] = plait_leaf (tape, plait_tensor (absent, n, most), NULL);
  return plait_sum (tape, terms, 2);
}

static PlaitNode *
choose (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitDecoderSources *sources, PlaitRagged target_rows,
        const gint32 *target_inputs, PlaitCapture *capture)
{
  const Classifier *c = (const Classifier *)decoder;
  PlaitNode *states = plait_row_reader_apply (&c->reader, tape, sources);

  return side_by_side (tape, plait_linear_apply (tape, &c->score, states, PLAIT_ACTIVATION_NONE), sources->candidates);
}

static gboolean
check_length (const PlaitDecoder *decoder, gint64 length, GError **error)
{
  return TRUE;
}

static void
classifier_free (PlaitDecoder *decoder)
{
  g_free (decoder);
}

static const PlaitDecoderTable class_table
    = { .check_length = check_length, .forward = classify, .free = classifier_free };
static const PlaitDecoderTable choice_table
    = { .check_length = check_length, .forward = choose, .free = classifier_free };

PlaitDecoder *
plait_classifier_new (const PlaitDecoderBuild *build, GError **error)
{
  gboolean chooses = build->predict->kind == PLAIT_PREDICT_CHOICE;
  g_autofree Classifier *c = g_new0 (Classifier, 1);

  c->decoder.table = chooses ? &choice_table : &class_table;
  c->decoder.width = build->settings->width;
  if (!plait_row_reader_declare (&c->reader, build, chooses ? "choice/hidden" : "class/hidden", error))
    return NULL;
  if (chooses)
    c->score = plait_linear_declare (build->parameters, "choice/score", c->decoder.width, 1, FALSE);
  return &((Classifier *)g_steal_pointer (&c))->decoder;
}
