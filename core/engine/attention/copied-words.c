/* SPDX-License-Identifier: MIT */
#include "attention/copied-words.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/gradient-terms.h"

/* Number of sentences in a piece. */
#define SENTENCES 8
/* Smallest divisor: it replaces a smaller sum of weights. */
#define MIN_TOTAL 1e-30
/* Gradients of weights are clamped to this magnitude, to stay finite in floats if the weights are nearly zero. */
#define MAX_GRADIENT 1e37

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  gint32 x = *(const gint32 *)a, y = *(const gint32 *)b;

  return (x > y) - (x < y);
}

/* Collects the ids of the rows of sentence @s from all memories. Writes each id once to @found, ascending, and returns
 * the number of ids in @found. */
static gint64
find_words (const PlaitRagged *rows, const gint32 *const *ids, guint n, gint64 s, gint32 *found)
{
  gint64 all = 0, different = 0;

  for (guint m = 0; m < n; m++)
    for (gint64 row = rows[m].offsets[s]; row < rows[m].offsets[s + 1]; row++)
      if (ids[m][row] >= 0)
        found[all++] = ids[m][row];
  qsort (found, (gsize)all, sizeof *found, compare_ids);
  for (gint64 i = 0; i < all; i++)
    if (i == 0 || found[i] != found[i - 1])
      found[different++] = found[i];
  return different;
}

/* Returns the index of @id in @ids [n], which are in ascending order. */
static gint64
index_of (const gint32 *ids, gint64 n, gint32 id)
{
  return (const gint32 *)bsearch (&id, ids, (gsize)n, sizeof *ids, compare_ids) - ids;
}

PlaitCopyableWords *
plait_copyable_words_new (PlaitArena *arena, const PlaitRagged *rows, const gint32 *const *ids, guint n)
{
  PlaitCopyableWords *words = plait_arena_new_array (arena, PlaitCopyableWords, 1);
  gint64 **word = plait_arena_new_array (arena, gint64 *, n + 1), all = 0;
  gint64 sentences = n > 0 ? rows[0].n : 0, *offsets = plait_arena_new_array (arena, gint64, sentences + 1);
  gint32 *different;

  for (guint m = 0; m < n; m++)
    {
      word[m] = plait_arena_new_array (arena, gint64, plait_ragged_rows (rows[m]) + 1);
      all += plait_ragged_rows (rows[m]);
    }
  different = plait_arena_new_array (arena, gint32, all + 1);
  offsets[0] = 0;
  for (gint64 s = 0; s < sentences; s++)
    {
      gint32 *own = different + offsets[s];
      gint64 length = find_words (rows, ids, n, s, own);

      offsets[s + 1] = offsets[s] + length;
      for (guint m = 0; m < n; m++)
        for (gint64 row = rows[m].offsets[s]; row < rows[m].offsets[s + 1]; row++)
          word[m][row] = ids[m][row] < 0 ? -1 : offsets[s] + index_of (own, length, ids[m][row]);
    }
  *words = (PlaitCopyableWords){ n, { sentences, offsets }, different, word };
  return words;
}

typedef struct
{
  const PlaitCopyableWords *words;
  const PlaitQueryKeyPairs *pairs; /* pairs of each memory: [memories] */
  const PlaitScalar *const *weights;
  const PlaitCopiedWords *copied;
  guint memory;
  const PlaitScalar *dcopied;
  PlaitScalar *dweights;
  gboolean add;
} Job;

/* Computes the distribution over copied words for query row @query of sentence @s. */
static void
copy_row (const Job *job, gint64 s, gint64 query)
{
  const PlaitCopyableWords *words = job->words;
  gint64 first = words->words.offsets[s], n = plait_ragged_length (words->words, s);
  PlaitScalar *copied = job->copied->copied + job->copied->offsets[query];
  double total = 0;

  for (gint64 i = 0; i < n; i++)
    {
      job->copied->ids[job->copied->offsets[query] + i] = words->ids[first + i];
      copied[i] = 0;
    }
  for (guint m = 0; m < words->n; m++)
    {
      const PlaitQueryKeyPairs *pairs = &job->pairs[m];
      gint64 begin = pairs->rows.offsets[s], length = plait_ragged_length (pairs->rows, s);
      const PlaitScalar *weights = job->weights[m] + pairs->offsets[s] + (query - pairs->queries.offsets[s]) * length;

      for (gint64 i = 0; i < length; i++)
        if (words->word[m][begin + i] >= 0)
          {
            copied[words->word[m][begin + i] - first] += weights[i];
            total += (double)weights[i];
          }
    }
  total = MAX (total, MIN_TOTAL);
  job->copied->totals[query] = (PlaitScalar)total;
  for (gint64 i = 0; i < n; i++)
    copied[i] = (PlaitScalar)((double)copied[i] / total);
}

