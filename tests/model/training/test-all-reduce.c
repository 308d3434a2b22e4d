/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/operators.h"
#include "harness.h"
#include "layers/parameter.h"
#include "training/all-reduce.h"
#include "layers/parameter-set.h"

/* Tests one of several processes. The test implements the module that exchanges gradients, and plays all other
 * processes. */

#define FROM_BEFORE 100 /* value of each number in the partial sums that arrive */
#define FROM_LAST 7     /* value of each number in the results that arrive */
#define PATIENCE 3      /* number of polls until a message counts as arrived */

/* Traffic in one direction of one lane of the exchange. */
typedef struct
{
  gint64 n;          /* number of numbers transferred so far; the last ones are transferred first */
  PlaitScalar *each; /* numbers that were sent, at their places; used only for sends */
} Lane;

static struct
{
  guint n;
  guint own;
  gboolean threads; /* TRUE: threads other than the first may call the module */
  GThread *first;
  gint64 all;
  const PlaitScalar *gradients;
  Lane sent[2];
  guint asked[PLAIT_RANKS_SLOTS];
  PlaitScalar *to[PLAIT_RANKS_SLOTS]; /* where the numbers of a pending receive are written */
  gsize numbers[PLAIT_RANKS_SLOTS];
  guint lanes[PLAIT_RANKS_SLOTS];
} others;

static void
initialise (guint *n, guint *own, gboolean *threads)
{
  *n = others.n;
  *own = others.own;
  *threads = others.threads;
}

static void
finalise (void)
{
}

static void
begin_send (guint slot, guint lane, gconstpointer bytes, gsize n, guint to)
{
  Lane *sent = &others.sent[lane];
  gint64 first = (const PlaitScalar *)bytes - others.gradients;

  CHECK_INT (to, (others.own + 1) % others.n);
  sent->n += (gint64)(n / sizeof (PlaitScalar));
  CHECK_INT (first, others.all - sent->n);
  memcpy (sent->each + first, bytes, n);
  CHECK_INT (others.asked[slot], 0);
  others.asked[slot] = PATIENCE;
}

static void
begin_receive (guint slot, guint lane, gpointer bytes, gsize n, guint from)
{
  CHECK_INT (from, (others.own + others.n - 1) % others.n);
  CHECK_INT (others.asked[slot], 0);
  others.asked[slot] = PATIENCE;
  others.to[slot] = bytes;
  others.numbers[slot] = n / sizeof (PlaitScalar);
  others.lanes[slot] = lane;
}

static gboolean
has_ended (guint slot)
{
  CHECK (others.threads || others.first == g_thread_self ());
  if (others.asked[slot] > 0 && --others.asked[slot] == 0 && others.to[slot])
    {
      for (gsize i = 0; i < others.numbers[slot]; i++)
        others.to[slot][i] = others.lanes[slot] == 0 ? FROM_BEFORE : FROM_LAST;
      others.to[slot] = NULL;
    }
  return others.asked[slot] == 0;
}

static const PlaitRanksTable table = {
  .initialise = initialise,
  .finalise = finalise,
  .begin_send = begin_send,
  .begin_receive = begin_receive,
  .has_ended = has_ended,
};

/*
 * Shards of the test's updates
 */

#define PARAMETERS 5
#define TWICE 2 /* this parameter is read twice, so that its gradient is complete late */
#define ROWS 300
#define WIDTH 1000
#define SHARDS 3

typedef struct
{
  PlaitAllReduce *all_reduce;
  const PlaitParameters *parameters;
  guint number;
  gboolean fails; /* TRUE: the shard fails after its backward pass */
  PlaitPool *pool;
  PlaitArena *arena;
  PlaitTape *tape;
} Shard;

/* Returns the value of each element of a parameter's gradient in shard @number. */
static double
gradient_of (guint number, guint parameter)
{
  return (number + 1) * (parameter == TWICE ? 2 : 1);
}

static void
go_there_and_back (gpointer data)
{
  const Shard *shard = data;
  PlaitScalar *factors;
  PlaitNode *sum = NULL;

  plait_tape_begin (shard->tape, PLAIT_TAPE_CHECK, plait_random_key (1, "dropout", NULL, 1));
  plait_tape_keep_gradients (shard->tape);
  plait_all_reduce_watch (shard->all_reduce, shard->number, shard->tape);
  factors = plait_arena_new_array (shard->arena, PlaitScalar, ROWS * WIDTH);
  for (guint i = 0; i < ROWS * WIDTH; i++)
    factors[i] = (PlaitScalar)gradient_of (shard->number, 0);
  for (guint i = 0; i <= PARAMETERS; i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (shard->parameters, i == PARAMETERS ? TWICE : i);
      PlaitNode *node = plait_parameter_node (shard->tape, parameter);

      sum = i == 0 ? node : plait_residual (shard->tape, sum, node, 0);
    }
  sum = plait_multiply (shard->tape, sum, plait_leaf (shard->tape, plait_tensor (factors, ROWS, WIDTH), NULL));
  plait_tape_backward (shard->tape, plait_reduce_sum (shard->tape, sum));
  if (shard->fails)
    plait_arena_fail (shard->arena, g_error_new (PLAIT_ERROR, PLAIT_ERROR_FAILED, "as it should"));
}

