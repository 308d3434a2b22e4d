/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* What a sample run holds. */
typedef struct
{
  const char *combiner;
  const char *const *hypotheses; /* [3] */
  gboolean turned;               /* head 0 of layer 1 attends with its first of three rows to the other token */
  const char *const *sources;    /* [3] lines of "en", whose words make bins up to 2, 3-4 and above 4; NULL: neither */
  const char *more;              /* lines that follow in its experiment, or NULL */
  gboolean inattentive;          /* has no attention over any sentence */
  gboolean descends;             /* has the descent of a sentence, two heads of two target words */
  gint64 long_descents;          /* descents of sentences of 100 tokens, which stand beside those */
  gint64 descent_words;          /* target words of each, up to 600; 0: 100 */
  gint64 document;               /* sentences of a document that sentence 1 is, of 25 tokens each; those whose numbers
                                    divide by 40 are read most; 0: there is none */
  gboolean validated_once;       /* not three times */
  gint64 seed;                   /* 0: 1; each after it has validation metrics 2 greater */
  gboolean hierarchical;         /* attends to a second source, "fr", and over the contexts of both */
  gint64 many;    /* sentences of 60 tokens, instead of one, with attention in two layers of four heads */
  gboolean wide;  /* one word of a sentence 1 attends to 70,000 rows */
  double touched; /* states a word, of which a combiner chose half if it descends; 0: not counted */
  const char *const *references; /* [3]; NULL: plait_test_right */
} PlaitTestRun;

/* Writes the file @name of the test's folder as plait run would: an experiment, training tables, an evaluation of the
 * split "test" with metrics, and attention over one sentence, whose tokens are wide, combining and hostile. */
void plait_test_write_run (const char *name, const PlaitTestRun *run);

/* Three translations, the first set right, and other ones. */
extern const char *const plait_test_right[];
extern const char *const plait_test_wrong[];
