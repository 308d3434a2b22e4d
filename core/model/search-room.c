/* SPDX-License-Identifier: MIT */
#include "model/search-private.h"

#include "tensor/kernels/kernels.h"

/* Of a part: fewer sentences may be done long before those of another thread, and fewer rows leave the weights, which
 * every thread then reads, too little used each time. */
#define LEAST_SENTENCES 8
#define LEAST_ROWS 32

void
plait_search_room_open (PlaitSearchRoom *room, PlaitPool *pool, gsize memory)
{
  *room = (PlaitSearchRoom){ .pool = pool,
                             .lasting_arena = plait_arena_new (memory),
                             .step_arena = plait_arena_new (memory) };
  room->lasting = plait_tape_new (pool, room->lasting_arena);
  room->step = plait_tape_new (pool, room->step_arena);
}

void
plait_search_room_close (PlaitSearchRoom *room)
{
  plait_tape_free (room->lasting);
  plait_tape_free (room->step);
  plait_arena_free (room->lasting_arena);
  plait_arena_free (room->step_arena);
}

gint64
plait_search_parts (const PlaitPool *pool, gint64 sentences, gint64 beam)
{
  gint64 threads = plait_pool_threads (pool);

  /* BLAS may give a row other bits in another company. */
  if (plait_kernels ()->blas_rows[0] > 0 || sentences < threads * LEAST_SENTENCES
      || sentences * beam < threads * LEAST_ROWS)
    return 1;
  return threads;
}
