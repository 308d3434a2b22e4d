/* SPDX-License-Identifier: MIT */
#include "tensor/update.h"

#include "kernels/kernels.h"
#include "tensor/element-ranges.h"

/* Number of elements in a piece. Pieces are numbered over all parameters. */
#define PIECE PLAIT_MAX_RANGE_ELEMENTS

typedef struct
{
  const PlaitKernels *kernels;
  const PlaitUpdateSlot *slots;
  guint n_slots;
  const PlaitUpdateSettings *settings; /* NULL: compute sums of squares instead of an update */
  double *squares;                     /* sum of the squares of each piece: [pieces] */
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

/* Lion needs no root or division, so the vector code that the compiler makes is fast enough. */
static void
lion (const PlaitUpdateSlot *slot, gint64 first, gint64 n, const PlaitUpdateSettings *settings)
{
  PlaitScalar *value = slot->value + first, *gradient = slot->gradient + first, *moment = slot->kept[0] + first;
  PlaitScalar beta1 = (PlaitScalar)settings->beta1, rest1 = (PlaitScalar)(1 - settings->beta1);
  PlaitScalar beta2 = (PlaitScalar)settings->beta2, rest2 = (PlaitScalar)(1 - settings->beta2);
  PlaitScalar rate = (PlaitScalar)settings->rate, scale = (PlaitScalar)settings->gradient_scale;
  PlaitScalar keep = (PlaitScalar)(1 - settings->rate * settings->weight_decay);

  for (gint64 i = 0; i < n; i++)
    {
      PlaitScalar g = gradient[i] * scale, direction = beta1 * moment[i] + rest1 * g;

      moment[i] = beta2 * moment[i] + rest2 * g;
      value[i] = keep * value[i] - rate * (PlaitScalar)((direction > 0) - (direction < 0));
      if (!settings->keep)
        gradient[i] = 0;
    }
}

static void
piece (gpointer data, gint64 number, guint thread)
{
  const Update *update = data;
  const PlaitUpdateSlot *slot = update->slots;
  gint64 index = number, first, n;

  for (; index >= pieces_of (slot); slot++)
    index -= pieces_of (slot);
  first = index * PIECE;
  n = MIN (PIECE, slot->n - first);
  if (!update->settings)
    update->squares[number] = update->kernels->squares (slot->gradient + first, n);
  else if (update->settings->rule == PLAIT_UPDATE_ADAM)
    update->kernels->adam (slot, first, n, update->settings);
  else if (update->settings->rule == PLAIT_UPDATE_LION)
    lion (slot, first, n, update->settings);
  else
    update->kernels->adadelta (slot, first, n, update->settings);
}

void
plait_update (PlaitPool *pool, const PlaitUpdateSlot *slots, guint n_slots, const PlaitUpdateSettings *settings)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_UPDATE);
  Update update = { .kernels = plait_kernels (), .slots = slots, .n_slots = n_slots, .settings = settings };

  plait_pool_run (pool, all_pieces (&update), piece, &update);
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
  plait_pool_run (pool, pieces, piece, &update);
  for (gint64 i = 0; i < pieces; i++)
    sum += update.squares[i];
  plait_arena_release (arena, update.squares, sizeof (double) * (gsize)pieces);
  return sum;
}
