/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"
#include "search/phrases.h"
#include "settings/settings.h"

/*
 * Bookkeeping of search, without a model: the hypotheses, the rows that a decoder should extend, and the selection
 * among the words that it proposes. All sentences advance together, one token in each step.
 *
 * The beam of a sentence may be divided into groups, which are searched one after the other in each step (Vijayakumar
 * et al. 2018). When sampling, each sample is a group of one hypothesis. Groups share a row until their hypotheses can
 * differ.
 */
typedef struct PlaitBeam PlaitBeam;

/* The sentences of a search. */
typedef struct
{
  gint64 n;
  const gint64 *limits;                 /* [n] maximum number of tokens of a hypothesis, EOS included */
  const gint64 *numbers;                /* [n] number in the corpus, for sampling; else NULL */
  const PlaitRequirement *requirements; /* [n], or NULL. Each requirement must fit into the limit
                                           (plait_requirement_length); its arrays are borrowed */
} PlaitBeamSentences;

/* Creates a beam for @sentences. (transfer full) */
PlaitBeam *plait_beam_new (const PlaitDecodeSettings *settings, const PlaitBeamSentences *sentences);
void plait_beam_free (PlaitBeam *beam);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBeam, plait_beam_free)

/* Unfinished hypotheses of unfinished sentences: the rows of the next decoder step. */
typedef struct
{
  PlaitRagged hypotheses; /* [sentences]: rows of each sentence; a finished sentence has no rows */
  const gint32 *tokens;   /* last token of each row; BOS in the first step */
  const gint64 *parents;  /* row of the previous step that each row continues; in the first step, the row's sentence */
} PlaitBeamRows;

/* Returns the rows of the next step, valid until plait_beam_advance. If there are no rows, the search is over. */
PlaitBeamRows plait_beam_rows (const PlaitBeam *beam);

/* Returns how many of the most probable words of each row the next step needs for an exact beam. */
guint plait_beam_words (const PlaitBeam *beam);

/* TRUE if the next step needs the log-probabilities of all words of a row, and not only those of the best words: to
 * sample, to force a prefix, or to require phrases. The words of each row come from plait_beam_row_words. */
gboolean plait_beam_needs_rows (const PlaitBeam *beam);

/* Returns the number of words of a row that plait_beam_row_words writes in the next step. */
guint plait_beam_row_columns (const PlaitBeam *beam);

/*
 * Writes the words that can extend row @row in the next step to @ids, and their log-probabilities to @of_ids. Both
 * arrays have plait_beam_row_columns elements; id -1: no word. Changes @log_probabilities, those of all @n_words
 * words. @end: writes only EOS in the last step of the sentence. Words in @forbidden are written only if the prefix or
 * @end requires them. A sample for which no word can be drawn gets log-probability NaN if the row has NaN, else minus
 * infinity. Several threads can call the function at once, for different rows.
 */
void plait_beam_row_words (const PlaitBeam *beam, gint64 row, PlaitScalar *log_probabilities, gint32 n_words,
                           const gint32 *forbidden, guint n_forbidden, gboolean end, gint32 *ids, PlaitScalar *of_ids);

/* Advances all sentences by one step. @ids and @log_probabilities [rows][best] are the @best most probable words of
 * every row, best first, or the words from plait_beam_row_words. Id -1: no word. */
void plait_beam_advance (PlaitBeam *beam, guint best, const gint32 *ids, const PlaitScalar *log_probabilities);

/* Returns the largest number of steps that the limits allow. */
gint64 plait_beam_max_steps (const PlaitBeam *beam);

/* Returns the number of steps made. */
gint64 plait_beam_steps (const PlaitBeam *beam);

/* TRUE if the next step is the last that @sentence's limit allows. */
gboolean plait_beam_is_last_step (const PlaitBeam *beam, gint64 sentence);

/* One token of a hypothesis, linked to the token before it. Hypotheses with a common beginning share its tokens. */
typedef struct
{
  gint32 token;
  gint64 step;     /* decoder step that proposed the token */
  gint64 row;      /* row of the hypothesis in decoder step @step */
  gint64 previous; /* index of the token before this one, or -1 */
} PlaitBeamToken;

typedef struct
{
  gint64 last;   /* index of the last token, EOS included, for plait_beam_token; -1 if the hypothesis is empty */
  gint64 length; /* number of tokens, EOS included */
  double log_probability;
  double score;
  gboolean ended;
} PlaitBeamResult;

/* Fills @results with the hypotheses of @sentence, best first, or with its samples in the order of their numbers.
 * Returns the number of results, at most plait_decode_width. With groups, selects at most n_best hypotheses: the best
 * of each group, then the second best of each group, and so on. Leaves out hypotheses that lack a phrase. */
guint plait_beam_results (const PlaitBeam *beam, gint64 sentence, PlaitBeamResult *results);
const PlaitBeamToken *plait_beam_token (const PlaitBeam *beam, gint64 token);
