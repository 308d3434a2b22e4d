/* SPDX-License-Identifier: MIT */
#include "cross-attention/site.h"

#include <string.h>

#include "autograd/internal.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"

/* Attention to rows that a combiner chooses for each query and head; its cost is theirs. */

/* Queries of a sentence that are worth matrices of their weights with all rows. */
#define SIDE_BY_SIDE 4

/* The declared attention, where chosen rows can go through it; NULL while the site is being built. */
static const PlaitReader *
begin_chosen (PlaitSite *site, const char *call, const char *name, guint memory)
{
  const PlaitReader *reader = plait_site_reader (site, call, PLAIT_READS_MEMORY, name, memory);

  if (reader && reader->covered)
    plait_tape_fail (site->pass->tape,
                     "%s: coverage counts what every row is paid, and has no part in rows that are chosen: set "
                     "decoder.coverage=none",
                     call);
  return reader;
}

guint
plait_site_heads (PlaitSite *site, const char *name, guint memory)
{
  const PlaitReader *reader = begin_chosen (site, G_STRFUNC, name, memory);

  return reader ? reader->heads : 1;
}

/* Every query has chosen rows of its own sentence. */
static void
check_chosen (PlaitSite *site, const char *call, const PlaitReader *reader, const PlaitChosen *chosen)
{
  PlaitTape *tape = site->pass->tape;
  PlaitRagged queries = site->pass->queries, rows = site->pass->memories[reader->first].rows;
  gint64 entries = plait_ragged_rows (queries) * reader->heads;

  if (!chosen)
    plait_tape_fail (tape, "%s: is given NULL for the rows that are chosen", call);
  if (chosen->heads != reader->heads || chosen->sets.n != entries || !plait_ragged_is_sound (chosen->sets)
      || chosen->rows.n != plait_ragged_rows (chosen->sets) || !plait_ragged_is_sound (chosen->rows))
    plait_tape_fail (
        tape, "%s: rows are chosen for %u heads in %jd entries; there are %u heads and %jd queries, so %jd entries",
        call, chosen->heads, chosen->sets.n, reader->heads, plait_ragged_rows (queries), entries);
  for (gint64 s = 0; s < queries.n; s++)
    {
      const gint64 *sets = chosen->sets.offsets + queries.offsets[s] * reader->heads;
      gint64 last = plait_ragged_length (queries, s) * reader->heads;

      for (gint64 i = chosen->rows.offsets[sets[0]]; i < chosen->rows.offsets[sets[last]]; i++)
        if (chosen->row[i] < rows.offsets[s] || chosen->row[i] >= rows.offsets[s + 1])
          plait_tape_fail (tape, "%s: row %jd was chosen, which is not of the query's sentence: choose rows %jd to %jd",
                           call, chosen->row[i], rows.offsets[s], rows.offsets[s + 1] - 1);
    }
}

static const PlaitAttended *
keys_of (const PlaitSite *site, const PlaitReader *reader)
{
  return &site->keys->attended[plait_site_place (site->declared, reader, reader->first)];
}

/* @n chosen rows have been weighed. */
static void
count_touched (const PlaitSitePass *pass, gint64 n)
{
  if (!pass->touched)
    return;
  pass->touched->all += n;
  pass->touched->chosen += n;
}

/* Keeps softmaxes over chosen rows for who looks on. */
static void
note_chosen (const PlaitSite *site, const PlaitReader *reader, const PlaitChosen *chosen, const PlaitScalar *weights)
{
  if (site->pass->capture)
    plait_capture_chosen (site->pass->capture, site->step->layer, reader->name, reader->first, chosen, weights);
}

PlaitNode *
plait_site_weigh_rows (PlaitSite *site, const char *name, guint memory, PlaitStream query, const PlaitChosen *chosen)
{
  const PlaitReader *reader = begin_chosen (site, G_STRFUNC, name, memory);
  PlaitTape *tape;
  PlaitNode *projected, *scores, *keys, *weights, *vector;

  if (!reader)
    return NULL;
  tape = site->pass->tape;
  plait_site_check_query (site, G_STRFUNC, query);
  check_chosen (site, G_STRFUNC, reader, chosen);
  keys = keys_of (site, reader)->keys;
  projected = plait_site_project_query (site, reader, query);
  vector = plait_parameter_node_if_any (tape, reader->scored.vector);
  scores = vector ? plait_chosen_additive (tape, chosen, projected, keys, vector)
                  : plait_chosen_products (tape, chosen, projected, keys, reader->scale);
  count_touched (site->pass, plait_chosen_number (chosen));
  weights = plait_chosen_weights (tape, chosen, scores);
  note_chosen (site, reader, chosen, plait_tape_value (tape, weights).data);
  return weights;
}

/* Notes with which weights the chosen rows are read, and zeros for all others. */
static void
capture (const PlaitSite *site, const PlaitReader *reader, const PlaitChosen *chosen, const PlaitScalar *weights)
{
  PlaitRagged queries = site->pass->queries, rows = site->pass->memories[reader->first].rows;
  gint64 n = plait_capture_pairs (site->pass->capture, reader->first), before = 0;
  PlaitScalar *to
      = plait_capture_weights (site->pass->capture, site->step->layer, reader->name, reader->first, reader->heads);

  memset (to, 0, (gsize)(n * reader->heads) * sizeof *to);
  for (gint64 s = 0; s < queries.n; s++)
    for (gint64 q = queries.offsets[s]; q < queries.offsets[s + 1]; q++, before += plait_ragged_length (rows, s))
      for (guint h = 0; h < reader->heads; h++)
        {
          const gint64 *sets = chosen->sets.offsets + q * reader->heads + h;

          for (gint64 i = chosen->rows.offsets[sets[0]]; i < chosen->rows.offsets[sets[1]]; i++)
            to[h * n + before + chosen->row[i] - rows.offsets[s]] += weights[i];
        }
}

