/* SPDX-License-Identifier: MIT */
#include "cross-attention/site.h"
#include "cross-attention/rows.h"

#include <string.h>

#include "autograd/internal.h"
#include "layers/attention.h"

/* What a site has beside the calls of its combiner: what a pass knows, keys and values, its sentinel's gate, what
 * coverage carries. */

PlaitSitePass
plait_site_pass (PlaitTape *tape, const PlaitMemory *memories, guint n_memories, PlaitRagged queries,
                 PlaitCapture *capture)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 rows = plait_ragged_rows (queries);
  guint8 *any = plait_arena_new_array0 (arena, guint8, rows + 1);
  PlaitSitePass pass = {
    .tape = tape,
    .memories = memories,
    .n_memories = n_memories,
    .queries = queries,
    .present = plait_arena_new_array (arena, const guint8 *, n_memories),
    .any_present = NULL,
    .capture = capture,
  };

  for (guint i = 0; i < n_memories; i++)
    {
      guint8 *present = plait_arena_new_array (arena, guint8, rows + 1);

      for (gint64 s = 0; s < queries.n; s++)
        memset (present + queries.offsets[s], plait_ragged_length (memories[i].rows, s) > 0,
                plait_ragged_length (queries, s));
      for (gint64 row = 0; row < rows; row++)
        any[row] |= present[row];
      pass.present[i] = memchr (present, 0, rows) ? present : NULL;
    }
  if (memchr (any, 0, rows))
    pass.any_present = any;
  if (capture)
    {
      capture->queries = queries;
      capture->memories = memories;
    }
  return pass;
}

/* What walks down @memory have in common; without levels where it has none. */
static PlaitWalk
walk_of (const PlaitMemory *memory)
{
  const PlaitLinks *links = memory->links;
  PlaitWalk walk = { .rows = memory->rows };

  if (!links || !links->level || !links->first_child || !links->n_children)
    return walk;
  walk.level = links->level;
  walk.first_child = links->first_child;
  walk.n_children = links->n_children;
  for (gint64 row = 0; row < plait_ragged_rows (memory->rows); row++)
    walk.most_children = MAX (walk.most_children, links->n_children[row]);
  return walk;
}

PlaitSiteKeys
plait_site_project (const PlaitDeclaredSite *site, PlaitTape *tape, const PlaitMemory *memories)
{
  PlaitArena *arena = plait_tape_arena (tape);
  guint n = site->decoder->n_memories, places = site->n_readers * n;
  PlaitSiteKeys keys = {
    .attended = plait_arena_new_array0 (arena, PlaitAttended, places + 1),
    .coverage = plait_arena_new_array0 (arena, PlaitNode *, places + 1),
    .prepared = plait_arena_new_array0 (arena, PlaitNode *, n),
    .walks = plait_arena_new_array0 (arena, PlaitWalk, n),
    .families = plait_arena_new_array0 (arena, PlaitFamilies *, n),
    .memories = memories,
  };

  for (guint r = 0; r < site->n_readers; r++)
    {
      const PlaitReader *reader = &site->readers[r];

      for (guint i = 0; i < reader->n; i++)
        {
          guint m = reader->first + i, place = plait_site_place (site, reader, m);

          if (reader->covered)
            keys.coverage[place] = plait_call_prepare_coverage (&reader->covered[i].instance, tape, &memories[m]);
          keys.attended[place]
              = site->scaled ? plait_attention_project (tape, &reader->scaled, reader->scaled.n_key_values > 1 ? i : 0,
                                                        memories[m].states, memories[m].rows)
                             : plait_scored_project (tape, plait_scored_item (&reader->scored, i), memories[m].states,
                                                     memories[m].rows);
        }
    }
  for (guint m = 0; m < n; m++)
    {
      PlaitFamilies *families;

      if (!site->reads_rows[m])
        continue;
      keys.prepared[m] = plait_call_prepare (&site->combiner, tape, m, &memories[m]);
      keys.walks[m] = walk_of (&memories[m]);
      if (!keys.walks[m].level)
        continue;
      families = plait_arena_new_array (arena, PlaitFamilies, 1);
      keys.families[m] = plait_families (arena, &keys.walks[m], families) ? families : NULL;
    }
  return keys;
}

void
plait_site_keys_keep_columns (const PlaitDeclaredSite *site, const PlaitSiteKeys *keys, PlaitTape *tape)
{
  for (guint i = 0; site->scaled && i < site->n_readers * site->decoder->n_memories; i++)
    if (keys->attended[i].keys)
      plait_attended_keep_columns (tape, &keys->attended[i]);
}

static PlaitNode *
node_on (PlaitNode *node, PlaitTape *tape)
{
  return node ? plait_leaf (tape, node->value, NULL) : NULL;
}

