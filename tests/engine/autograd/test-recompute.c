/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/internal.h"
#include "bench.h"

/* Tests of layers that the backward pass computes again. */

#define LAYERS 6
#define MAX_ROWS 200 /* more rows than weight reuse collects at once */
#define WIDTH 16
#define STEPS 5

/* The weights of the layers and their gradients. */
typedef struct
{
  PlaitScalar x[MAX_ROWS * WIDTH];
  PlaitScalar dx[MAX_ROWS * WIDTH];
  PlaitScalar weight[LAYERS][WIDTH * WIDTH];
  PlaitScalar dweight[LAYERS][WIDTH * WIDTH];
  PlaitScalar gain[LAYERS][WIDTH];
  PlaitScalar dgain[LAYERS][WIDTH];
} Numbers;

static void
numbers_fill (Numbers *numbers)
{
  PlaitRandomKey key = plait_random_key (5, "test", "segment", 0);

  memset (numbers, 0, sizeof *numbers);
  for (guint i = 0; i < MAX_ROWS * WIDTH; i++)
    numbers->x[i] = (PlaitScalar)plait_random_normal (key, i);
  for (guint l = 0; l < LAYERS; l++)
    {
      for (guint i = 0; i < WIDTH * WIDTH; i++)
        numbers->weight[l][i] = (PlaitScalar)plait_random_normal (key, 1000 * (l + 1) + i) / 4;
      for (guint i = 0; i < WIDTH; i++)
        numbers->gain[l][i] = 1 + (PlaitScalar)i / WIDTH;
    }
}

typedef struct
{
  Numbers *numbers;
  guint layer;
  guint *calls;
  PlaitNode *x;
  PlaitNode *constant; /* node that has no gradient, made before the layers */
} Layer;

/* Bit mask of the layers whose nodes stay on the tape. */
static guint kept_layers;

/* Appends a layer with all that matters here: a norm, a weight used at several steps (weight-reuse.c), an activation
 * that keeps its input, dropout, a view, discarded values and nodes without a gradient. */
static PlaitNode *
apply (PlaitTape *tape, gconstpointer data)
{
  static PlaitScalar zeros[WIDTH];
  const Layer *layer = data;
  Numbers *numbers = layer->numbers;
  PlaitScalar *own = numbers->weight[layer->layer];
  PlaitTensor dweight = plait_tensor (numbers->dweight[layer->layer], WIDTH, WIDTH);
  PlaitTensor dgain = plait_tensor (numbers->dgain[layer->layer], 1, WIDTH);
  PlaitNode *weight = plait_tape_keyed_leaf (tape, own, plait_tensor (own, WIDTH, WIDTH), &dweight, NULL);
  PlaitNode *gain = plait_tape_keyed_leaf (tape, numbers->gain[layer->layer],
                                           plait_tensor (numbers->gain[layer->layer], 1, WIDTH), &dgain, NULL);
  PlaitNode *bias = plait_leaf (tape, plait_tensor (zeros, 1, WIDTH), NULL);
  PlaitNode *y = plait_layer_norm (tape, layer->x, gain, bias, 1e-6);

  ++*layer->calls;
  if (kept_layers & 1u << layer->layer)
    plait_tape_keep_piece (tape);
  for (guint i = 0; i < STEPS; i++)
    y = plait_linear_dropout (tape, y, weight, NULL, i % 2 ? PLAIT_ACTIVATION_GELU : PLAIT_ACTIVATION_NONE, .1);
  y = plait_multiply (tape, y, plait_dropout (tape, layer->constant, .5));
  y = plait_concatenate_columns (
      tape, (PlaitNode *[]){ plait_columns (tape, y, WIDTH / 2, WIDTH / 2), plait_columns (tape, y, 0, WIDTH / 2) }, 2);
  return plait_residual (tape, layer->x, y, .2);
}

