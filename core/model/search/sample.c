/* SPDX-License-Identifier: MIT */
#include "search/sample.h"

#include <math.h>

/* A heap of words, most probable first; ties go to the lower id. */
typedef struct
{
  const double *weights; /* [words] */
  gint32 *ids;           /* [n] */
  gint32 n;
} Heap;

static gboolean
precedes (const Heap *heap, gint32 a, gint32 b)
{
  return heap->weights[a] > heap->weights[b] || (heap->weights[a] == heap->weights[b] && a < b);
}

static void
sift (Heap *heap, gint32 at)
{
  for (;;)
    {
      gint32 first = at;

      for (gint32 child = 2 * at + 1; child <= 2 * at + 2 && child < heap->n; child++)
        if (precedes (heap, heap->ids[child], heap->ids[first]))
          first = child;
      if (first == at)
        return;
      gint32 id = heap->ids[at];

      heap->ids[at] = heap->ids[first];
      heap->ids[first] = id;
      at = first;
    }
}

/* Removes the most probable word. */
static gint32
pop (Heap *heap)
{
  gint32 id = heap->ids[0];

  heap->ids[0] = heap->ids[--heap->n];
  sift (heap, 0);
  return id;
}

/* Writes the words that decode.top_k and decode.nucleus keep to @kept, most probable first, and returns their number.
 * @total: sum of all weights. */
static gint32
keep (const PlaitDecodeSettings *settings, const double *weights, gint32 n, double total, gint32 *kept)
{
  g_autofree gint32 *ids = g_new (gint32, n);
  Heap heap = { weights, ids, 0 };
  /* Words with less weight than @smallest are not in the nucleus, because together they weigh less than (1 - nucleus) *
   * total. */
  double smallest = settings->top_k > 0 ? 0 : (1 - settings->nucleus) * total / n, sum = 0;
  gint64 limit;
  gint32 found = 0;

  for (gint32 i = 0; i < n; i++)
    if (weights[i] >= smallest)
      ids[heap.n++] = i;
  limit = settings->top_k > 0 ? MIN (settings->top_k, n) : heap.n;
  for (gint32 i = heap.n / 2; i-- > 0;)
    sift (&heap, i);
  /* The nucleus is a share of the total weight of the top_k words, not of all words. */
  for (gint32 i = 0; settings->top_k > 0 && i < limit; i++)
    {
      kept[i] = pop (&heap);
      total = (i == 0 ? 0 : total) + weights[kept[i]];
    }
  for (; found < limit && sum < settings->nucleus * total; found++)
    {
      if (settings->top_k == 0)
        kept[found] = pop (&heap);
      sum += weights[kept[found]];
    }
  return found;
}

/* Draws one of the @n words @ids; if @ids is NULL, one of 0 to @n - 1. Adds up their weights in order, and returns the
 * first word at which the sum is above @uniform times the total; -1 if no weight is above 0. */
static gint32
draw (const double *weights, const gint32 *ids, gint32 n, double uniform)
{
  double total = 0, sum = 0;
  gint32 last = -1;

  for (gint32 i = 0; i < n; i++)
    total += weights[ids ? ids[i] : i];
  for (gint32 i = 0; i < n; i++)
    {
      gint32 id = ids ? ids[i] : i;

      if (!(weights[id] > 0))
        continue;
      last = id;
      sum += weights[id];
      if (sum > uniform * total)
        break;
    }
  return last;
}

gint32
plait_sample_word (const PlaitDecodeSettings *settings, const PlaitScalar *log_probabilities, gint32 n, double uniform)
{
  g_autofree double *weights = g_new (double, n);
  g_autofree gint32 *kept = NULL;
  PlaitScalar greatest = -(PlaitScalar)INFINITY;
  double total = 0;

  for (gint32 i = 0; i < n; i++)
    greatest = MAX (greatest, log_probabilities[i]);
  if (greatest == -(PlaitScalar)INFINITY)
    return -1;
  for (gint32 i = 0; i < n; i++)
    total += weights[i] = exp (((double)log_probabilities[i] - (double)greatest) / settings->temperature);
  if (isnan (total))
    return -1;
  if (settings->top_k == 0 && settings->nucleus == 1)
    return draw (weights, NULL, n, uniform);
  kept = g_new (gint32, n);
  return draw (weights, kept, keep (settings, weights, n, total, kept), uniform);
}
