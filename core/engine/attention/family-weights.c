/* SPDX-License-Identifier: MIT */
#include "attention/family-weights.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/terms.h"

/* Sentences of a piece. */
#define SENTENCES 8

/* The same queries, and none for the rows that are no leaves. */
static PlaitRagged
queries_of_leaves (PlaitArena *arena, PlaitRagged queries)
{
  gint64 *offsets = plait_arena_new_array (arena, gint64, 2 * queries.n + 1);

  offsets[0] = 0;
  for (gint64 s = 0; s < queries.n; s++)
    offsets[2 * s + 1] = offsets[2 * s + 2] = queries.offsets[s + 1];
  return (PlaitRagged){ 2 * queries.n, offsets };
}

PlaitFamilyWeights
plait_family_weights_new (PlaitArena *arena, const PlaitFamilies *families, PlaitRagged queries)
{
  PlaitFamilyWeights made = {
    .families = families,
    .pairs = plait_pairs_new (arena, queries, families->rows),
    .leaves = plait_pairs_new (arena, queries_of_leaves (arena, queries), families->leaves_and_others),
  };
  gint64 n = 0;

  for (gint64 s = 0; s < queries.n; s++)
    n += plait_ragged_length (queries, s) * plait_families_places (families, s);
  made.shares = plait_arena_new_array (arena, PlaitScalar, n + 1);
  made.path = plait_arena_new_array (arena, PlaitScalar, plait_pairs_number (&made.pairs) + 1);
  return made;
}

typedef struct
{
  const PlaitKernels *kernels;
  PlaitPool *pool;
  const PlaitFamilyWeights *of;
  PlaitScalar *weights;
  const PlaitScalar *scores;
  PlaitScalar *dscores;
  const PlaitScalar *dweights;
  gboolean add;
} Call;

/* One query: its families, and where its numbers begin. */
typedef struct
{
  const PlaitFamily *family;
  const gint64 *places;
  gint64 n;
  gint64 rows;
  gint64 leaves;
  PlaitScalar *shares;
  gint64 pair;
  gint64 leaf;
} Query;

/* Families are small, so that one by one they would fill no vector: all exponentials are taken together. */
static void
weigh (const Call *call, const Query *query)
{
  const PlaitScalar *scores = call->scores + query->pair;
  PlaitScalar *path = call->of->path + query->pair;

  for (gint64 f = 0; f < query->n; f++)
    {
      const PlaitScalar *from = scores + query->family[f].first;
      PlaitScalar *shares = query->shares + query->places[f], greatest = -(PlaitScalar)INFINITY;

      for (gint64 i = 0; i < query->family[f].n; i++)
        greatest = MAX (greatest, from[i]);
      for (gint64 i = 0; i < query->family[f].n; i++)
        shares[i] = from[i] - greatest;
    }
  call->kernels->exponentials (query->shares, 0, query->places[query->n]);
  memset (path, 0, sizeof *path * (gsize)query->rows);
  for (gint64 f = 0; f < query->n; f++)
    {
      const PlaitFamily *family = &query->family[f];
      PlaitScalar *shares = query->shares + query->places[f], above = family->parent < 0 ? 1 : path[family->parent],
                  sum = 0;

      for (gint64 i = 0; i < family->n; i++)
        sum += shares[i];
      sum = 1 / sum;
      for (gint64 i = 0; i < family->n; i++)
        {
          shares[i] *= sum;
          path[family->first + i] += shares[i] * above;
        }
    }
  memcpy (call->weights + query->leaf, path, sizeof *path * (gsize)query->leaves);
}

/* From the leaves up. @dpath is room for all rows. */
static void
weigh_backward (const Call *call, const Query *query, PlaitScalar *dpath)
{
  const PlaitScalar *path = call->of->path + query->pair;
  PlaitScalar *dscores = call->dscores + query->pair;

  if (!call->add)
    memset (dscores, 0, sizeof *dscores * (gsize)query->rows);
  memset (dpath, 0, sizeof *dpath * (gsize)query->rows);
  memcpy (dpath, call->dweights + query->leaf, sizeof *dpath * (gsize)query->leaves);
  for (gint64 f = query->n - 1; f >= 0; f--)
    {
      const PlaitFamily *family = &query->family[f];
      const PlaitScalar *shares = query->shares + query->places[f];
      PlaitScalar above = 1, sum = 0;

      for (gint64 i = 0; i < family->n; i++)
        sum += shares[i] * dpath[family->first + i];
      if (family->parent >= 0)
        {
          above = path[family->parent];
          dpath[family->parent] = PLAIT_TERM (family_weights_parent, sum);
        }
      for (gint64 i = 0; i < family->n; i++)
        dscores[family->first + i] += above * shares[i]
                                      * (PLAIT_TERM (family_weights_weight, dpath[family->first + i])
                                         - PLAIT_TERM (family_weights_normaliser, sum));
    }
}

static void
piece (gpointer data, gint64 number, guint thread)
{
  const Call *call = data;
  const PlaitFamilyWeights *of = call->of;
  const PlaitFamilies *families = of->families;
  PlaitScalar *shares = of->shares;

  for (gint64 s = 0; s < MIN ((number + 1) * SENTENCES, families->rows.n); s++)
    {
      gint64 queries = plait_ragged_length (of->pairs.queries, s), places = plait_families_places (families, s);
      Query query = {
        .family = families->family + families->of.offsets[s],
        .places = families->places + families->of.offsets[s] + s,
        .n = plait_ragged_length (families->of, s),
        .rows = plait_ragged_length (families->rows, s),
        .leaves = plait_families_leaves (families, s),
        .shares = shares,
        .pair = of->pairs.offsets[s],
        .leaf = of->leaves.offsets[2 * s],
      };

      shares += queries * places;
      for (gint64 q = 0; q < queries && s >= number * SENTENCES; q++)
        {
          if (call->dweights)
            weigh_backward (call, &query,
                            plait_pool_scratch (call->pool, thread, sizeof (PlaitScalar) * (gsize)(query.rows + 1)));
          else
            weigh (call, &query);
          query.shares += places;
          query.pair += query.rows;
          query.leaf += query.leaves;
        }
    }
}

static void
run (PlaitPool *pool, Call *call)
{
  call->kernels = plait_kernels ();
  call->pool = pool;
  plait_pool_run (pool, (call->of->families->rows.n + SENTENCES - 1) / SENTENCES, piece, call);
}

void
plait_family_weights_forward (PlaitPool *pool, const PlaitFamilyWeights *family_weights, PlaitScalar *weights,
                              const PlaitScalar *scores)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Call call = { .of = family_weights, .weights = weights, .scores = scores };

  run (pool, &call);
}

void
plait_family_weights_backward (PlaitPool *pool, const PlaitFamilyWeights *family_weights, PlaitScalar *dscores,
                               gboolean add, const PlaitScalar *dweights)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Call call = { .of = family_weights, .dscores = dscores, .add = add, .dweights = dweights };

  run (pool, &call);
}
