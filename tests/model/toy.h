/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/beam.h"

/* A random table of log-probabilities in place of a model, small enough to list every translation. Words are
 * TOY_FIRST .. TOY_FIRST + words - 1, and EOS. */

#define TOY_FIRST PLAIT_TOKEN_SPECIALS
#define TOY_MAX_WORDS 6
#define TOY_MAX_LENGTH 7

typedef struct
{
  guint64 seed;
  gint32 words;
  gint64 limit;     /* most tokens, EOS included */
  double end_bonus; /* added to the logit of EOS before the softmax */
} Toy;

/* A translation of the toy. */
typedef struct
{
  gint32 tokens[TOY_MAX_LENGTH]; /* EOS included */
  gint64 length;
  double log_probability;
  double value; /* rank among paths; set by the test */
} ToyPath;

/* Returns the number of ids. */
gint32 toy_size (const Toy *toy);

/* Fills @log_probabilities [toy_size] of the words at @step after @previous (BOS before the first); minus infinity for
 * other special tokens. */
void toy_fill (const Toy *toy, gint64 step, gint32 previous, PlaitScalar *log_probabilities);

/* Returns the log-probability of @token as a search sums it. */
double toy_log_probability (const Toy *toy, gint64 step, gint32 previous, gint32 token);

/* TRUE if @path has ended. */
gboolean toy_is_ended (const ToyPath *path);

/* Returns @path with @token and its log-probability. */
ToyPath toy_extend (const Toy *toy, const ToyPath *path, gint32 token);

/* Returns all translations (ToyPath): those that end, and those that the limit cuts. (transfer full) */
GArray *toy_all (const Toy *toy);

/* Searches with the words of plait_beam_row_words. (transfer full) */
PlaitBeam *toy_search (const Toy *toy, const PlaitDecodeSettings *settings, const PlaitBeamSentences *sentences);

/* Returns hypothesis @result of @beam; its log-probability is computed from the table. */
ToyPath toy_path (const Toy *toy, const PlaitBeam *beam, const PlaitBeamResult *result);

/* TRUE if @a and @b have equal tokens. */
gboolean toy_equal (const ToyPath *a, const ToyPath *b);

/* Compares paths by value, highest first. */
gint toy_compare (gconstpointer a, gconstpointer b);
