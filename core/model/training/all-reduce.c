/* SPDX-License-Identifier: MIT */
#include "training/all-reduce.h"

#include <pthread.h>

#include "tensor/elementwise.h"
#include "layers/parameter-set.h"

/* Number of gradient elements in a piece, the unit that is added and sent. It is large enough to justify a message, and
 * small enough that the next process starts soon. */
#define PIECE 65536

/* Minimum microseconds between two checks for arrived pieces during backward. */
#define PAUSE 200

/* Lanes of the ring of processes. In each lane a process receives pieces from the previous process and sends them to
 * the next one. */
enum
{
  LANE_SUMS,    /* partial sums, which go from the first process to the last */
  LANE_RESULTS, /* final sums, which go from the last process to the first and on to the others in turn */
  N_LANES
};

/* A shard of this process. While several threads run, only the shard's thread accesses its gradients. */
typedef struct
{
  PlaitAllReduce *all_reduce;
  PlaitTape *tape; /* NULL: not registered yet, or the shard failed */
  gint left;       /* backward has run for all nodes from this number on (PlaitTapeReport); 0: the shard has ended */
  gint64 looked;   /* time of the last check for arrived pieces */
  gint64 added;    /* number of pieces to which this shard has added its gradients */
} Shard;

struct PlaitAllReduce
{
  PlaitRanks *ranks;
  gboolean is_first;
  gboolean is_last;
  const PlaitParameters *parameters;
  PlaitTensor all; /* gradients of all parameters, as one row */
  gint64 n_pieces; /* number of pieces into which @all is cut */
  PlaitPool *pool;
  PlaitPool *alone; /* pool of one thread, for sums that a shard's thread computes */
  Shard *shards;
  guint n_shards;
  pthread_mutex_t mutex;  /* protects @ranks, the pieces to which shards add, and the fields below */
  gint64 begun[N_LANES];  /* number of pieces for which receiving has begun, in each lane */
  gint64 arrived;         /* number of partial sums received */
  gint64 passed[N_LANES]; /* number of pieces passed on, in each lane */
};

PlaitAllReduce *
plait_all_reduce_new (PlaitRanks *ranks, const PlaitParameters *parameters, PlaitPool *pool, guint max_shards,
                      GError **error)
{
  PlaitPool *alone = plait_pool_new (1, error);
  PlaitAllReduce *all_reduce;

  if (!alone)
    return NULL;
  all_reduce = g_new0 (PlaitAllReduce, 1);
  all_reduce->ranks = ranks;
  all_reduce->is_first = plait_ranks_is_first (ranks);
  all_reduce->is_last = plait_ranks_rank (ranks) + 1 == plait_ranks_size (ranks);
  all_reduce->parameters = parameters;
  all_reduce->all = plait_parameters_gradients (parameters);
  all_reduce->n_pieces = (all_reduce->all.width + PIECE - 1) / PIECE;
  all_reduce->pool = pool;
  all_reduce->alone = alone;
  all_reduce->shards = g_new (Shard, max_shards);
  pthread_mutex_init (&all_reduce->mutex, NULL);
  return all_reduce;
}

void
plait_all_reduce_free (PlaitAllReduce *all_reduce)
{
  if (!all_reduce)
    return;
  plait_pool_free (all_reduce->alone);
  pthread_mutex_destroy (&all_reduce->mutex);
  g_free (all_reduce->shards);
  g_free (all_reduce);
}

/*
 * Functions for pieces. Piece 0 has the last elements of the gradients, the last piece the first ones
 */

/* Elements @first .. @end - 1 of the gradients of all parameters, as one row. */
typedef struct
{
  gint64 first;
  gint64 end;
} Range;

static Range
range_of (const PlaitAllReduce *all_reduce, gint64 i)
{
  gint64 end = all_reduce->all.width - i * PIECE;

  return (Range){ MAX (0, end - PIECE), end };
}

/* Returns the elements of @range that belong to @parameter; empty if first >= end. */
static Range
part_of (Range range, const PlaitParameter *parameter)
{
  gint64 end = parameter->offset + parameter->value.rows * parameter->value.width;

  return (Range){ MAX (range.first, parameter->offset), MIN (range.end, end) };
}

