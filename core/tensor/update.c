/* SPDX-License-Identifier: MIT */
#include "tensor/update.h"

#include "tensor/kernels/kernels.h"
#include "tensor/spans.h"

/* Pieces go through all slots: piece i of a slot covers its elements i * PIECE ... */
#define PIECE PLAIT_SPAN_ELEMENTS

typedef struct
{
  const PlaitKernels *kernels;
  const PlaitUpdateSlot *slots;
  guint n_slots;
  const PlaitAdamSettings *adam;
  const PlaitAdadeltaSettings *adadelta;
  double *squares;
} Update;

static gint64
pieces_of (const PlaitUpdateSlot *slot)
{
  return (slot->n + PIECE - 1) / PIECE;
}

static gint64
all_pieces (const Update *update)
{
  gint64 pieces = 0;

  for (guint i = 0; i < update->n_slots; i++)
    pieces += pieces_of (&update->slots[i]);
  return pieces;
}

/* The slot that @piece falls into and its first element there. */
static const PlaitUpdateSlot *
find_slot (const Update *update, gint64 piece, gint64 *first)
{
  const PlaitUpdateSlot *slot = update->slots;

  for (; piece >= pieces_of (slot); slot++)
    piece -= pieces_of (slot);
  *first = piece * PIECE;
  return slot;
}

static void
adam_piece (gpointer data, gint64 piece, guint thread)
{
  const Update *update = data;
  gint64 first;
  const PlaitUpdateSlot *slot = find_slot (update, piece, &first);

  update->kernels->adam (slot, first, MIN (PIECE, slot->n - first), update->adam);
}

void
plait_adam_update (PlaitPool *pool, const PlaitUpdateSlot *slots, guint n_slots, const PlaitAdamSettings *settings)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_UPDATE);
  Update update = { .kernels = plait_kernels (), .slots = slots, .n_slots = n_slots, .adam = settings };

  plait_pool_run (pool, all_pieces (&update), adam_piece, &update);
}

static void
adadelta_piece (gpointer data, gint64 piece, guint thread)
{
  const Update *update = data;
  gint64 first;
  const PlaitUpdateSlot *slot = find_slot (update, piece, &first);

  update->kernels->adadelta (slot, first, MIN (PIECE, slot->n - first), update->adadelta);
}

void
plait_adadelta_update (PlaitPool *pool, const PlaitUpdateSlot *slots, guint n_slots,
                       const PlaitAdadeltaSettings *settings)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_UPDATE);
  Update update = { .kernels = plait_kernels (), .slots = slots, .n_slots = n_slots, .adadelta = settings };

  plait_pool_run (pool, all_pieces (&update), adadelta_piece, &update);
}

static void
squares_piece (gpointer data, gint64 piece, guint thread)
{
  const Update *update = data;
  gint64 first;
  const PlaitUpdateSlot *slot = find_slot (update, piece, &first);

  update->squares[piece] = update->kernels->squares (slot->gradient + first, MIN (PIECE, slot->n - first));
}

double
plait_gradient_squared_norm (PlaitPool *pool, PlaitArena *arena, const PlaitUpdateSlot *slots, guint n_slots)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_UPDATE);
  Update update = { .kernels = plait_kernels (), .slots = slots, .n_slots = n_slots };
  gint64 pieces = all_pieces (&update);
  double sum = 0;

  if (pieces == 0)
    return 0;
  update.squares = plait_arena_new_array (arena, double, pieces);
  plait_pool_run (pool, pieces, squares_piece, &update);
  for (gint64 i = 0; i < pieces; i++)
    sum += update.squares[i];
  plait_arena_release (arena, update.squares, sizeof (double) * (gsize)pieces);
  return sum;
}
