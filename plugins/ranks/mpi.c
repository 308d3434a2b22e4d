/* SPDX-License-Identifier: MIT */
#include <mpi.h>

#include "process/module.h"
#include "process/ranks.h"

/* Communication between the processes of a job by MPI. Errors of MPI end the job. */

/* Cuts @n bytes or numbers into pieces, because MPI counts with int. */
#define EACH_PIECE(at, piece, n)                                                                                       \
  for (gsize at = 0, piece; at < (n) && (piece = MIN (PLAIT_RANKS_MAX_BYTES, (n)-at)); at += piece)

static MPI_Request requests[PLAIT_RANKS_SLOTS];

static void
initialise (guint *n, guint *own, gboolean *threads)
{
  int size, rank, provided;

  /* plait calls MPI from one thread at a time, while others compute. */
  MPI_Init_thread (NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_size (MPI_COMM_WORLD, &size);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  for (guint i = 0; i < PLAIT_RANKS_SLOTS; i++)
    requests[i] = MPI_REQUEST_NULL;
  *n = (guint)size;
  *own = (guint)rank;
  *threads = provided >= MPI_THREAD_SERIALIZED;
}

static void
finalise (void)
{
  MPI_Finalize ();
}

static void
abort_job (int code)
{
  MPI_Abort (MPI_COMM_WORLD, code);
}

static void
begin_send (guint slot, guint tag, gconstpointer bytes, gsize n, guint to)
{
  MPI_Isend (bytes, (int)n, MPI_BYTE, (int)to, (int)tag, MPI_COMM_WORLD, &requests[slot]);
}

static void
begin_receive (guint slot, guint tag, gpointer bytes, gsize n, guint from)
{
  MPI_Irecv (bytes, (int)n, MPI_BYTE, (int)from, (int)tag, MPI_COMM_WORLD, &requests[slot]);
}

static gboolean
has_ended (guint slot)
{
  int ended;

  MPI_Test (&requests[slot], &ended, MPI_STATUS_IGNORE);
  return ended;
}

static void
broadcast (gpointer bytes, gsize n, guint from)
{
  EACH_PIECE (at, piece, n)
  MPI_Bcast ((char *)bytes + at, (int)piece, MPI_BYTE, (int)from, MPI_COMM_WORLD);
}

static void
all_reduce (double *numbers, gsize n)
{
  EACH_PIECE (at, piece, n)
  MPI_Allreduce (MPI_IN_PLACE, numbers + at, (int)piece, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const PlaitRanksTable table = {
  .initialise = initialise,
  .finalise = finalise,
  .abort_job = abort_job,
  .begin_send = begin_send,
  .begin_receive = begin_receive,
  .has_ended = has_ended,
  .broadcast = broadcast,
  .all_reduce = all_reduce,
};

PLAIT_MODULE_DEFINE ("ranks", table)
