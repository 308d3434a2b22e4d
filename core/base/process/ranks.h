/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * The processes (ranks) of one job that a launcher such as mpirun has started, on one or several machines, numbered
 * from 0. They communicate through the module ranks/mpi, so plait itself does not need MPI. All ranks make the same
 * calls in the same order. NULL stands for a process without a job.
 *
 * A failed exchange ends the job: the launcher ends all processes when one dies.
 */
typedef struct PlaitRanks PlaitRanks;

/* Maximum number of sends that a lane can have in flight at once, and also of receives. Each has at most
 * PLAIT_RANKS_MAX_BYTES bytes. */
#define PLAIT_RANKS_REQUESTS 8
#define PLAIT_RANKS_MAX_BYTES ((gsize)1 << 30)

/* Number of slots for transfers: in each of two lanes, PLAIT_RANKS_REQUESTS sends and as many receives. */
#define PLAIT_RANKS_SLOTS (4 * PLAIT_RANKS_REQUESTS)

typedef struct
{
  /* Joins the job. Sets *@n to the number of ranks and *@own to the own rank. Sets *@threads to TRUE if every thread
   * may call these functions. */
  void (*initialise) (guint *n, guint *own, gboolean *threads);
  void (*finalise) (void);
  void (*abort_job) (int code); /* ends all processes of the job */
  /* Begins a transfer in a free slot below PLAIT_RANKS_SLOTS. The n-th send of a tag from one rank to another matches
   * the n-th receive of this tag. */
  void (*begin_send) (guint slot, guint tag, gconstpointer bytes, gsize n, guint to);
  void (*begin_receive) (guint slot, guint tag, gpointer bytes, gsize n, guint from);
  gboolean (*has_ended) (guint slot); /* TRUE if the transfer in @slot has ended, or if @slot was never used */
  void (*broadcast) (gpointer bytes, gsize n, guint from);
  void (*all_reduce) (double *numbers, gsize n);
} PlaitRanksTable;

/* Joins the other ranks with the functions of @table. (transfer full) */
PlaitRanks *plait_ranks_new (const PlaitRanksTable *table);

/* Waits until all other ranks call it too, then frees @ranks. */
void plait_ranks_free (PlaitRanks *ranks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRanks, plait_ranks_free)

guint plait_ranks_size (const PlaitRanks *ranks);
guint plait_ranks_rank (const PlaitRanks *ranks);

/* TRUE for rank 0, and if @ranks is NULL. Only a process with TRUE writes files and messages. */
gboolean plait_ranks_is_first (const PlaitRanks *ranks);

/* Copies @n bytes from rank @from to all others. */
void plait_ranks_broadcast (PlaitRanks *ranks, gpointer bytes, gsize n, guint from);

/*
 * A ring: each rank sends to the next one, the last rank to the first. Messages in a lane (0 or 1) arrive in order.
 * Each lane can have several sends and receives in flight, numbered by @request (0 .. PLAIT_RANKS_REQUESTS - 1). A
 * request must end before its number is used again. Until then the caller must not change or free its bytes (at most
 * PLAIT_RANKS_MAX_BYTES). Transfers progress while any of these functions runs. Only a thread for which
 * plait_ranks_allows_thread is TRUE may call them, and only one at a time. @ranks must not be NULL.
 */

/* Begins to send @n bytes to the next rank. */
void plait_ranks_begin_send (PlaitRanks *ranks, guint lane, guint request, gconstpointer bytes, gsize n);

/* Begins to receive @n bytes from the previous rank. */
void plait_ranks_begin_receive (PlaitRanks *ranks, guint lane, guint request, gpointer bytes, gsize n);

/* TRUE if this thread may call these functions: the thread that joined, or any thread if the module supports that. */
gboolean plait_ranks_allows_thread (const PlaitRanks *ranks);

/* Return TRUE if the request has ended or was never begun. */
gboolean plait_ranks_has_sent (PlaitRanks *ranks, guint lane, guint request);
gboolean plait_ranks_has_received (PlaitRanks *ranks, guint lane, guint request);

/* Send to the next rank, or receive from the previous one, and wait for the end. Both use request 0 of lane 0. */
void plait_ranks_send (PlaitRanks *ranks, gconstpointer bytes, gsize n);
void plait_ranks_receive (PlaitRanks *ranks, gpointer bytes, gsize n);

/* Replaces each of the @n numbers by its sum over all ranks. A sum is exact if at most one of its terms is not 0. */
void plait_ranks_all_reduce (PlaitRanks *ranks, double *numbers, gsize n);

/* TRUE if @own is TRUE in any rank. */
gboolean plait_ranks_any (PlaitRanks *ranks, gboolean own);

/* TRUE in all ranks if @well is TRUE in all ranks; else FALSE in all ranks. A rank whose @well is FALSE has set its
 * @error. All ranks return the error of the first such rank. In the other ranks this error has the prefix "process I of
 * N: " (I counts from 1), but an error of rank 0 never has a prefix. */
gboolean plait_ranks_agree (PlaitRanks *ranks, gboolean well, GError **error);

/* Call it when this rank has failed. Ends the job, with @error on stderr and exit code @code, because the other ranks
 * would wait forever. Does nothing if all ranks have agreed on the failure (plait_ranks_agree). */
void plait_ranks_fail (PlaitRanks *ranks, const GError *error, int code);

/* Returns the seconds spent in communication so far, including waiting. */
double plait_ranks_seconds (const PlaitRanks *ranks);
