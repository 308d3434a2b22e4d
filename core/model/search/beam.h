/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"
#include "settings/settings.h"

/*
 * Bookkeeping of beam search, without a model: the hypotheses, the rows that a decoder should extend, and the selection
 * among its proposals. All sentences advance together, one token a step.
 */
typedef struct PlaitBeam PlaitBeam;

/* Creates a beam for @sentences. @limits [sentences]: most tokens of a hypothesis, EOS included. (transfer full) */
PlaitBeam *plait_beam_new (const PlaitDecodeSettings *settings, gint64 sentences, const gint64 *limits);
void plait_beam_free (PlaitBeam *beam);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBeam, plait_beam_free)

/* Unfinished hypotheses of unfinished sentences: the rows of the next decoder step. */
typedef struct
{
  PlaitRagged hypotheses; /* [sentences], finished ones without rows */
  const gint32 *tokens;   /* last token of each row; BOS in the first step */
  const gint64 *parents;  /* row of the previous step that each row continues; in the first step, its sentence */
} PlaitBeamRows;

/* Returns the rows of the next step, valid until plait_beam_advance. The search is over if there are no rows. */
PlaitBeamRows plait_beam_rows (const PlaitBeam *beam);

/* Returns the number of best words of a row that the next step needs for an exact beam. */
guint plait_beam_words (const PlaitBeam *beam);

/* Advances all sentences by the @best most probable words of every row: ids and log-probabilities [rows][best], best
 * first. Id -1: no word. */
void plait_beam_advance (PlaitBeam *beam, guint best, const gint32 *ids, const PlaitScalar *log_probabilities);

/* Returns the largest number of steps that the limits allow. */
gint64 plait_beam_max_steps (const PlaitBeam *beam);

/* Returns the number of steps made. */
gint64 plait_beam_steps (const PlaitBeam *beam);

/* TRUE if the next step is the last that @sentence's limit allows. */
gboolean plait_beam_is_last_step (const PlaitBeam *beam, gint64 sentence);

/* One token of a hypothesis. The list of tokens runs from its end to its beginning. */
typedef struct
{
  gint32 token;
  gint64 step;     /* decoder step that proposed the token */
  gint64 row;      /* row in that step */
  gint64 previous; /* index of the token before it, or -1 */
} PlaitBeamToken;

typedef struct
{
  gint64 last;   /* index of the last token, EOS included, for plait_beam_token; -1 if the hypothesis is empty */
  gint64 length; /* number of tokens, EOS included */
  double log_probability;
  double score;
  gboolean ended;
} PlaitBeamResult;

/* Fills @results with the hypotheses of @sentence, best first, and returns their number, at most the beam width. */
guint plait_beam_results (const PlaitBeam *beam, gint64 sentence, PlaitBeamResult *results);
const PlaitBeamToken *plait_beam_token (const PlaitBeam *beam, gint64 token);