/* Copies of gradients, taken when the backward pass reports that they are complete. */
typedef struct
{
  const Bench *bench;
  const Numbers *numbers;
  Numbers whole;
  gint left[LAYERS]; /* argument left of look() when it found the gradients of the layer complete */
  gint begun;
} Watch;

static void
look (gpointer data, gint left)
{
  Watch *watch = data;

  CHECK (watch->begun == 0 || left < watch->begun);
  watch->begun = MAX (watch->begun, left);
  for (guint l = 0; l < LAYERS; l++)
    {
      gint weight = plait_tape_keyed_place (watch->bench->tape, watch->numbers->weight[l]);
      gint gain = plait_tape_keyed_place (watch->bench->tape, watch->numbers->gain[l]);

      if (watch->left[l] > 0 || left > MIN (weight, gain))
        continue;
      watch->left[l] = left;
      memcpy (watch->whole.dweight[l], watch->numbers->dweight[l], sizeof watch->whole.dweight[l]);
      memcpy (watch->whole.dgain[l], watch->numbers->dgain[l], sizeof watch->whole.dgain[l]);
    }
}

/* Computes the gradients of a sum over the last layer's output. Returns the bytes of memory that the step took. */
static gsize
run_watched (Numbers *numbers, gint64 rows, gboolean again, PlaitTapeMode mode, guint threads, guint *calls,
             Watch *watch)
{
  g_auto (Bench) bench = bench_new (threads);
  PlaitTensor dx = plait_tensor (numbers->dx, rows, WIDTH);
  PlaitNode *after[2];
  Layer layer = { .numbers = numbers, .calls = calls };

  numbers_fill (numbers);
  *calls = 0;
  plait_tape_begin (bench.tape, mode, plait_random_key (1, "dropout", NULL, 1));
  if (again)
    plait_tape_enable_recompute (bench.tape);
  if (watch)
    {
      *watch = (Watch){ .bench = &bench, .numbers = numbers };
      plait_tape_report_backward (bench.tape, look, watch);
    }
  layer.x = plait_leaf (bench.tape, plait_tensor (numbers->x, rows, WIDTH), &dx);
  layer.constant = plait_leaf (bench.tape, plait_tensor (numbers->x, rows, WIDTH), NULL);
  layer.x = plait_dropout (bench.tape, layer.x, .1);
  for (layer.layer = 0; layer.layer < LAYERS; layer.layer++)
    layer.x = plait_tape_recomputed (bench.tape, apply, &layer, sizeof layer);
  /* Dropout after the recomputed layers must get the random keys that it gets without recomputing. */
  after[0] = plait_dropout (bench.tape, layer.x, .3);
  after[1] = layer.x;
  plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, plait_add_n (bench.tape, after, 2)));
  return plait_arena_peak (bench.arena);
}

static gsize
run (Numbers *numbers, gint64 rows, gboolean again, PlaitTapeMode mode, guint threads, guint *calls)
{
  return run_watched (numbers, rows, again, mode, threads, calls, NULL);
}

TEST_CASE (segment, gradients_are_whole_when_backward_says_so)
{
  static Numbers numbers;
  static Watch watch;
  guint calls;

  for (guint again = 0; again <= 1; again++)
    for (gint64 rows = 12; rows <= MAX_ROWS; rows += MAX_ROWS - 12)
      {
        CONTEXT ("%u, %d rows", again, (int)rows);

        run_watched (&numbers, rows, again, PLAIT_TAPE_TRAIN, 1, &calls, &watch);
        CHECK (memcmp (watch.whole.dweight, numbers.dweight, sizeof numbers.dweight) == 0);
        CHECK (memcmp (watch.whole.dgain, numbers.dgain, sizeof numbers.dgain) == 0);
        /* The backward pass completes gradients layer by layer, beginning with the last layer. */
        for (guint l = 0; l < LAYERS; l++)
          CHECK (watch.left[l] > (l == 0 ? 0 : watch.left[l - 1]));
        CHECK (watch.left[LAYERS - 1] > watch.begun / 2);
      }
}