/* TRUE if backward of @shard has finished all gradients in @range. */
static gboolean
is_whole (const Shard *shard, Range range)
{
  const PlaitParameters *parameters = shard->all_reduce->parameters;

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
  const PlaitParameters *parameters = shard->all_reduce->parameters;

  for (guint p = 0; p < plait_parameters_n (parameters) && shard->tape; p++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, p);
      Range part = part_of (range, parameter);
      gint64 n = part.end - part.first;
      PlaitTensor own = n > 0 ? plait_tape_keyed_gradient (shard->tape, parameter) : (PlaitTensor){ 0 };

      if (own.data)
        plait_tensor_accumulate (pool, plait_tensor (shard->all_reduce->all.data + part.first, 1, n), 1, 1,
                                 plait_tensor (own.data + part.first - parameter->offset, 1, n));
    }
}

/*
 * Functions that send and receive
 */

static guint
request_of (gint64 i)
{
  return (guint)(i % PLAIT_RANKS_REQUESTS);
}

static void
begin_receive (PlaitAllReduce *all_reduce, guint lane)
{
  gint64 i = all_reduce->begun[lane]++;
  Range range = range_of (all_reduce, i);

  plait_ranks_begin_receive (all_reduce->ranks, lane, request_of (i), all_reduce->all.data + range.first,
                             sizeof (PlaitScalar) * (gsize)(range.end - range.first));
}

static void
begin_send (PlaitAllReduce *all_reduce, guint lane, gint64 i)
{
  Range range = range_of (all_reduce, i);

  plait_ranks_begin_send (all_reduce->ranks, lane, request_of (i), all_reduce->all.data + range.first,
                          sizeof (PlaitScalar) * (gsize)(range.end - range.first));
}

/* TRUE if piece @i was sent through @lane, so that its elements may be overwritten. */
static gboolean
has_left (PlaitAllReduce *all_reduce, guint lane, gint64 i)
{
  gint64 passed = all_reduce->passed[lane];

  return i < passed
         && (i + PLAIT_RANKS_REQUESTS < passed || plait_ranks_has_sent (all_reduce->ranks, lane, request_of (i)));
}

/* Begins all receives for which a request is free. A final sum overwrites the partial sum of its piece, so the partial
 * sum must have been sent. */
static void
begin_receipts (PlaitAllReduce *all_reduce)
{
  gint64 n = all_reduce->n_pieces, *begun = all_reduce->begun;

  while (!all_reduce->is_first && begun[LANE_SUMS] < MIN (n, all_reduce->arrived + PLAIT_RANKS_REQUESTS))
    begin_receive (all_reduce, LANE_SUMS);
  while (!all_reduce->is_last && begun[LANE_RESULTS] < MIN (n, all_reduce->passed[LANE_RESULTS] + PLAIT_RANKS_REQUESTS)
         && has_left (all_reduce, LANE_SUMS, begun[LANE_RESULTS]))
    begin_receive (all_reduce, LANE_RESULTS);
}

/* arrive, add_next, pass_sum and pass_result each move one piece to its next stage and return TRUE, or return FALSE if
 * no piece is ready for that stage. */

static gboolean
arrive (PlaitAllReduce *all_reduce)
{
  gint64 i = all_reduce->arrived;

  if (i == all_reduce->n_pieces
      || (!all_reduce->is_first && !plait_ranks_has_received (all_reduce->ranks, LANE_SUMS, request_of (i))))
    return FALSE;
  all_reduce->arrived++;
  return TRUE;
}

/* Returns the number of pieces that are complete up to shard @number: all earlier shards have added their gradients. */
static gint64
ready_for (const PlaitAllReduce *all_reduce, guint number)
{
  return number == 0 ? all_reduce->arrived : all_reduce->shards[number - 1].added;
}

static gboolean
add_next (Shard *shard, PlaitPool *pool)
{
  const PlaitAllReduce *all_reduce = shard->all_reduce;
  Range range = range_of (all_reduce, shard->added);

  if (shard->added == ready_for (all_reduce, (guint)(shard - all_reduce->shards)) || !is_whole (shard, range))
    return FALSE;
  add (shard, pool, range);
  shard->added++;
  return TRUE;
}