PlaitSiteKeys
plait_site_keys_on (const PlaitDeclaredSite *site, const PlaitSiteKeys *keys, PlaitTape *tape)
{
  PlaitArena *arena = plait_tape_arena (tape);
  guint n = site->decoder->n_memories, places = site->n_readers * n;
  PlaitMemory *memories = plait_arena_new_array (arena, PlaitMemory, n);
  PlaitSiteKeys moved = {
    .attended = plait_arena_new_array (arena, PlaitAttended, places + 1),
    .coverage = plait_arena_new_array (arena, PlaitNode *, places + 1),
    .prepared = plait_arena_new_array (arena, PlaitNode *, n),
    .walks = keys->walks,
    .families = keys->families,
    .memories = memories,
  };

  for (guint i = 0; i < places; i++)
    {
      moved.attended[i] = keys->attended[i];
      moved.attended[i].keys = node_on (keys->attended[i].keys, tape);
      moved.attended[i].values = node_on (keys->attended[i].values, tape);
      moved.coverage[i] = node_on (keys->coverage[i], tape);
    }
  for (guint m = 0; m < n; m++)
    {
      memories[m] = keys->memories[m];
      if (!site->reads_rows[m] && site->n_coverage == 0)
        continue;
      memories[m].states = node_on (keys->memories[m].states, tape);
      memories[m].cells = node_on (keys->memories[m].cells, tape);
    }
  for (guint m = 0; m < n; m++)
    moved.prepared[m] = node_on (keys->prepared[m], tape);
  return moved;
}

PlaitNode *
plait_site_gate_input (const PlaitDeclaredSite *site, PlaitTape *tape, PlaitNode *embedded)
{
  return site->gate.state.weight ? plait_linear_apply (tape, &site->gate.embedding, embedded, PLAIT_ACTIVATION_NONE)
                                 : NULL;
}

PlaitNode *
plait_site_gate (const PlaitDeclaredSite *site, PlaitTape *tape, PlaitNode *input, PlaitNode *state)
{
  if (!input)
    return NULL;
  state = plait_linear_apply (tape, &site->gate.state, state, PLAIT_ACTIVATION_NONE);
  return plait_activate (tape, plait_add (tape, input, state), PLAIT_ACTIVATION_SIGMOID);
}

PlaitNode **
plait_site_first_coverage (const PlaitDeclaredSite *site, PlaitTape *tape, const PlaitMemory *memories,
                           PlaitRagged queries)
{
  PlaitNode **states = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, site->n_coverage + 1);

  for (guint i = 0; i < site->n_covered; i++)
    {
      const PlaitCovered *covered = site->covered[i];
      PlaitPairs pairs = plait_pairs (tape, queries, memories[covered->memory].rows);

      for (guint k = covered->first_state; k < covered->first_state + covered->n_states; k++)
        states[k] = plait_covered_begin (covered, tape, &pairs);
    }
  return states;
}

PlaitSiteSearch
plait_site_search (const PlaitDeclaredSite *site, PlaitTape *tape, const PlaitMemory *memories, gint64 hypotheses)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = memories[0].rows.n;
  PlaitSiteSearch search = {
    .site = site,
    .keys = plait_site_project (site, tape, memories),
    .coverage = plait_arena_new_array (arena, PlaitTensor, site->n_coverage + 1),
    .queries = plait_ragged_units (arena, n),
  };

  plait_site_keys_keep_columns (site, &search.keys, tape);
  for (guint i = 0; i < site->n_covered; i++)
    {
      const PlaitCovered *covered = site->covered[i];
      gint64 pairs = n > 0 ? hypotheses / n * plait_ragged_rows (memories[covered->memory].rows) : 0;

      for (guint k = covered->first_state; k < covered->first_state + covered->n_states; k++)
        search.coverage[k] = plait_tensor (plait_arena_new_array0 (arena, PlaitScalar, pairs * covered->width + 1),
                                           pairs, covered->width);
    }
  return search;
}

PlaitSiteStep
plait_site_search_step (const PlaitSiteSearch *search, const PlaitSitePass *pass, const gint64 *parents)
{
  const PlaitDeclaredSite *site = search->site;
  PlaitTape *tape = pass->tape;
  PlaitSiteStep step = {
    .keys = plait_site_keys_on (site, &search->keys, tape),
    .coverage = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, site->n_coverage + 1),
  };

  for (guint i = 0; i < site->n_covered; i++)
    {
      const PlaitCovered *covered = site->covered[i];
      PlaitPairs pairs = plait_pairs (tape, search->queries, pass->memories[covered->memory].rows);
      gint64 n = plait_pairs_number (&pairs);

      for (guint k = covered->first_state; k < covered->first_state + covered->n_states; k++)
        step.coverage[k]
            = plait_covered_carry (tape, plait_leaf (tape, plait_tensor_rows (search->coverage[k], 0, n), NULL), &pairs,
                                   pass->queries, parents);
    }
  return step;
}

void
plait_site_search_keep (PlaitSiteSearch *search, const PlaitSitePass *pass, const PlaitSiteStep *step)
{
  PlaitPool *pool = plait_tape_pool (pass->tape);

  for (guint k = 0; k < search->site->n_coverage; k++)
    {
      PlaitTensor states = step->coverage[k]->value;

      plait_tensor_accumulate (pool, plait_tensor_rows (search->coverage[k], 0, states.rows), 0, 1, states);
    }
  memcpy ((gint64 *)search->queries.offsets, pass->queries.offsets, (gsize)(pass->queries.n + 1) * sizeof (gint64));
}
