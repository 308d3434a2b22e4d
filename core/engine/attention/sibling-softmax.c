/* SPDX-License-Identifier: MIT */
#include "attention/sibling-softmax.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/gradient-terms.h"

/* Number of sentences in a piece. */
#define SENTENCES 8

/* Returns @queries with an empty sentence inserted after each sentence: the queries of PlaitSiblingSoftmax.leaves. */
static PlaitRagged
queries_of_leaves (PlaitArena *arena, PlaitRagged queries)
{
  gint64 *offsets = plait_arena_new_array (arena, gint64, 2 * queries.n + 1);

  offsets[0] = 0;
  for (gint64 s = 0; s < queries.n; s++)
    offsets[2 * s + 1] = offsets[2 * s + 2] = queries.offsets[s + 1];
  return (PlaitRagged){ 2 * queries.n, offsets };
}

PlaitSiblingSoftmax
plait_sibling_softmax_new (PlaitArena *arena, const PlaitSiblingGroups *groups, PlaitRagged queries)
{
  PlaitSiblingSoftmax made = {
    .groups = groups,
    .pairs = plait_query_key_pairs_new (arena, queries, groups->rows),
    .leaves = plait_query_key_pairs_new (arena, queries_of_leaves (arena, queries), groups->leaves_and_others),
  };
  gint64 n = 0;

  for (gint64 s = 0; s < queries.n; s++)
    n += plait_ragged_length (queries, s) * plait_sibling_groups_rows (groups, s);
  made.softmax = plait_arena_new_array (arena, PlaitScalar, n + 1);
  made.path = plait_arena_new_array (arena, PlaitScalar, plait_query_key_pairs_count (&made.pairs) + 1);
  return made;
}

typedef struct
{
  const PlaitKernels *kernels;
  PlaitPool *pool;
  const PlaitSiblingSoftmax *of;
  PlaitScalar *weights;
  const PlaitScalar *scores;
  PlaitScalar *dscores;
  const PlaitScalar *dweights;
  gboolean add;
} Call;

/* One query: the sibling groups of its sentence, and the positions at which its numbers begin in each array. */
typedef struct
{
  const PlaitSiblingGroup *group;
  const gint64 *group_rows;
  gint64 n;
  gint64 rows;
  gint64 leaves;
  PlaitScalar *softmax;
  gint64 pair;
  gint64 leaf;
} Query;

/* Computes softmax, path and leaf weights of one query. Groups are too small to fill vectors, so all exponentials are
 * computed in one call. */
static void
weigh (const Call *call, const Query *query)
{
  const PlaitScalar *scores = call->scores + query->pair;
  PlaitScalar *path = call->of->path + query->pair;

  for (gint64 f = 0; f < query->n; f++)
    {
      const PlaitScalar *from = scores + query->group[f].first;
      PlaitScalar *softmax = query->softmax + query->group_rows[f], greatest = -(PlaitScalar)INFINITY;

      for (gint64 i = 0; i < query->group[f].n; i++)
        greatest = MAX (greatest, from[i]);
      for (gint64 i = 0; i < query->group[f].n; i++)
        softmax[i] = from[i] - greatest;
    }
  call->kernels->exponentials (query->softmax, 0, query->group_rows[query->n]);
  memset (path, 0, sizeof *path * (gsize)query->rows);
  for (gint64 f = 0; f < query->n; f++)
    {
      const PlaitSiblingGroup *group = &query->group[f];
      PlaitScalar *softmax = query->softmax + query->group_rows[f], above = group->parent < 0 ? 1 : path[group->parent],
                  sum = 0;

      for (gint64 i = 0; i < group->n; i++)
        sum += softmax[i];
      sum = 1 / sum;
      for (gint64 i = 0; i < group->n; i++)
        {
          softmax[i] *= sum;
          path[group->first + i] += softmax[i] * above;
        }
    }
  memcpy (call->weights + query->leaf, path, sizeof *path * (gsize)query->leaves);
}

/* Computes the gradient of the scores of one query, from the leaves up. @dpath is scratch memory for all rows. */
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
      const PlaitSiblingGroup *group = &query->group[f];
      const PlaitScalar *softmax = query->softmax + query->group_rows[f];
      PlaitScalar above = 1, sum = 0;

      for (gint64 i = 0; i < group->n; i++)
        sum += softmax[i] * dpath[group->first + i];
      if (group->parent >= 0)
        {
          above = path[group->parent];
          dpath[group->parent] = PLAIT_GRADIENT_TERM (sibling_softmax_parent, sum);
        }
      for (gint64 i = 0; i < group->n; i++)
        dscores[group->first + i] += above * softmax[i]
                                     * (PLAIT_GRADIENT_TERM (sibling_softmax_weight, dpath[group->first + i])
                                        - PLAIT_GRADIENT_TERM (sibling_softmax_normaliser, sum));
    }
}

static void
piece (gpointer data, gint64 number, guint thread)
{
  const Call *call = data;
  const PlaitSiblingSoftmax *of = call->of;
  const PlaitSiblingGroups *groups = of->groups;
  PlaitScalar *softmax = of->softmax;

  for (gint64 s = 0; s < MIN ((number + 1) * SENTENCES, groups->rows.n); s++)
    {
      gint64 queries = plait_ragged_length (of->pairs.queries, s), group_rows = plait_sibling_groups_rows (groups, s);
      Query query = {
        .group = groups->group + groups->of.offsets[s],
        .group_rows = groups->group_rows + groups->of.offsets[s] + s,
        .n = plait_ragged_length (groups->of, s),
        .rows = plait_ragged_length (groups->rows, s),
        .leaves = plait_sibling_groups_leaves (groups, s),
        .softmax = softmax,
        .pair = of->pairs.offsets[s],
        .leaf = of->leaves.offsets[2 * s],
      };

      softmax += queries * group_rows;
      for (gint64 q = 0; q < queries && s >= number * SENTENCES; q++)
        {
          if (call->dweights)
            weigh_backward (call, &query,
                            plait_pool_scratch (call->pool, thread, sizeof (PlaitScalar) * (gsize)(query.rows + 1)));
          else
            weigh (call, &query);
          query.softmax += group_rows;
          query.pair += query.rows;
          query.leaf += query.leaves;
        }
    }
}

static void
run (PlaitPool *pool, Call *call)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);

  call->kernels = plait_kernels ();
  call->pool = pool;
  plait_pool_run (pool, (call->of->groups->rows.n + SENTENCES - 1) / SENTENCES, piece, call);
}

void
plait_sibling_softmax_forward (PlaitPool *pool, const PlaitSiblingSoftmax *sibling_softmax, PlaitScalar *weights,
                               const PlaitScalar *scores)
{
  run (pool, &(Call){ .of = sibling_softmax, .weights = weights, .scores = scores });
}

void
plait_sibling_softmax_backward (PlaitPool *pool, const PlaitSiblingSoftmax *sibling_softmax, PlaitScalar *dscores,
                                gboolean add, const PlaitScalar *dweights)
{
  run (pool, &(Call){ .of = sibling_softmax, .dscores = dscores, .add = add, .dweights = dweights });
}
