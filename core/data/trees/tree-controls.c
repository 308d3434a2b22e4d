/* SPDX-License-Identifier: MIT */
/* Control trees, made without a parser, against which results with parsed trees are compared. */
#include "trees/tree-binary.h"

typedef struct
{
  gint64 first;
  gint64 words;
} Span;

/* Splits the sentence into spans, down to single words. Spans are visited parents first, right child before left. The
 * steps are the ends of the spans that have several words, in reverse order of the visits. */
static void
split (PlaitTreeShape shape, gint64 words, PlaitRandomKey key, GArray *steps)
{
  g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (Span));
  Span all = { 0, words };
  guint64 draws = 0;
  guint at = steps->len;
  g_array_append_val (spans, all);
  while (spans->len > 0)
    {
      Span span = g_array_index (spans, Span, spans->len - 1);
      PlaitTreeStep step = { (gint32)(span.first + span.words), 0 };
      g_array_set_size (spans, spans->len - 1);
      if (span.words < 2)
        continue;
      gint64 left = shape == PLAIT_TREES_BALANCED
                        ? span.words / 2
                        : 1 + (gint64)plait_random_below (key, draws++, (guint64)(span.words - 1));
      Span halves[] = { { span.first, left }, { span.first + left, span.words - left } };
      g_array_append_vals (spans, halves, 2);
      g_array_index (steps, PlaitTreeStep, --at) = step;
    }
}

void
plait_tree_control (PlaitTreeShape shape, gint64 words, PlaitRandomKey key, GArray *steps)
{
  g_assert (shape != PLAIT_TREES_GIVEN);
  g_array_set_size (steps, (guint)MAX (words - 1, 0));
  if (shape == PLAIT_TREES_BALANCED || shape == PLAIT_TREES_RANDOM)
    split (shape, words, key, steps);
  else
    for (guint i = 0; i < steps->len; i++)
      g_array_index (steps, PlaitTreeStep, i)
          = (PlaitTreeStep){ shape == PLAIT_TREES_LEFT ? (gint32)i + 2 : (gint32)words, 0 };
}
