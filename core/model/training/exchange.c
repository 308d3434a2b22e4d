/* SPDX-License-Identifier: MIT */
#include "training/exchange.h"

#include <pthread.h>

#include "tensor/elementwise.h"
#include "layers/parameter-set.h"

/* Numbers that are added before they travel on: enough to be worth a message, few enough that the next process soon
 * has something to do. */
#define PIECE 65536

/* Microseconds between two looks at what has come: many beside what a look costs. */
#define PAUSE 200

/* Two ways for pieces through the ring. */
enum
{
  LANE_SUMS,    /* from the first process to the last */
  LANE_RESULTS, /* from the last over the first to all others */
  N_LANES
};

/* Its thread alone reads its gradients while there are others. */
typedef struct
{
  PlaitExchange *exchange;
  PlaitTape *tape; /* NULL: it has not come so far, or has failed */
  gint left;       /* as plait_tape_report_backward has it */
  gint64 looked;   /* when */
  gint64 added;    /* pieces */
} Shard;

struct PlaitExchange
{
  PlaitRanks *ranks;
  gboolean is_first;
  gboolean is_last;
  const PlaitParameters *parameters;
  PlaitTensor all; /* gradients of parameters */
  gint64 n_pieces; /* of it */
  PlaitPool *pool;
  PlaitPool *alone; /* of a shard's thread */
  Shard *shards;
  guint n_shards;
  pthread_mutex_t mutex;  /* for the ranks, what shards have added, and what is below */
  gint64 begun[N_LANES];  /* pieces whose receipt has begun */
  gint64 arrived;         /* sums */
  gint64 passed[N_LANES]; /* pieces that were sent on */
};

PlaitExchange *
plait_exchange_new (PlaitRanks *ranks, const PlaitParameters *parameters, PlaitPool *pool, guint most, GError **error)
{
  PlaitPool *alone = plait_pool_new (1, error);
  PlaitExchange *exchange;

  if (!alone)
    return NULL;
  exchange = g_new0 (PlaitExchange, 1);
  exchange->ranks = ranks;
  exchange->is_first = plait_ranks_is_first (ranks);
  exchange->is_last = plait_ranks_own (ranks) + 1 == plait_ranks_n (ranks);
  exchange->parameters = parameters;
  exchange->all = plait_parameters_gradients (parameters);
  exchange->n_pieces = (exchange->all.width + PIECE - 1) / PIECE;
  exchange->pool = pool;
  exchange->alone = alone;
  exchange->shards = g_new (Shard, most);
  pthread_mutex_init (&exchange->mutex, NULL);
  return exchange;
}

void
plait_exchange_free (PlaitExchange *exchange)
{
  if (!exchange)
    return;
  plait_pool_free (exchange->alone);
  pthread_mutex_destroy (&exchange->mutex);
  g_free (exchange->shards);
  g_free (exchange);
}

/*
 * Pieces, numbered from the last one on
 */

/* Numbers @first .. @end - 1 of all gradients. */
typedef struct
{
  gint64 first;
  gint64 end;
} Range;

static Range
range_of (const PlaitExchange *exchange, gint64 i)
{
  gint64 end = exchange->all.width - i * PIECE;

  return (Range){ MAX (0, end - PIECE), end };
}

/* The part of @range that is of @parameter; empty where first >= end. */
static Range
part_of (Range range, const PlaitParameter *parameter)
{
  gint64 end = parameter->offset + parameter->value.rows * parameter->value.width;

  return (Range){ MAX (range.first, parameter->offset), MIN (range.end, end) };
}

/* TRUE if nothing more comes to what @shard has for @range. */
static gboolean
is_whole (const Shard *shard, Range range)
{
  const PlaitParameters *parameters = shard->exchange->parameters;

  for (guint p = 0; p < plait_parameters_n (parameters) && shard->left > 0; p++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, p);
      Range part = part_of (range, parameter);

      if (part.first < part.end && shard->left > plait_tape_keyed_place (shard->tape, parameter))
        return FALSE;
    }
  return TRUE;
}

static void
add (const Shard *shard, PlaitPool *pool, Range range)
{
  const PlaitParameters *parameters = shard->exchange->parameters;

  for (guint p = 0; p < plait_parameters_n (parameters) && shard->tape; p++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, p);
      Range part = part_of (range, parameter);
      gint64 n = part.end - part.first;
      PlaitTensor own = n > 0 ? plait_tape_keyed_gradient (shard->tape, parameter) : (PlaitTensor){ 0 };

      if (own.data)
        plait_tensor_accumulate (pool, plait_tensor (shard->exchange->all.data + part.first, 1, n), 1, 1,
                                 plait_tensor (own.data + part.first - parameter->offset, 1, n));
    }
}

/*
 * Their way
 */

static guint
turn_of (gint64 i)
{
  return (guint)(i % PLAIT_RANKS_TURNS);
}

static void
begin_receive (PlaitExchange *exchange, guint lane)
{
  gint64 i = exchange->begun[lane]++;
  Range range = range_of (exchange, i);

  plait_ranks_begin_receive (exchange->ranks, lane, turn_of (i), exchange->all.data + range.first,
                             sizeof (PlaitScalar) * (gsize)(range.end - range.first));
}

static void
begin_send (PlaitExchange *exchange, guint lane, gint64 i)
{
  Range range = range_of (exchange, i);

  plait_ranks_begin_send (exchange->ranks, lane, turn_of (i), exchange->all.data + range.first,
                          sizeof (PlaitScalar) * (gsize)(range.end - range.first));
}

