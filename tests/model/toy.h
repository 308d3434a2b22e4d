/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/beam.h"

/* A toy that replaces a model by a random table of log-probabilities. It is small enough to list every translation. Its
 * words are EOS and the ids from TOY_FIRST to TOY_FIRST + words - 1. */

#define TOY_FIRST PLAIT_TOKEN_SPECIALS
#define TOY_MAX_WORDS 6
#define TOY_MAX_LENGTH 7

typedef struct
{
  guint64 seed;
  gint32 words;
  gint64 limit;     /* maximum number of tokens, EOS included */
  double end_bonus; /* added to the logit of EOS before the softmax is taken */
} Toy;

/* A translation of the toy. */
typedef struct
{
  gint32 tokens[TOY_MAX_LENGTH]; /* tokens, EOS included */
  gint64 length;
  double log_probability;
  double value; /* value by which the test sorts paths */
} ToyPath;

/* Returns the number of ids of the toy. */
gint32 toy_size (const Toy *toy);

/* Fills @log_probabilities [toy_size] with those of all words at @step, after the word @previous (BOS in the first
 * step). They are minus infinity for other special tokens. */
void toy_fill (const Toy *toy, gint64 step, gint32 previous, PlaitScalar *log_probabilities);

/* Returns the log-probability of @token, in the precision in which a search adds it. */
double toy_log_probability (const Toy *toy, gint64 step, gint32 previous, gint32 token);

/* TRUE if @path has EOS. */
gboolean toy_is_ended (const ToyPath *path);

/* Returns @path extended by @token, with its log-probability added. */
ToyPath toy_extend (const Toy *toy, const ToyPath *path, gint32 token);

/* Returns all translations: those that have EOS, and those that the limit cuts off. (transfer full) (element-type
 * ToyPath) */
GArray *toy_all (const Toy *toy);

/* Returns the beam of a search that gets as many words in each step as plait_beam_row_words() asks for. (transfer
 * full) */
PlaitBeam *toy_search (const Toy *toy, const PlaitDecodeSettings *settings, const PlaitBeamSentences *sentences);

/* Returns hypothesis @result of @beam as a path, with a log-probability computed from the table. */
ToyPath toy_path (const Toy *toy, const PlaitBeam *beam, const PlaitBeamResult *result);

/* TRUE if @a and @b have equal tokens. */
gboolean toy_equal (const ToyPath *a, const ToyPath *b);

/* Compares two paths by value for sorting: higher values first. */
gint toy_compare (gconstpointer a, gconstpointer b);