static void
compute (gpointer data, gint64 piece, guint thread)
{
  Shard *shard = (Shard *)data + piece;
  gboolean well = plait_arena_protect (shard->arena, go_there_and_back, shard, NULL);

  CHECK_INT (well, !shard->fails);
  plait_all_reduce_shard_ended (shard->all_reduce, shard->number, well);
}

static void
check_numbers (const PlaitParameters *parameters, const PlaitScalar *numbers, double before, gboolean own_too)
{
  for (guint p = 0; p < PARAMETERS; p++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, p);
      double expected = before;
      guint wrong = 0;
      CONTEXT ("parameter %u", p);

      for (guint i = 0; i < SHARDS && own_too; i++)
        expected += gradient_of (i, p);
      for (guint i = 0; i < ROWS * WIDTH; i++)
        wrong += numbers[parameter->offset + i] != (PlaitScalar)expected;
      CHECK_INT (wrong, 0);
    }
}

/* Runs process @own of @n processes twice, and once more with shard @failing failing. */
static void
check_process (guint n, guint own, guint threads, guint failing)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (threads, NULL);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  g_autoptr (PlaitRanks) ranks = NULL;
  g_autoptr (PlaitAllReduce) all_reduce = NULL;
  gboolean is_last = own + 1 == n, sends_results = own + 2 != n;
  Shard shards[SHARDS];
  CONTEXT ("process %u of %u, %u threads", own, n, threads);

  for (guint i = 0; i < PARAMETERS; i++)
    plait_parameters_declare (parameters, plait_test_format ("weight/%u", i), ROWS, WIDTH, PLAIT_ONES);
  CHECK (plait_parameters_allocate (parameters, NO_ERROR));
  others.n = n;
  others.own = own;
  others.threads = n % 2 == 0;
  others.first = g_thread_self ();
  others.gradients = plait_parameters_gradients (parameters).data;
  others.all = plait_parameters_gradients (parameters).width;
  ranks = plait_ranks_new (&table);
  all_reduce = plait_all_reduce_new (ranks, parameters, pool, SHARDS, NO_ERROR);
  for (guint i = 0; i < SHARDS; i++)
    {
      shards[i] = (Shard){ .all_reduce = all_reduce,
                           .parameters = parameters,
                           .number = i,
                           .pool = plait_pool_new (1, NULL),
                           .arena = plait_arena_new (0) };
      shards[i].tape = plait_tape_new (shards[i].pool, shards[i].arena);
    }
  for (guint again = 0; again < 3; again++)
    {
      for (guint lane = 0; lane < 2; lane++)
        others.sent[lane] = (Lane){ 0, g_new0 (PlaitScalar, others.all) };
      plait_parameters_zero_gradients (parameters);
      shards[failing].fails = again == 2;
      plait_all_reduce_begin (all_reduce, SHARDS);
      plait_pool_run (pool, SHARDS, compute, shards);
      plait_all_reduce_end (all_reduce);
      if (again < 2)
        check_numbers (parameters, others.gradients, is_last ? FROM_BEFORE : FROM_LAST, is_last);
      CHECK_INT (others.sent[0].n, is_last ? 0 : others.all);
      CHECK_INT (others.sent[1].n, sends_results ? others.all : 0);
      if (!is_last && again < 2)
        check_numbers (parameters, others.sent[0].each, own == 0 ? 0 : FROM_BEFORE, TRUE);
      if (sends_results && again < 2)
        check_numbers (parameters, others.sent[1].each, is_last ? FROM_BEFORE : FROM_LAST, is_last);
      for (guint lane = 0; lane < 2; lane++)
        g_free (others.sent[lane].each);
    }
  for (guint i = 0; i < SHARDS; i++)
    {
      plait_tape_free (shards[i].tape);
      plait_arena_free (shards[i].arena);
      plait_pool_free (shards[i].pool);
    }
}

TEST_CASE (all_reduce, adds_in_each_place_of_the_ring)
{
  for (guint n = 2; n <= 4; n++)
    for (guint own = 0; own < n; own++)
      check_process (n, own, own % 3 + 1, (own + n) % SHARDS);
}
