/* SPDX-License-Identifier: MIT */
#include "train/exchange.h"

#include "tensor/elementwise.h"

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

typedef struct
{
  PlaitExchange *exchange;
  PlaitTape *tape; /* NULL: it has not come so far, or has failed */
  gint left;       /* atomic: as plait_tape_report_backward has it; G_MAXINT before backward */
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
  guint n_places;         /* for shards */
  gint64 begun[N_LANES];  /* pieces whose receipt has begun */
  gint64 passed[N_LANES]; /* pieces that were added and sent on, or have arrived and were sent on */
  gint64 looked;          /* when */
};

PlaitExchange *
plait_exchange_new (PlaitRanks *ranks, const PlaitParameters *parameters, PlaitPool *pool, GError **error)
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
  return exchange;
}

void
plait_exchange_free (PlaitExchange *exchange)
{
  if (!exchange)
    return;
  plait_pool_free (exchange->alone);
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

/* Whether nothing more comes to the gradient that @shard has for @parameter. */
static gboolean
is_whole (const Shard *shard, const PlaitParameter *parameter)
{
  gint left = g_atomic_int_get (&shard->left);

  return left == 0 || (left < G_MAXINT && left <= plait_tape_keyed_place (shard->tape, parameter));
}

static gboolean
all_are_whole (const PlaitExchange *exchange, Range range)
{
  for (guint p = 0; p < plait_parameters_n (exchange->parameters); p++)
    {
      const PlaitParameter *parameter = plait_parameters_get (exchange->parameters, p);
      Range part = part_of (range, parameter);

      for (guint i = 0; i < exchange->n_shards && part.first < part.end; i++)
        if (!is_whole (&exchange->shards[i], parameter))
          return FALSE;
    }
  return TRUE;
}

/* Adds what the shards of this process have, in their order. */
static void
add_own (const PlaitExchange *exchange, PlaitPool *pool, Range range)
{
  for (guint p = 0; p < plait_parameters_n (exchange->parameters); p++)
    {
      const PlaitParameter *parameter = plait_parameters_get (exchange->parameters, p);
      Range part = part_of (range, parameter);
      gint64 n = part.end - part.first;

      for (guint i = 0; i < exchange->n_shards && n > 0; i++)
        {
          PlaitTape *tape = exchange->shards[i].tape;
          PlaitTensor own = tape ? plait_tape_keyed_gradient (tape, parameter) : (PlaitTensor){ 0 };

          if (own.data)
            plait_tensor_accumulate (pool, plait_tensor (exchange->all.data + part.first, 1, n), 1, 1,
                                     plait_tensor (own.data + part.first - parameter->offset, 1, n));
        }
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

/* Whether piece @i has left @lane, so that its numbers may be written. */
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
  gint64 n = exchange->n_pieces, *begun = exchange->begun, *passed = exchange->passed;

  while (!exchange->is_first && begun[LANE_SUMS] < MIN (n, passed[LANE_SUMS] + PLAIT_RANKS_TURNS))
    begin_receive (exchange, LANE_SUMS);
  while (!exchange->is_last && begun[LANE_RESULTS] < MIN (n, passed[LANE_RESULTS] + PLAIT_RANKS_TURNS)
         && has_left (exchange, LANE_SUMS, begun[LANE_RESULTS]))
    begin_receive (exchange, LANE_RESULTS);
}

/* The next piece of the sums goes on, if it can. */
static gboolean
pass_sum (PlaitExchange *exchange, PlaitPool *pool)
{
  gint64 i = exchange->passed[LANE_SUMS];
  Range range = range_of (exchange, i);

  if (i == exchange->n_pieces
      || (!exchange->is_first && !plait_ranks_has_received (exchange->ranks, LANE_SUMS, turn_of (i)))
      || (!exchange->is_last && !plait_ranks_has_sent (exchange->ranks, LANE_SUMS, turn_of (i)))
      || !all_are_whole (exchange, range))
    return FALSE;
  add_own (exchange, pool, range);
  if (!exchange->is_last)
    begin_send (exchange, LANE_SUMS, i);
  exchange->passed[LANE_SUMS]++;
  return TRUE;
}

/* The same of results, which the last process comes to where it has added. */
static gboolean
pass_result (PlaitExchange *exchange)
{
  gint64 i = exchange->passed[LANE_RESULTS];
  gboolean sends = plait_ranks_own (exchange->ranks) + 2 != plait_ranks_n (exchange->ranks);

  if (i == (exchange->is_last ? exchange->passed[LANE_SUMS] : exchange->begun[LANE_RESULTS])
      || (!exchange->is_last && !plait_ranks_has_received (exchange->ranks, LANE_RESULTS, turn_of (i)))
      || (sends && !plait_ranks_has_sent (exchange->ranks, LANE_RESULTS, turn_of (i))))
    return FALSE;
  if (sends)
    begin_send (exchange, LANE_RESULTS, i);
  exchange->passed[LANE_RESULTS]++;
  return TRUE;
}

/* Lets go on what can. */
static void
go_on (PlaitExchange *exchange, PlaitPool *pool)
{
  gboolean sum, result;

  do
    {
      begin_receipts (exchange);
      sum = pass_sum (exchange, pool);
      result = pass_result (exchange);
    }
  while (sum || result);
}

/* Whether all shards but @own have ended: then only that one's thread is here, and what it reads of others stays. */
static gboolean
others_have_ended (const PlaitExchange *exchange, const Shard *own)
{
  for (guint i = 0; i < exchange->n_shards; i++)
    if (&exchange->shards[i] != own && g_atomic_int_get (&exchange->shards[i].left) != 0)
      return FALSE;
  return TRUE;
}

/* A shard's backward has come so far, in the shard's thread. */
static void
come_to (gpointer data, gint left)
{
  Shard *shard = data;
  PlaitExchange *exchange = shard->exchange;

  g_atomic_int_set (&shard->left, left);
  if (!others_have_ended (exchange, shard) || g_get_monotonic_time () < exchange->looked + PAUSE)
    return;
  go_on (exchange, exchange->alone);
  exchange->looked = g_get_monotonic_time ();
}

void
plait_exchange_begin (PlaitExchange *exchange, guint n)
{
  if (n > exchange->n_places)
    {
      exchange->shards = g_renew (Shard, exchange->shards, n);
      exchange->n_places = n;
    }
  exchange->n_shards = n;
  for (guint i = 0; i < n; i++)
    exchange->shards[i] = (Shard){ exchange, NULL, G_MAXINT };
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
  g_atomic_int_set (&exchange->shards[shard].left, 0);
}

void
plait_exchange_end (PlaitExchange *exchange)
{
  while (exchange->passed[LANE_RESULTS] < exchange->n_pieces)
    go_on (exchange, exchange->pool);
  for (guint lane = 0; lane < N_LANES; lane++)
    for (guint turn = 0; turn < PLAIT_RANKS_TURNS; turn++)
      while (!plait_ranks_has_sent (exchange->ranks, lane, turn))
        ;
}