static gboolean
pass_on (PlaitAllReduce *all_reduce, guint lane, gboolean sends)
{
  gint64 i = all_reduce->passed[lane];

  if (sends && !plait_ranks_has_sent (all_reduce->ranks, lane, request_of (i)))
    return FALSE;
  if (sends)
    begin_send (all_reduce, lane, i);
  all_reduce->passed[lane]++;
  return TRUE;
}

static gboolean
pass_sum (PlaitAllReduce *all_reduce)
{
  return all_reduce->passed[LANE_SUMS] < ready_for (all_reduce, all_reduce->n_shards)
         && pass_on (all_reduce, LANE_SUMS, !all_reduce->is_last);
}

/* Passes the final sum of the next piece on. In the last process, the final sum is the partial sum after its own shards
 * were added. */
static gboolean
pass_result (PlaitAllReduce *all_reduce)
{
  gint64 i = all_reduce->passed[LANE_RESULTS];
  gboolean next_has_it = plait_ranks_rank (all_reduce->ranks) + 2 == plait_ranks_size (all_reduce->ranks);

  return i < (all_reduce->is_last ? all_reduce->passed[LANE_SUMS] : all_reduce->begun[LANE_RESULTS])
         && (all_reduce->is_last || plait_ranks_has_received (all_reduce->ranks, LANE_RESULTS, request_of (i)))
         && pass_on (all_reduce, LANE_RESULTS, !next_has_it);
}

/* Moves pieces until none can move. Adds the gradients of the @n shards that begin at @first. */
static void
make_progress (PlaitAllReduce *all_reduce, PlaitPool *pool, Shard *first, guint n)
{
  gboolean moved;

  do
    {
      begin_receipts (all_reduce);
      moved = arrive (all_reduce);
      for (guint i = 0; i < n; i++)
        moved |= add_next (&first[i], pool);
      moved |= pass_sum (all_reduce);
      moved |= pass_result (all_reduce);
    }
  while (moved);
}

/* PlaitTapeReport of a shard: sends and receives pieces of gradients, at most every PAUSE microseconds. Runs in the
 * shard's thread. */
static void
on_backward (gpointer data, gint left)
{
  Shard *shard = data;
  PlaitAllReduce *all_reduce = shard->all_reduce;

  shard->left = left;
  if (!plait_ranks_allows_thread (all_reduce->ranks) || g_get_monotonic_time () < shard->looked + PAUSE
      || pthread_mutex_trylock (&all_reduce->mutex) != 0)
    return;
  make_progress (all_reduce, all_reduce->alone, shard, 1);
  pthread_mutex_unlock (&all_reduce->mutex);
  shard->looked = g_get_monotonic_time ();
}

void
plait_all_reduce_begin (PlaitAllReduce *all_reduce, guint n)
{
  all_reduce->n_shards = n;
  for (guint i = 0; i < n; i++)
    all_reduce->shards[i] = (Shard){ .all_reduce = all_reduce };
  all_reduce->arrived = 0;
  for (guint lane = 0; lane < N_LANES; lane++)
    all_reduce->begun[lane] = all_reduce->passed[lane] = 0;
}

void
plait_all_reduce_watch (PlaitAllReduce *all_reduce, guint shard, PlaitTape *tape)
{
  all_reduce->shards[shard].tape = tape;
  plait_tape_report_backward (tape, on_backward, &all_reduce->shards[shard]);
}

void
plait_all_reduce_shard_ended (PlaitAllReduce *all_reduce, guint shard, gboolean well)
{
  /* The arena with the gradients of a failed shard was released. */
  if (!well)
    all_reduce->shards[shard].tape = NULL;
  all_reduce->shards[shard].left = 0;
}

void
plait_all_reduce_end (PlaitAllReduce *all_reduce)
{
  while (all_reduce->passed[LANE_RESULTS] < all_reduce->n_pieces)
    make_progress (all_reduce, all_reduce->pool, all_reduce->shards, all_reduce->n_shards);
  for (guint lane = 0; lane < N_LANES; lane++)
    for (guint request = 0; request < PLAIT_RANKS_REQUESTS; request++)
      while (!plait_ranks_has_sent (all_reduce->ranks, lane, request))
        ;
}