/* TRUE if piece @i has left @lane, so that its numbers may be written. */
static gboolean
has_left (PlaitExchange *exchange, guint lane, gint64 i)
{
  gint64 passed = exchange->passed[lane];

  return i < passed && (i + PLAIT_RANKS_TURNS < passed || plait_ranks_has_sent (exchange->ranks, lane, turn_of (i)));
}

/* Begins receipts as far as there are turns: of a result where the sum stood. */
static void
begin_receipts (PlaitExchange *exchange)
{
  gint64 n = exchange->n_pieces, *begun = exchange->begun;

  while (!exchange->is_first && begun[LANE_SUMS] < MIN (n, exchange->arrived + PLAIT_RANKS_TURNS))
    begin_receive (exchange, LANE_SUMS);
  while (!exchange->is_last && begun[LANE_RESULTS] < MIN (n, exchange->passed[LANE_RESULTS] + PLAIT_RANKS_TURNS)
         && has_left (exchange, LANE_SUMS, begun[LANE_RESULTS]))
    begin_receive (exchange, LANE_RESULTS);
}

/* Each of these takes the next piece one stage further, if that can be: TRUE then. */

static gboolean
arrive (PlaitExchange *exchange)
{
  gint64 i = exchange->arrived;

  if (i == exchange->n_pieces
      || (!exchange->is_first && !plait_ranks_has_received (exchange->ranks, LANE_SUMS, turn_of (i))))
    return FALSE;
  exchange->arrived++;
  return TRUE;
}

/* How many pieces have in them what is before shard @number. */
static gint64
ready_for (const PlaitExchange *exchange, guint number)
{
  return number == 0 ? exchange->arrived : exchange->shards[number - 1].added;
}

static gboolean
add_next (Shard *shard, PlaitPool *pool)
{
  const PlaitExchange *exchange = shard->exchange;
  Range range = range_of (exchange, shard->added);

  if (shard->added == ready_for (exchange, (guint)(shard - exchange->shards)) || !is_whole (shard, range))
    return FALSE;
  add (shard, pool, range);
  shard->added++;
  return TRUE;
}

static gboolean
pass_on (PlaitExchange *exchange, guint lane, gboolean sends)
{
  gint64 i = exchange->passed[lane];

  if (sends && !plait_ranks_has_sent (exchange->ranks, lane, turn_of (i)))
    return FALSE;
  if (sends)
    begin_send (exchange, lane, i);
  exchange->passed[lane]++;
  return TRUE;
}

static gboolean
pass_sum (PlaitExchange *exchange)
{
  return exchange->passed[LANE_SUMS] < ready_for (exchange, exchange->n_shards)
         && pass_on (exchange, LANE_SUMS, !exchange->is_last);
}

/* The last process comes to a result where it has added. */
static gboolean
pass_result (PlaitExchange *exchange)
{
  gint64 i = exchange->passed[LANE_RESULTS];
  gboolean next_has_it = plait_ranks_own (exchange->ranks) + 2 == plait_ranks_n (exchange->ranks);

  return i < (exchange->is_last ? exchange->passed[LANE_SUMS] : exchange->begun[LANE_RESULTS])
         && (exchange->is_last || plait_ranks_has_received (exchange->ranks, LANE_RESULTS, turn_of (i)))
         && pass_on (exchange, LANE_RESULTS, !next_has_it);
}

/* Lets go on what can, with what @n shards from @first on add. */
static void
go_on (PlaitExchange *exchange, PlaitPool *pool, Shard *first, guint n)
{
  gboolean moved;

  do
    {
      begin_receipts (exchange);
      moved = arrive (exchange);
      for (guint i = 0; i < n; i++)
        moved |= add_next (&first[i], pool);
      moved |= pass_sum (exchange);
      moved |= pass_result (exchange);
    }
  while (moved);
}

/* A shard's backward has come so far, in the shard's thread. */
static void
come_to (gpointer data, gint left)
{
  Shard *shard = data;
  PlaitExchange *exchange = shard->exchange;

  shard->left = left;
  if (!plait_ranks_serve_thread (exchange->ranks) || g_get_monotonic_time () < shard->looked + PAUSE
      || pthread_mutex_trylock (&exchange->mutex) != 0)
    return;
  go_on (exchange, exchange->alone, shard, 1);
  pthread_mutex_unlock (&exchange->mutex);
  shard->looked = g_get_monotonic_time ();
}

void
plait_exchange_begin (PlaitExchange *exchange, guint n)
{
  exchange->n_shards = n;
  for (guint i = 0; i < n; i++)
    exchange->shards[i] = (Shard){ .exchange = exchange };
  exchange->arrived = 0;
  for (guint lane = 0; lane < N_LANES; lane++)
    exchange->begun[lane] = exchange->passed[lane] = 0;
}

void
plait_exchange_watch (PlaitExchange *exchange, guint shard, PlaitTape *tape)
{
  exchange->shards[shard].tape = tape;
  plait_tape_report_backward (tape, come_to, &exchange->shards[shard]);
}

void
plait_exchange_shard_ended (PlaitExchange *exchange, guint shard, gboolean well)
{
  /* What it had went with its arena. */
  if (!well)
    exchange->shards[shard].tape = NULL;
  exchange->shards[shard].left = 0;
}

void
plait_exchange_end (PlaitExchange *exchange)
{
  while (exchange->passed[LANE_RESULTS] < exchange->n_pieces)
    go_on (exchange, exchange->pool, exchange->shards, exchange->n_shards);
  for (guint lane = 0; lane < N_LANES; lane++)
    for (guint turn = 0; turn < PLAIT_RANKS_TURNS; turn++)
      while (!plait_ranks_has_sent (exchange->ranks, lane, turn))
        ;
}
