/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"
#include "settings/settings.h"

/*
 * The bookkeeping of beam search, without a model: which hypotheses there are, which of them a decoder should extend,
 * and what becomes of its proposals. All sentences advance together, one token a step.
 */
typedef struct PlaitBeam PlaitBeam;

/* @limits: the most tokens of each sentence's hypotheses, their end counted. (transfer full) */
PlaitBeam *plait_beam_new (const PlaitDecodeSettings *settings, gint64 sentences, const gint64 *limits);
void plait_beam_free (PlaitBeam *beam);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBeam, plait_beam_free)

/* The unfinished hypotheses of sentences that are not done: rows of the next decoder step. */
typedef struct
{
  PlaitRagged hypotheses; /* [sentences], done ones without rows */
  const gint32 *tokens;   /* what each row reads: its last token, BOS at first */
  const gint64 *parents;  /* the row of the last step that each continues; in the first step, its sentence */
} PlaitBeamRows;

/* Valid until the next call of plait_beam_advance. No rows: the search is over. */
PlaitBeamRows plait_beam_rows (const PlaitBeam *beam);

/* How many words of a row the coming step may need: with fewer of them it is another search. */
guint plait_beam_words (const PlaitBeam *beam);

/* Takes the decoder's @best best words of every row: ids and log-probabilities [rows][best], best first; id -1 is
 * none. */
void plait_beam_advance (PlaitBeam *beam, guint best, const gint32 *ids, const PlaitScalar *log_probabilities);

/* The most steps that the limits allow. */
gint64 plait_beam_max_steps (const PlaitBeam *beam);

/* How many steps have been made. */
gint64 plait_beam_steps (const PlaitBeam *beam);

/* TRUE if the coming step is the last that @sentence's limit allows. */
gboolean plait_beam_is_last_step (const PlaitBeam *beam, gint64 sentence);

/* One token of a finished search's hypothesis, walked from its end to its beginning. */
typedef struct
{
  gint32 token;
  gint64 step;     /* the decoder step that proposed it ... */
  gint64 row;      /* ... and the row there */
  gint64 previous; /* of the token before it, or -1 */
} PlaitBeamToken;

typedef struct
{
  gint64 last;   /* its last token, EOS included, for plait_beam_token; -1: it has none */
  gint64 length; /* tokens, EOS included */
  double log_probability;
  double score;
  gboolean ended;
} PlaitBeamResult;

/* Sentence @sentence's hypotheses, best first; the number is returned, at most the beam. */
guint plait_beam_results (const PlaitBeam *beam, gint64 sentence, PlaitBeamResult *results);
const PlaitBeamToken *plait_beam_token (const PlaitBeam *beam, gint64 token);
