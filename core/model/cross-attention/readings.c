/* SPDX-License-Identifier: MIT */
#include "cross-attention/readings.h"

#include <string.h>

#include "autograd/internal.h"
#include "cross-attention/rows.h"

PlaitCrossReading *
plait_readings_add (PlaitReadings *readings, PlaitTape *tape, PlaitRagged queries, guint n_memories)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitCrossReading *reading = plait_arena_new_array (arena, PlaitCrossReading, 1);

  plait_tape_keep_piece (tape);
  *reading = (PlaitCrossReading){ .queries = queries,
                                  .weights = plait_arena_new_array0 (arena, PlaitNode *, n_memories + 1) };
  if (readings->last)
    readings->last->next = reading;
  else
    readings->first = reading;
  readings->last = reading;
  return reading;
}

/* Calls @of for each of @n readings and returns the nodes, one for each step. Returns NULL if the node of any step is
 * NULL. */
static PlaitNode **
nodes_of_steps (const PlaitReadings *readings, PlaitTape *tape, gint64 n,
                PlaitNode *(*of) (const PlaitCrossReading *reading, guint memory), guint memory)
{
  PlaitNode **nodes = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, n + 1);
  gint64 step = 0;

  for (const PlaitCrossReading *reading = readings->first; reading; reading = reading->next)
    {
      nodes[step] = of (reading, memory);
      if (!nodes[step++])
        return NULL;
    }
  return nodes;
}

static PlaitNode *
context_of (const PlaitCrossReading *reading, guint memory)
{
  return reading->context;
}

static PlaitNode *
shares_of (const PlaitCrossReading *reading, guint memory)
{
  return reading->shares;
}

static PlaitNode *
weights_of (const PlaitCrossReading *reading, guint memory)
{
  return reading->weights[memory];
}

/* Concatenates the weights of @n steps, and reorders them to pairs of @queries and @rows. */
static PlaitNode *
join_weights (PlaitTape *tape, PlaitNode *const *steps, gint64 n, PlaitRagged queries, PlaitRagged rows)
{
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, queries, rows);
  gint64 *indices = plait_arena_new_array (plait_tape_arena (tape), gint64, plait_query_key_pairs_count (&pairs) + 1);
  gint64 done = 0;

  for (gint64 t = 0; t < n; t++)
    for (gint64 s = 0; s < queries.n; s++)
      for (gint64 i = 0; t < plait_ragged_length (queries, s) && i < plait_ragged_length (rows, s); i++)
        indices[pairs.offsets[s] + t * plait_ragged_length (rows, s) + i] = done++;
  return plait_gather_rows (tape, plait_concatenate_rows (tape, steps, (guint)n), indices,
                            plait_query_key_pairs_count (&pairs));
}

static gboolean
is_equal (PlaitRagged a, PlaitRagged b)
{
  return a.n == b.n && memcmp (a.offsets, b.offsets, (gsize)(a.n + 1) * sizeof *a.offsets) == 0;
}

const PlaitCrossReading *
plait_readings_join (const PlaitReadings *readings, PlaitTape *tape, PlaitRagged queries, const PlaitMemory *memories,
                     guint n_memories)
{
  PlaitReadings joined = { NULL };
  PlaitCrossReading *whole;
  PlaitNode **nodes;
  gint64 n = 0;

  for (const PlaitCrossReading *reading = readings->first; reading; reading = reading->next)
    n++;
  if (n <= 1 && (n == 0 || is_equal (readings->first->queries, queries)))
    return readings->first;
  whole = plait_readings_add (&joined, tape, queries, n_memories);
  whole->joint = readings->first->joint;
  nodes = nodes_of_steps (readings, tape, n, context_of, 0);
  if (nodes)
    whole->context = plait_concatenate_steps (tape, nodes, n, queries);
  nodes = nodes_of_steps (readings, tape, n, shares_of, 0);
  if (nodes)
    whole->shares = plait_concatenate_steps (tape, nodes, n, queries);
  for (guint m = 0; m < n_memories; m++)
    {
      nodes = nodes_of_steps (readings, tape, n, weights_of, m);
      if (nodes)
        whole->weights[m] = join_weights (tape, nodes, n, queries, memories[m].rows);
    }
  return whole;
}

PlaitNode *
plait_reading_of_heads (PlaitTape *tape, PlaitNode *const *weights, guint n, guint head)
{
  if (n == 1 || head > 0)
    return weights[MAX (head, 1) - 1];
  return plait_scale (tape, plait_add_n (tape, weights, n), 1.0 / n);
}

/* For each pair of a query and a memory row, the selected rows that belong to the pair. */
typedef struct
{
  gint64 *n; /* number of selected rows that belong to each pair: [pairs] */
  gint64 most;
  gint64 *indices; /* [pairs][most]: indices of the selected rows, padded with -1; NULL while rows are counted */
} Windows;

/* Counts how often head @head, from 1, selected the row of each query-key pair; @head 0: all heads together. If
 * windows->indices is not NULL, also stores the indices of the selected rows. */
static void
visit (const PlaitSelectedRows *selected, const PlaitQueryKeyPairs *pairs, guint head, Windows *windows)
{
  for (gint64 s = 0; s < pairs->queries.n; s++)
    for (gint64 q = pairs->queries.offsets[s]; q < pairs->queries.offsets[s + 1]; q++)
      for (guint h = 0; h < selected->heads; h++)
        {
          const gint64 *sets = selected->sets.offsets + q * selected->heads + h;
          gint64 before = pairs->offsets[s] + (q - pairs->queries.offsets[s]) * plait_ragged_length (pairs->rows, s);

          for (gint64 i = selected->rows.offsets[sets[0]]; i < selected->rows.offsets[sets[1]]; i++)
            {
              gint64 pair = before + selected->row[i] - pairs->rows.offsets[s];

              if (head > 0 && h + 1 != head)
                continue;
              if (windows->indices)
                windows->indices[pair * windows->most + windows->n[pair]] = i;
              windows->n[pair]++;
              windows->most = MAX (windows->most, windows->n[pair]);
            }
        }
}

PlaitNode *
plait_reading_of_selected (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *weights, PlaitRagged queries,
                           PlaitRagged rows, guint head)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, queries, rows);
  gint64 n = plait_query_key_pairs_count (&pairs);
  Windows windows = { .n = plait_arena_new_array0 (arena, gint64, n + 1), .most = 1 };
  PlaitNode *side_by_side, **columns;

  visit (selected, &pairs, head, &windows);
  windows.indices = plait_arena_new_array (arena, gint64, n * windows.most + 1);
  for (gint64 i = 0; i < n * windows.most; i++)
    windows.indices[i] = -1;
  memset (windows.n, 0, (gsize)n * sizeof *windows.n);
  visit (selected, &pairs, head, &windows);
  side_by_side = plait_gather_windows (tape, weights, windows.indices, n, windows.most);
  columns = plait_arena_new_array (arena, PlaitNode *, windows.most);
  for (gint64 i = 0; i < windows.most; i++)
    columns[i] = plait_columns (tape, side_by_side, i, 1);
  return plait_scale (tape, plait_add_n (tape, columns, (guint)windows.most), head > 0 ? 1 : 1.0 / selected->heads);
}