TEST_CASE (segment, backward_has_the_same_bits)
{
  static Numbers kept, again;
  guint calls;

  for (PlaitTapeMode mode = PLAIT_TAPE_TRAIN; mode <= PLAIT_TAPE_CHECK; mode++)
    for (guint threads = 1; threads <= 3; threads++)
      {
        gint64 rows = threads > 2 ? MAX_ROWS : 12;
        CONTEXT ("mode %d, %u threads", mode, threads);

        if (mode == PLAIT_TAPE_EVALUATE)
          continue;
        run (&kept, rows, FALSE, mode, threads, &calls);
        CHECK_INT (calls, LAYERS);
        run (&again, rows, TRUE, mode, threads, &calls);
        CHECK_INT (calls, 2 * LAYERS);
        CHECK (memcmp (&kept, &again, sizeof kept) == 0);
        CHECK (again.dx[0] != 0 && again.dweight[0][0] != 0 && again.dgain[LAYERS - 1][1] != 0);
      }
}

/* A layer whose nodes are read from outside is computed only once. */
TEST_CASE (segment, keeps_layers_that_ask_for_it)
{
  static const guint masks[] = { 1u << (LAYERS - 1), 1u << 2, 1u << 0 | 1u << 3, (1u << LAYERS) - 1 };
  static Numbers kept, again;
  static Watch watch;
  guint calls;

  kept_layers = 0;
  run (&kept, MAX_ROWS, FALSE, PLAIT_TAPE_TRAIN, 2, &calls);
  for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
    {
      CONTEXT ("layers %x", masks[i]);

      kept_layers = masks[i];
      run_watched (&again, MAX_ROWS, TRUE, PLAIT_TAPE_TRAIN, 2, &calls, &watch);
      CHECK_INT (calls, 2 * LAYERS - (guint)__builtin_popcount (masks[i]));
      CHECK (memcmp (&kept, &again, sizeof kept) == 0);
      CHECK (memcmp (watch.whole.dweight, again.dweight, sizeof again.dweight) == 0);
    }
  kept_layers = 0;
}

/* In the backward pass, memory holds the outputs of all layers, and the other activations of one layer at a time. */
TEST_CASE (segment, keeps_little)
{
  static Numbers numbers;
  guint calls;
  gsize all = run (&numbers, MAX_ROWS, FALSE, PLAIT_TAPE_TRAIN, 1, &calls);
  gsize few = run (&numbers, MAX_ROWS, TRUE, PLAIT_TAPE_TRAIN, 1, &calls);

  CHECK (few < all / 2);
}

/* Doubles a node without a gradient. Such a call is not computed again. */
static PlaitNode *
double_constant (PlaitTape *tape, gconstpointer data)
{
  const Layer *layer = data;

  ++*layer->calls;
  return plait_residual (tape, layer->constant, layer->constant, 0);
}

TEST_CASE (segment, without_gradient_is_computed_once)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitScalar values[2] = { 1, 2 }, gradient[2] = { 0, 0 };
  PlaitTensor dx = plait_tensor (gradient, 1, 2);
  guint calls = 0;
  Layer layer = { .calls = &calls };
  PlaitNode *x, *doubled;

  plait_tape_begin (bench.tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "dropout", NULL, 1));
  plait_tape_enable_recompute (bench.tape);
  x = plait_leaf (bench.tape, plait_tensor (values, 1, 2), &dx);
  layer.constant = plait_leaf (bench.tape, plait_tensor (values, 1, 2), NULL);
  doubled = plait_tape_recomputed (bench.tape, double_constant, &layer, sizeof layer);
  plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, plait_multiply (bench.tape, x, doubled)));
  CHECK_INT (calls, 1);
  CHECK_NEAR (gradient[0], 2, NEAR);
  CHECK_NEAR (gradient[1], 4, NEAR);
}
