/* SPDX-License-Identifier: MIT */
#include "plugin/plugin.h"

#include <string.h>

/*
 * Attention from the top of a pyramid downwards (Gupta & Ahmed, Attention on Hierarchical Representation of Inputs).
 * The rows without a parent are one set of siblings, and so are the children of every row that goes on:
 *
 *     p (row) = softmax over its set (score (query, row)) * p (parent), p of the top being 1
 *     context = sum over the leaves that are reached of p (leaf) value (leaf)
 *
 * soft: all rows go on. top1, beam: of each query and head the one, or the few, of the largest p at each level; the p
 * of the leaves that are reached are divided by their sum, or not. A row that two neighbours share has the sum of both.
 */
typedef struct
{
  gint descent;
  gint64 branches;
  gint train; /* DESCENT_SOFT, or as descent says */
  gboolean normalise;
  gint combine;
  gint64 heads;
} Settings;

enum
{
  DESCENT_SOFT,
  DESCENT_TOP1,
  DESCENT_BEAM
};

enum
{
  COMBINE_PARALLEL,
  COMBINE_HIERARCHICAL,
  COMBINE_SERIAL
};

static const PlaitBinding bindings[] = {
  PLAIT_BIND_CHOICE (Settings, descent, "soft;top1;beam"),
  PLAIT_BIND_INTEGER (Settings, branches),
  PLAIT_BIND_CHOICE (Settings, train, "soft;same"),
  PLAIT_BIND_BOOLEAN (Settings, normalise),
  PLAIT_BIND_CHOICE (Settings, combine, "parallel;hierarchical;serial"),
  PLAIT_BIND_INTEGER (Settings, heads),
};

static gboolean
has_levels (const PlaitSite *site, guint memory)
{
  return (plait_site_memory (site, memory)->structure & PLAIT_STRUCTURE_LEVELS) != 0;
}

static gboolean
build (PlaitSite *site, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitSiteAttention attention = { .heads = (guint)settings->heads, .dropout = -1, .output_dropout = -1 };
  PlaitSiteAttention contexts = { .dropout = -1, .output_dropout = -1, .projections = PLAIT_PROJECTIONS_PUBLISHED };

  for (guint i = 0; i < plait_site_n_memories (site); i++)
    {
      if (i == 0 || settings->combine == COMBINE_SERIAL)
        plait_site_declare_residual (site, i);
      plait_site_declare_attend (site, i, &attention);
      if (has_levels (site, i))
        plait_site_declare_rows (site, i);
    }
  if (settings->combine == COMBINE_HIERARCHICAL)
    plait_site_declare_attend_contexts (site, &contexts);
  return TRUE;
}

/* All entries, as in PlaitChosen, go down together, a level at a time; those of lower sentences begin later. */
typedef struct
{
  PlaitTape *tape;
  const PlaitLinks *links;
  PlaitRagged rows;
  PlaitRagged queries;
  guint heads;
  gint64 *top;    /* [sentences]: the first row at the top; the others follow to the sentence's end */
  gint64 highest; /* of all levels */
} Descent;

/* The rows of a level, which all go on. */
typedef struct
{
  gint64 *offsets; /* [entries + 1]: those of each entry */
  gint64 *row;
  PlaitNode *path; /* [rows + 1, 1]: p, and behind them the 1 of what stands above a top */
} Front;

static gint64 *
new_numbers (const Descent *descent, gint64 n)
{
  return plait_arena_new_array (plait_tape_arena (descent->tape), gint64, n + 1);
}

static PlaitNode *
new_ones (const Descent *descent, gint64 n)
{
  PlaitScalar *ones = plait_arena_new_array (plait_tape_arena (descent->tape), PlaitScalar, n + 1);

  for (gint64 i = 0; i < n; i++)
    ones[i] = 1;
  return plait_leaf (descent->tape, plait_tensor (ones, n, 1), NULL);
}

/* The rows at the top stand last in their sentence, so no others are looked at. */
static void
find_tops (Descent *descent)
{
  descent->top = new_numbers (descent, descent->rows.n);
  for (gint64 s = 0; s < descent->rows.n; s++)
    {
      gint64 end = descent->rows.offsets[s + 1], top = end;

      for (; top > descent->rows.offsets[s] && descent->links->level[top - 1] == descent->links->level[end - 1]; top--)
        descent->highest = MAX (descent->highest, descent->links->level[top - 1]);
      descent->top[s] = top;
    }
}

/* The sets of @level: those below the front, and the tops. @parents: the place of each set's parent in the front. */
static PlaitChosen
go_down (const Descent *descent, gint64 level, const Front *front, gint64 **parents)
{
  gint64 entries = plait_ragged_rows (descent->queries) * descent->heads, n_front = front->offsets[entries];
  gint64 *sets = new_numbers (descent, entries), *rows = new_numbers (descent, n_front + entries);
  gint64 *parent = new_numbers (descent, n_front + entries), *first = new_numbers (descent, n_front + entries), *row;
  gint64 n = 0, e = 0;

  sets[0] = rows[0] = 0;
  for (gint64 s = 0; s < descent->queries.n; s++)
    for (; e < descent->queries.offsets[s + 1] * descent->heads; e++)
      {
        gint64 top = descent->top[s], end = descent->rows.offsets[s + 1];

        if (top < end && descent->links->level[top] == level)
          {
            parent[n] = n_front;
            first[n++] = top;
            rows[n] = rows[n - 1] + end - top;
          }
        for (gint64 i = front->offsets[e]; i < front->offsets[e + 1]; i++)
          {
            parent[n] = i;
            first[n++] = descent->links->first_child[front->row[i]];
            rows[n] = rows[n - 1] + descent->links->n_children[front->row[i]];
          }
        sets[e + 1] = n;
      }
  row = new_numbers (descent, rows[n]);
  for (gint64 set = 0; set < n; set++)
    for (gint64 i = rows[set]; i < rows[set + 1]; i++)
      row[i] = first[set] + i - rows[set];
  *parents = parent;
  return (PlaitChosen){ descent->heads, { entries, sets }, { n, rows }, row };
}

