/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"

#include "tensor/output-layer.h"

/* The best words of a decoder's states. */

void
plait_search_best_words (const PlaitSearch *search, PlaitSearchWorkspace *workspace, const PlaitNode *states,
                         const gint32 *forbidden, guint n_forbidden, guint best, gint32 *ids,
                         PlaitScalar *log_probabilities)
{
  PlaitParameter *bias;
  PlaitParameter *output = plait_model_output (search->model, &bias);

  plait_output_layer_top_k (workspace->pool, workspace->step_arena, states->value, output->packed,
                            bias ? bias->value.data : NULL, forbidden, n_forbidden, NULL, best, ids, log_probabilities);
}

void
plait_search_end_words (const PlaitSearch *search, PlaitSearchWorkspace *workspace, const PlaitBeam *beam,
                        const PlaitNode *states, guint best, gint32 *ids, PlaitScalar *log_probabilities)
{
  PlaitRagged rows = plait_beam_rows (beam).hypotheses;
  gint64 n = plait_ragged_rows (rows);
  gint32 *ends = plait_arena_new_array (workspace->step_arena, gint32, n);
  double *losses = NULL;
  PlaitParameter *bias;
  PlaitParameter *output = plait_model_output (search->model, &bias);

  for (gint64 i = 0; i < n; i++)
    ends[i] = PLAIT_TOKEN_EOS;
  for (gint64 s = 0; s < rows.n; s++)
    {
      if (!plait_beam_is_last_step (beam, s) || plait_ragged_length (rows, s) == 0)
        continue;
      if (!losses)
        {
          PlaitOutputLayerWork ending = {
            .states = states->value,
            .table = output->value,
            .bias = bias ? bias->value.data : NULL,
            .targets = ends,
            .scale = 1,
            .row_losses = losses = plait_arena_new_array (workspace->step_arena, double, n),
          };

          plait_output_layer_compute (workspace->pool, workspace->step_arena, &ending);
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
