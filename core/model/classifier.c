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

static PlaitNode *
choose (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitDecoderSources *sources, PlaitRagged target_rows,
        const gint32 *target_inputs, PlaitCapture *capture)
{
  const Classifier *c = (const Classifier *)decoder;
  PlaitNode *states = plait_row_reader_apply (&c->reader, tape, sources);

  return plait_side_by_side (tape, plait_linear_apply (tape, &c->score, states, PLAIT_ACTIVATION_NONE),
                             sources->candidates);
}

static const PlaitDecoderTable class_table = { .forward = classify };
static const PlaitDecoderTable choice_table = { .forward = choose };

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
