/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * The processes of one job, which a launcher such as mpirun has started, perhaps on several machines. They are numbered
 * from 0; what they say to each other goes through the module ranks/mpi, so that plait needs no MPI. All of
 * them come to the same calls in the same order. NULL is a process by itself.
 *
 * An exchange that fails ends the job: the launcher ends all processes when one of them dies.
 */
typedef struct PlaitRanks PlaitRanks;

/* Several sends and several receipts of a lane are under way at once, each of at most PLAIT_RANKS_MAX_BYTES bytes. */
#define PLAIT_RANKS_REQUESTS 8
#define PLAIT_RANKS_MAX_BYTES ((gsize)1 << 30)

/* The table of modules of the kind ranks. */
#define PLAIT_RANKS_SLOTS (4 * PLAIT_RANKS_REQUESTS)

typedef struct
{
  /* Joins, and tells how many processes there are, and which is the own one, and whether other threads may call too. */
  void (*initialise) (guint *n, guint *own, gboolean *threads);
  void (*finalise) (void);
  void (*abort_job) (int code); /* ends all processes */
  /* What is under way has a slot below PLAIT_RANKS_SLOTS. Sends and receipts of one tag meet in their order. */
  void (*begin_send) (guint slot, guint tag, gconstpointer bytes, gsize n, guint to);
  void (*begin_receive) (guint slot, guint tag, gpointer bytes, gsize n, guint from);
  gboolean (*has_ended) (guint slot); /* so has what never began */
  void (*broadcast) (gpointer bytes, gsize n, guint from);
  void (*all_reduce) (double *numbers, gsize n);
} PlaitRanksTable;

/* Joins the other processes by the functions of @table. (transfer full) */
PlaitRanks *plait_ranks_new (const PlaitRanksTable *table);

/* Waits for the others to leave too. */
void plait_ranks_free (PlaitRanks *ranks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRanks, plait_ranks_free)

guint plait_ranks_size (const PlaitRanks *ranks);
guint plait_ranks_rank (const PlaitRanks *ranks);

/* The first process, or one by itself: it alone writes and speaks. */
gboolean plait_ranks_is_first (const PlaitRanks *ranks);

/* @n bytes from process @from to all others. */
void plait_ranks_broadcast (PlaitRanks *ranks, gpointer bytes, gsize n, guint from);

/*
 * A ring, in which the last process is before the first. What is sent in a lane (0 or 1) arrives in its order. Of each
 * lane several sends and receipts are under way at once, begun with @request 0 .. PLAIT_RANKS_REQUESTS - 1, each of
 * which ends before that turn is begun again; up to then its @n bytes, at most PLAIT_RANKS_MAX_BYTES, are borrowed.
 * They get on while any of these functions runs, which several threads may call (plait_ranks_allows_thread), one at a
 * time.
 */

/* To the next process. */
void plait_ranks_begin_send (PlaitRanks *ranks, guint lane, guint request, gconstpointer bytes, gsize n);

/* From the one before. */
void plait_ranks_begin_receive (PlaitRanks *ranks, guint lane, guint request, gpointer bytes, gsize n);

/* TRUE if this thread may call: that which joined, or any where the module allows for it. */
gboolean plait_ranks_allows_thread (const PlaitRanks *ranks);

/* TRUE if it has ended; it has if it never began. */
gboolean plait_ranks_has_sent (PlaitRanks *ranks, guint lane, guint request);
gboolean plait_ranks_has_received (PlaitRanks *ranks, guint lane, guint request);

/* One of them from beginning to end. */
void plait_ranks_send (PlaitRanks *ranks, gconstpointer bytes, gsize n);
void plait_ranks_receive (PlaitRanks *ranks, gpointer bytes, gsize n);

/* Each of @n numbers becomes the sum over all processes; exact where no more than one has another number than 0. */
void plait_ranks_all_reduce (PlaitRanks *ranks, double *numbers, gsize n);

/* TRUE if @own is so in any process. */
gboolean plait_ranks_any (PlaitRanks *ranks, gboolean own);

/* TRUE if all are @well. A process that is not has set @error; the others come to the error of the first of those, with
 * its number before it where it is not the first of all. */
gboolean plait_ranks_agree (PlaitRanks *ranks, gboolean well, GError **error);

/* To be called where a process fails: if the others have not agreed with it (plait_ranks_agree), they wait for it in
 * vain, so that the job ends here, with @error on stderr and exit code @code. */
void plait_ranks_fail (PlaitRanks *ranks, const GError *error, int code);

/* Seconds spent in exchange so far, waiting for others included. */
double plait_ranks_seconds (const PlaitRanks *ranks);
