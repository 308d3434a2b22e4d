/* SPDX-License-Identifier: MIT */
#include "kernels/variant.h"
#include "kernels/gradient-terms.h"

/* Softmax in sibling groups for many queries at once. A lane of a vector is a query, so all lanes do the same work for
 * any tree. */

static inline __attribute__ ((always_inline)) PlaitScalar *
at (const PlaitSiblingTile *tile, PlaitScalar *numbers, gint64 row, gint64 column)
{
  return numbers + row * tile->stride + column;
}

static void
clear_rows (const PlaitSiblingTile *tile, gint64 first, gint64 end)
{
  for (gint64 row = first; row < end; row++)
    memset (at (tile, tile->path, row, 0), 0, sizeof (PlaitScalar) * (gsize)tile->columns);
}

/* Writes the softmax of one group, and the paths, for a vector of queries. Adds to the paths of rows from @shared on,
 * which other groups have already written. */
static inline __attribute__ ((always_inline)) void
weigh (const PlaitSiblingTile *tile, const PlaitSiblingGroup *group, gint64 column, PlaitScalar *weights, gint64 shared)
{
  Vector greatest = vector_all (-(PlaitScalar)INFINITY), sum = { 0 }, above = vector_all (1);

  for (gint64 i = 0; i < group->n; i++)
    greatest = vector_maximum (tile->scale * vector_load (at (tile, tile->scores, group->first + i, column)), greatest);
  for (gint64 i = 0; i < group->n; i++)
    {
      Vector score = tile->scale * vector_load (at (tile, tile->scores, group->first + i, column));
      Vector exponential = vector_exp (score - greatest);

      sum += exponential;
      vector_store (at (tile, weights, i, column), exponential);
    }
  sum = 1 / sum;
  if (group->parent >= 0)
    above = vector_load (at (tile, tile->path, group->parent, column));
  for (gint64 i = 0; i < group->n; i++)
    {
      PlaitScalar *weight = at (tile, weights, i, column), *path = at (tile, tile->path, group->first + i, column);
      Vector share = sum * vector_load (weight);

      vector_store (weight, share);
      share *= above;
      vector_store (path, group->first + i < shared ? share : vector_load (path) + share);
    }
}

void
KERNEL (weigh_sibling_groups) (const PlaitSiblingTile *tile)
{
  PlaitScalar *weights = tile->weights;
  gint64 written = tile->rows; /* all rows from this row on are already written */

  for (gint64 f = 0; f < tile->n; f++)
    {
      const PlaitSiblingGroup *group = &tile->groups[f];

      clear_rows (tile, group->first + group->n, written);
      for (gint64 column = 0; column < tile->columns; column += VECTOR_LENGTH)
        weigh (tile, group, column, weights, written);
      written = group->first;
      if (tile->keeps)
        weights += group->n * tile->stride;
    }
  clear_rows (tile, 0, written);
}

/* Writes the gradients of one group for a vector of queries. Adds to the gradients of rows before @shared, which other
 * groups have already written. */
static inline __attribute__ ((always_inline)) void
weigh_backward (const PlaitSiblingTile *tile, const PlaitSiblingGroup *group, gint64 column, PlaitScalar *weights,
                gint64 shared)
{
  Vector sum = { 0 }, above = vector_all (tile->scale);

  for (gint64 i = 0; i < group->n; i++)
    sum += vector_load (at (tile, weights, i, column))
           * vector_load (at (tile, tile->scores, group->first + i, column));
  if (group->parent >= 0)
    {
      vector_store (at (tile, tile->scores, group->parent, column),
                    PLAIT_GRADIENT_TERM (sibling_attention_parent, sum));
      above *= vector_load (at (tile, tile->path, group->parent, column));
    }
  for (gint64 i = 0; i < group->n; i++)
    {
      Vector dpath = vector_load (at (tile, tile->scores, group->first + i, column));
      PlaitScalar *to = at (tile, tile->path, group->first + i, column);
      Vector dscore = above * vector_load (at (tile, weights, i, column))
                      * (PLAIT_GRADIENT_TERM (sibling_attention_weight, dpath)
                         - PLAIT_GRADIENT_TERM (sibling_attention_normaliser, sum));

      vector_store (to, group->first + i < shared ? vector_load (to) + dscore : dscore);
    }
}

void
KERNEL (weigh_sibling_groups_backward) (const PlaitSiblingTile *tile)
{
  PlaitScalar *weights = tile->weights;
  gint64 written = 0; /* the rows of the previous groups end before this row */

  for (gint64 f = 0; f < tile->n; f++)
    weights += tile->groups[f].n * tile->stride;
  for (gint64 f = tile->n - 1; f >= 0; f--)
    {
      const PlaitSiblingGroup *group = &tile->groups[f];

      weights -= group->n * tile->stride;
      for (gint64 column = 0; column < tile->columns; column += VECTOR_LENGTH)
        weigh_backward (tile, group, column, weights, written);
      written = group->first + group->n;
    }
}