static PlaitContext
context_of (const PlaitSite *site, const PlaitReader *reader, PlaitNode *value)
{
  const guint8 *present = site->pass->present[reader->first];

  return (PlaitContext){ .value = plait_site_project_output (site, reader, value, present), .present = present };
}

/* The context of what the chosen rows have, @weights. */
static PlaitContext
read_chosen (const PlaitSite *site, const PlaitReader *reader, const PlaitChosen *chosen, PlaitNode *weights)
{
  PlaitTape *tape = site->pass->tape;

  if (site->pass->capture)
    capture (site, reader, chosen, plait_tape_value (tape, weights).data);
  return context_of (
      site, reader,
      plait_chosen_read (tape, chosen, plait_dropout (tape, weights, reader->dropout), keys_of (site, reader)->values));
}

PlaitContext
plait_site_read_rows (PlaitSite *site, const char *name, guint memory, const PlaitChosen *chosen, PlaitNode *weights)
{
  const PlaitReader *reader = begin_chosen (site, G_STRFUNC, name, memory);

  if (!reader)
    return (PlaitContext){ NULL, NULL, NULL };
  check_chosen (site, G_STRFUNC, reader, chosen);
  plait_tape_expect (site->pass->tape, weights && weights->value.width == 1);
  plait_tape_expect (site->pass->tape, weights->value.rows == plait_chosen_number (chosen));
  return read_chosen (site, reader, chosen, weights);
}

static PlaitNode *
descend_additively (const PlaitSite *site, const PlaitReader *reader, const PlaitFamilies *families, PlaitNode *query,
                    PlaitNode *vector)
{
  PlaitTape *tape = site->pass->tape;
  const PlaitAttended *attended = keys_of (site, reader);
  PlaitPairs pairs = plait_pairs (tape, site->pass->queries, families->rows), leaves;
  PlaitNode *scores = plait_pair_scores (tape, &pairs, query, attended->keys, NULL, vector, NULL);
  PlaitNode *weights = plait_family_weights (tape, families, pairs.queries, scores, &leaves);

  return plait_pair_read (tape, &leaves, plait_dropout (tape, weights, reader->dropout), attended->values);
}

/* Down all branches at once, by products where there are queries enough for matrices. NULL: rows are gone to one by
 * one, since that cannot be, or somebody looks on. */
static PlaitNode *
descend_at_once (const PlaitSite *site, const PlaitReader *reader, PlaitNode *query, PlaitNode *vector)
{
  const PlaitFamilies *families = site->keys->families[reader->first];
  const PlaitAttended *attended = keys_of (site, reader);
  PlaitAttentionOptions options = { .heads = reader->heads, .scale = reader->scale, .dropout = reader->dropout };
  PlaitRagged queries = site->pass->queries;

  if (!families || site->pass->capture || (!vector && query->value.rows < SIDE_BY_SIDE * queries.n))
    return NULL;
  for (gint64 s = 0; s < queries.n; s++)
    count_touched (site->pass, reader->heads * plait_ragged_length (queries, s) * families->weighed[s]);
  if (vector)
    return descend_additively (site, reader, families, query, vector);
  return plait_attention_over_families (site->pass->tape, families, queries, query, attended->keys, attended->values,
                                        &options);
}

PlaitContext
plait_site_descend (PlaitSite *site, const char *name, guint memory, PlaitStream query, gint64 branches,
                    gboolean normalise)
{
  const PlaitReader *reader = begin_chosen (site, G_STRFUNC, name, memory);
  const PlaitAttended *attended;
  PlaitTape *tape;
  PlaitNode *projected, *weights, *at_once, *vector;
  PlaitWalked walked;
  PlaitWalk walk;

  if (!reader)
    return (PlaitContext){ NULL, NULL, NULL };
  tape = site->pass->tape;
  plait_site_check_query (site, G_STRFUNC, query);
  plait_site_check_rows (site, G_STRFUNC, memory);
  walk = site->keys->walks[memory];
  if (!walk.level)
    plait_tape_fail (tape, "%s: the rows of memory %u have no levels to walk down", G_STRFUNC, memory);
  if (branches < 0)
    plait_tape_fail (tape, "%s: %jd branches lead nowhere: ask for 1 or more, or 0 for all", G_STRFUNC, branches);
  walk.queries = site->pass->queries;
  walk.heads = reader->heads;
  walk.branches = branches > 0 ? branches : G_MAXINT64;
  walk.normalise = normalise;
  projected = plait_site_project_query (site, reader, query);
  vector = plait_parameter_node_if_any (tape, reader->scored.vector);
  at_once = branches == 0 ? descend_at_once (site, reader, projected, vector) : NULL;
  if (at_once)
    return context_of (site, reader, at_once);
  attended = keys_of (site, reader);
  weights = plait_walk_down (tape, &walk, projected, attended->keys, attended->values, reader->scale, vector,
                             site->pass->capture != NULL, &walked);
  note_chosen (site, reader, &walked.all, walked.weights);
  count_touched (site->pass, walked.weighed);
  return read_chosen (site, reader, &walked.leaves, weights);
}
