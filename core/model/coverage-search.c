/* SPDX-License-Identifier: MIT */
#include "model/coverage-search.h"

#include <string.h>

#include "tensor/elementwise.h"

PlaitSearchCoverage
plait_search_coverage (const PlaitDeclaredSite *site, PlaitTape *tape, const PlaitMemory *memories, gint64 hypotheses)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = memories[0].rows.n;
  PlaitSearchCoverage coverage = {
    .site = site,
    .memories = memories,
    .states = plait_arena_new_array (arena, PlaitTensor, site->n_coverage + 1),
    .queries = { n, plait_arena_new_array (arena, gint64, n + 1) },
  };

  for (guint r = 0; r < site->n_readers; r++)
    for (guint i = 0; site->readers[r].covered && i < site->readers[r].n; i++)
      {
        const PlaitCovered *covered = &site->readers[r].covered[i];
        gint64 pairs = n > 0 ? hypotheses / n * plait_ragged_rows (memories[site->readers[r].first + i].rows) : 0;

        for (guint k = covered->first_state; k < covered->first_state + covered->n_states; k++)
          coverage.states[k] = plait_tensor (plait_arena_new_array (arena, PlaitScalar, pairs * covered->width + 1),
                                             pairs, covered->width);
      }
  return coverage;
}

PlaitNode **
plait_search_coverage_continue (const PlaitSearchCoverage *coverage, PlaitTape *tape, PlaitRagged hypotheses,
                                const gint64 *parents)
{
  const PlaitDeclaredSite *site = coverage->site;
  PlaitNode **before = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, site->n_coverage + 1);

  for (guint r = 0; coverage->begun && r < site->n_readers; r++)
    for (guint i = 0; site->readers[r].covered && i < site->readers[r].n; i++)
      {
        const PlaitCovered *covered = &site->readers[r].covered[i];
        PlaitPairs pairs = plait_pairs (tape, coverage->queries, coverage->memories[site->readers[r].first + i].rows);

        for (guint k = covered->first_state; k < covered->first_state + covered->n_states; k++)
          before[k] = plait_leaf (tape, plait_tensor_rows (coverage->states[k], 0, plait_pairs_number (&pairs)), NULL);
      }
  return plait_site_carry_coverage (site, tape, coverage->memories, before, coverage->begun ? &coverage->queries : NULL,
                                    hypotheses, parents);
}

void
plait_search_coverage_keep (PlaitSearchCoverage *coverage, PlaitTape *tape, PlaitRagged hypotheses,
                            PlaitNode *const *states)
{
  for (guint k = 0; k < coverage->site->n_coverage; k++)
    plait_tensor_accumulate (plait_tape_pool (tape), plait_tensor_rows (coverage->states[k], 0, states[k]->value.rows),
                             0, 1, states[k]->value);
  memcpy ((gint64 *)coverage->queries.offsets, hypotheses.offsets, (gsize)(hypotheses.n + 1) * sizeof (gint64));
  coverage->begun = TRUE;
}
