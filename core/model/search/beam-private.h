/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/beam.h"

/* A hypothesis of a beam. */
typedef struct
{
  gint64 last;
  gint64 length;
  double log_probability;
  double penalty; /* sum of the diversity penalties of the hypothesis's tokens */
  double rank;
  gint64 row;             /* row of the hypothesis in the next step; not set if it has ended */
  PlaitPhraseState state; /* phrases that the hypothesis contains */
  gboolean ended;
} PlaitBeamHypothesis;

/* A hypothesis and the word that would extend it, or a finished hypothesis. */
typedef struct
{
  guint from;
  gint32 token; /* word that extends the hypothesis; -1: the hypothesis stays unchanged */
  double log_probability;
  double penalty;
  double rank;
} PlaitBeamCandidate;

struct PlaitBeam
{
  PlaitDecodeSettings settings;
  gint64 sentences;
  gint64 *limits;
  gint64 *numbers;                /* number of each sentence in the corpus, [sentences], or NULL */
  PlaitRequirement *requirements; /* [sentences]; zeros if there are no requirements */
  gint64 steps;
  gint64 groups;                   /* number of groups of a sentence; when sampling, each sample is a group */
  guint width;                     /* maximum number of hypotheses of a group that a step extends */
  guint capacity;                  /* maximum number of hypotheses of a group, unfinished and finished */
  PlaitBeamHypothesis *hypotheses; /* hypotheses of each group: [sentences][groups][capacity] */
  guint *n;                        /* [sentences][groups]: number of hypotheses */
  gboolean *done;                  /* TRUE if the group is finished: [sentences][groups] */
  GArray *tokens;
  PlaitBeamCandidate *candidates; /* [capacity]: best candidates of one group, best first */
  guint n_candidates;
  guint max_candidates;      /* number of candidates to keep */
  PlaitBeamHypothesis *next; /* hypotheses after the step, under construction: [capacity] */
  GArray *taken;             /* gint32: words that earlier groups of the sentence took in this step */
  /* Rows of the next step: @offsets has the first row of each sentence, the other arrays a value for each row. */
  gint64 *offsets;
  gint32 *row_tokens;
  gint64 *row_parents;
  gint64 *row_hypotheses; /* index in @hypotheses of the hypothesis that each row extends; if groups share the row, this
                             hypothesis is in the first group */
  guint *row_bans;        /* [rows + 1]: index in bans of each row's first banned word */
  GArray *bans;           /* gint32: words that must not follow a row */
  guint max_bans;         /* maximum number of banned words of a row */
  guint max_advancing;    /* maximum number of words that a row proposes because they continue a required phrase */
  GArray *history;        /* gint32: scratch memory for the tokens of a hypothesis */
};

static inline gboolean
plait_beam_samples (const PlaitBeam *beam)
{
  return beam->settings.method == PLAIT_DECODE_METHOD_SAMPLE;
}

/* Returns the index of a group in n and done. */
static inline gint64
plait_beam_group (const PlaitBeam *beam, gint64 sentence, gint64 group)
{
  return sentence * beam->groups + group;
}

static inline PlaitBeamHypothesis *
plait_beam_hypotheses (const PlaitBeam *beam, gint64 group)
{
  return beam->hypotheses + group * beam->capacity;
}

/* TRUE if finished hypotheses do not compete with unfinished ones. */
static inline gboolean
plait_beam_sets_aside (const PlaitBeam *beam)
{
  return beam->settings.finished != PLAIT_DECODE_FINISHED_COMPETE;
}

/* TRUE if all groups of @sentence continue one row: in the steps of the prefix, and in the first step after them. */
static inline gboolean
plait_beam_shares_row (const PlaitBeam *beam, gint64 sentence)
{
  return beam->steps <= beam->requirements[sentence].prefix_length;
}

/* Returns the word of the prefix that @sentence takes in the next step, or -1 after the prefix. */
gint32 plait_beam_forced_word (const PlaitBeam *beam, gint64 sentence);

/* TRUE if @word after row @row would repeat an n-gram. */
gboolean plait_beam_is_banned (const PlaitBeam *beam, gint64 row, gint32 word);

/* Returns the number of finished hypotheses of @group. */
guint plait_beam_count_finished (const PlaitBeam *beam, gint64 group);

/* TRUE if @a ranks before @b. Of equal ranks, the hypothesis with the lower index in its group comes first, then the
 * lower word id. */
gboolean plait_beam_precedes (const PlaitBeamCandidate *a, const PlaitBeamCandidate *b);

/* Returns the candidate that extends hypothesis @from of @group by @token, which has log-probability
 * @log_probability. */
PlaitBeamCandidate plait_beam_candidate (const PlaitBeam *beam, gint64 group, guint from, gint32 token,
                                         double log_probability);

/* Collects the best candidates of @group in beam->candidates, best first. Considers the words in the columns from
 * @first to @end - 1 of @ids and @log_probabilities, both [rows][@best]. */
void plait_beam_propose (PlaitBeam *beam, gint64 group, guint best, guint first, guint end, const gint32 *ids,
                         const PlaitScalar *log_probabilities);

/* Replaces the hypotheses of @group by beam->candidates. */
void plait_beam_choose (PlaitBeam *beam, gint64 group);

/* Selects candidates of a sentence with phrases by dynamic beam allocation (Post & Vilar 2018). @ids and
 * @log_probabilities [rows][best] have the words from plait_beam_row_words. */
void plait_beam_propose_by_bank (PlaitBeam *beam, gint64 sentence, guint best, const gint32 *ids,
                                 const PlaitScalar *log_probabilities);