/* The rows of a level. One that is in the sets of two neighbours stands beside itself there, and once here. */
static Front
join (const Descent *descent, const PlaitChosen *chosen, PlaitNode *path)
{
  PlaitTape *tape = descent->tape;
  gint64 entries = chosen->sets.n, n = plait_chosen_number (chosen), n_rows = 0, i = 0;
  Front front = { new_numbers (descent, entries), new_numbers (descent, n), path };
  gint64 *each = new_numbers (descent, n), *ends = new_numbers (descent, n), *items = new_numbers (descent, n);

  front.offsets[0] = each[0] = ends[0] = 0;
  for (gint64 e = 0; e < entries; e++)
    {
      for (gint64 from = i; i < chosen->rows.offsets[chosen->sets.offsets[e + 1]]; i++)
        {
          n_rows += i == from || chosen->row[i] != chosen->row[i - 1];
          front.row[n_rows - 1] = chosen->row[i];
          items[i] = i;
          each[n_rows] = n_rows;
          ends[n_rows] = i + 1;
        }
      front.offsets[e + 1] = n_rows;
    }
  if (n_rows < n)
    front.path = plait_chosen_read (tape, &(PlaitChosen){ 1, { n_rows, each }, { n_rows, ends }, items },
                                    new_ones (descent, n), path);
  front.path = plait_concatenate_rows (tape, (PlaitNode *[]){ front.path, new_ones (descent, 1) }, 2);
  return front;
}

/* Down all branches. */
static PlaitContext
attend_softly (PlaitSite *site, guint memory, PlaitStream query)
{
  PlaitTape *tape = plait_site_tape (site);
  const PlaitMemory *rows = plait_site_rows (site, memory);
  Descent descent = { tape, rows->links, rows->rows, plait_site_pairs (site, memory).queries,
                      plait_site_heads (site, NULL, memory) };
  gint64 entries = plait_ragged_rows (descent.queries) * descent.heads;
  Front front = { new_numbers (&descent, entries), NULL, new_ones (&descent, 1) };

  find_tops (&descent);
  memset (front.offsets, 0, (gsize)(entries + 1) * sizeof *front.offsets);
  for (gint64 level = descent.highest;; level--)
    {
      gint64 *parents;
      PlaitChosen chosen = go_down (&descent, level, &front, &parents);
      PlaitNode *path = plait_chosen_path (tape, &chosen, plait_site_weigh_rows (site, NULL, memory, query, &chosen),
                                           front.path, parents);

      if (level == 0)
        return plait_site_read_rows (site, NULL, memory, &chosen, path);
      front = join (&descent, &chosen, path);
    }
}

/* Gradients can flow in training alone; whatever else runs goes down as it decodes. */
static PlaitContext
attend (PlaitSite *site, const Settings *settings, guint memory, PlaitStream query)
{
  gboolean hard = settings->train != DESCENT_SOFT || plait_tape_mode (plait_site_tape (site)) == PLAIT_TAPE_EVALUATE;
  PlaitChosen leaves;
  PlaitNode *path;

  if (!has_levels (site, memory))
    return plait_site_attend (site, memory, query);
  if (settings->descent == DESCENT_SOFT || !hard)
    return attend_softly (site, memory, query);
  leaves = plait_site_walk_rows (site, NULL, memory, query, settings->descent == DESCENT_BEAM ? settings->branches : 1,
                                 settings->normalise, &path);
  return plait_site_read_rows (site, NULL, memory, &leaves, path);
}

static PlaitStream
combine (PlaitSite *site, gconstpointer data, gconstpointer state, PlaitStream x)
{
  const Settings *settings = data;
  guint n = plait_site_n_memories (site);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitStream query = plait_site_normalise (site, 0, x);

  for (guint i = 0; i < n; i++)
    {
      if (i > 0 && settings->combine == COMBINE_SERIAL)
        query = plait_site_normalise (site, i, x = plait_site_residual (site, i - 1, x, contexts[i - 1]));
      contexts[i] = attend (site, settings, i, query);
    }
  if (settings->combine == COMBINE_SERIAL)
    return plait_site_residual (site, n - 1, x, contexts[n - 1]);
  contexts[0] = settings->combine == COMBINE_PARALLEL ? plait_site_sum (site, contexts, n)
                                                      : plait_site_attend_contexts (site, query, contexts);
  return plait_site_residual (site, 0, x, contexts[0]);
}

static const PlaitCombinerTable table = { .build = build, .combine = combine };

PLAIT_PLUGIN_COMBINER_DEFINE ("descent", "0.1.0", Settings, bindings, table)
