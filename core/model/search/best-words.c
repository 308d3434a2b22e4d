/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"

/* EOS is the only candidate in the last step that the length limit allows. */

void
plait_search_end_words (PlaitSearchWorkspace *workspace, const PlaitBeam *beam, const PlaitWordDistribution *words,
                        guint best, gint32 *ids, PlaitScalar *log_probabilities)
{
  PlaitRagged rows = plait_beam_rows (beam).hypotheses;
  gint64 n = plait_ragged_rows (rows);
  gint32 *ends = plait_arena_new_array (workspace->step_arena, gint32, n);
  double *losses = NULL;

  for (gint64 i = 0; i < n; i++)
    ends[i] = PLAIT_TOKEN_EOS;
  for (gint64 s = 0; s < rows.n; s++)
    {
      if (!plait_beam_is_last_step (beam, s) || plait_ragged_length (rows, s) == 0)
        continue;
      if (!losses)
        {
          losses = plait_arena_new_array (workspace->step_arena, double, n);
          plait_word_distribution_losses (words, workspace->step, ends, losses);
        }
      for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
        {
          for (guint k = 0; k < best; k++)
            ids[row * best + k] = -1;
          ids[row * best] = PLAIT_TOKEN_EOS;
          log_probabilities[row * best] = (PlaitScalar)-losses[row];
        }
    }
}