static void
forward_piece (gpointer data, gint64 piece, guint thread)
{
  const Job *job = data;
  PlaitRagged queries = job->pairs->queries;

  for (gint64 s = piece * SENTENCES; s < MIN ((piece + 1) * SENTENCES, queries.n); s++)
    for (gint64 query = queries.offsets[s]; query < queries.offsets[s + 1]; query++)
      copy_row (job, s, query);
}

PlaitCopiedWords
plait_copied_words_forward (PlaitPool *pool, PlaitArena *arena, const PlaitCopyableWords *words,
                            const PlaitQueryKeyPairs *pairs, const PlaitScalar *const *weights)
{
  PlaitRagged queries = pairs->queries;
  gint64 rows = plait_ragged_rows (queries);
  PlaitCopiedWords copied = { .offsets = plait_arena_new_array (arena, gint64, rows + 1),
                              .totals = plait_arena_new_array (arena, PlaitScalar, rows + 1) };
  Job job = { .words = words, .pairs = pairs, .weights = weights, .copied = &copied };

  copied.offsets[0] = 0;
  for (gint64 s = 0; s < queries.n; s++)
    for (gint64 query = queries.offsets[s]; query < queries.offsets[s + 1]; query++)
      copied.offsets[query + 1] = copied.offsets[query] + plait_ragged_length (words->words, s);
  copied.ids = plait_arena_new_array (arena, gint32, copied.offsets[rows] + 1);
  copied.copied = plait_arena_new_array (arena, PlaitScalar, copied.offsets[rows] + 1);
  plait_pool_run (pool, (queries.n + SENTENCES - 1) / SENTENCES, forward_piece, &job);
  return copied;
}

static void
backward_piece (gpointer data, gint64 piece, guint thread)
{
  const Job *job = data;
  const PlaitCopyableWords *words = job->words;
  const PlaitQueryKeyPairs *pairs = job->pairs;
  PlaitRagged queries = pairs->queries;

  for (gint64 s = piece * SENTENCES; s < MIN ((piece + 1) * SENTENCES, queries.n); s++)
    for (gint64 query = queries.offsets[s]; query < queries.offsets[s + 1]; query++)
      {
        gint64 begin = pairs->rows.offsets[s], length = plait_ragged_length (pairs->rows, s);
        gint64 first = job->copied->offsets[query], n = job->copied->offsets[query + 1] - first;
        const PlaitScalar *dcopied = job->dcopied + first, *copied = job->copied->copied + first;
        PlaitScalar *dweights = job->dweights + pairs->offsets[s] + (query - queries.offsets[s]) * length;
        double mean = 0, total = (double)job->copied->totals[query];

        for (gint64 i = 0; i < n; i++)
          mean += (double)dcopied[i] * (double)copied[i];
        for (gint64 i = 0; i < length; i++)
          {
            gint64 word = words->word[job->memory][begin + i] - words->words.offsets[s];
            double gradient = word < 0 ? 0
                                       : (PLAIT_GRADIENT_TERM (mixture_loss_copied, (double)dcopied[word])
                                          - PLAIT_GRADIENT_TERM (mixture_loss_total, mean))
                                             / total;

            gradient = CLAMP (gradient, -MAX_GRADIENT, MAX_GRADIENT);
            dweights[i] = (PlaitScalar)((job->add ? (double)dweights[i] : 0) + gradient);
          }
      }
}

void
plait_copied_words_backward (PlaitPool *pool, const PlaitCopyableWords *words, const PlaitCopiedWords *copied,
                             const PlaitQueryKeyPairs *pairs, guint memory, const PlaitScalar *dcopied,
                             PlaitScalar *dweights, gboolean add)
{
  Job job = { .words = words,
              .pairs = pairs,
              .copied = copied,
              .memory = memory,
              .dcopied = dcopied,
              .dweights = dweights,
              .add = add };

  plait_pool_run (pool, (pairs->queries.n + SENTENCES - 1) / SENTENCES, backward_piece, &job);
}
