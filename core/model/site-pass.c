/* SPDX-License-Identifier: MIT */
#include "model/site-pass.h"

#include <string.h>

#include "autograd/operators.h"

PlaitSitePass
plait_site_pass (PlaitTape *tape, const PlaitMemory *memories, guint n_memories, PlaitRagged queries,
                 PlaitCapture *capture)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 rows = plait_ragged_rows (queries);
  guint8 *any = plait_arena_new_array (arena, guint8, rows + 1);
  PlaitSitePass pass = {
    .tape = tape,
    .memories = memories,
    .n_memories = n_memories,
    .queries = queries,
    .present = plait_arena_new_array (arena, const guint8 *, n_memories),
    .any_present = NULL,
    .capture = capture,
  };

  memset (any, 0, rows);
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
      PlaitRagged *of = plait_arena_new_array (capture->arena, PlaitRagged, n_memories);
      const PlaitLinks **links = plait_arena_new_array (capture->arena, const PlaitLinks *, n_memories);

      for (guint i = 0; i < n_memories; i++)
        {
          of[i] = memories[i].rows;
          links[i] = memories[i].links;
        }
      capture->queries = queries;
      capture->rows = of;
      capture->links = links;
    }
  return pass;
}

PlaitContext
plait_site_pass_sum (const PlaitSitePass *pass, const PlaitContext *contexts, guint n)
{
  PlaitArena *arena = plait_tape_arena (pass->tape);
  PlaitNode **values = plait_arena_new_array (arena, PlaitNode *, n);
  gint64 rows = plait_ragged_rows (pass->queries);
  guint8 *present = plait_arena_new_array (arena, guint8, rows + 1);
  gboolean partial = TRUE;

  memset (present, 0, rows);
  for (guint i = 0; i < n; i++)
    {
      values[i] = contexts[i].value;
      if (!contexts[i].present)
        partial = FALSE;
      for (gint64 row = 0; partial && row < rows; row++)
        present[row] |= contexts[i].present[row];
    }
  return (PlaitContext){ .value = n == 1 ? values[0] : plait_sum (pass->tape, values, n),
                         .present = partial ? present : NULL };
}
