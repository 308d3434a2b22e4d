/* SPDX-License-Identifier: MIT */
#include "base/ranks.h"

#include <gmodule.h>
#include <mpi.h>

/*
 * Exchange between the processes of a job by MPI. Its errors end the job, which is MPI's own default.
 */

/* Counts are int. */
#define MOST ((gsize)1 << 30)

#define EACH_PIECE(at, piece, n) for (gsize at = 0, piece; at < (n) && (piece = MIN (MOST, (n)-at)); at += piece)

static void
join (guint *n, guint *own)
{
  int size, rank, provided;

  /* One thread of plait speaks, others compute. */
  MPI_Init_thread (NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_size (MPI_COMM_WORLD, &size);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  *n = (guint)size;
  *own = (guint)rank;
}

static void
leave (void)
{
  MPI_Finalize ();
}

static void
end (int code)
{
  MPI_Abort (MPI_COMM_WORLD, code);
}

static void
send_bytes (gconstpointer bytes, gsize n, guint to)
{
  EACH_PIECE (at, piece, n)
  MPI_Send ((const char *)bytes + at, (int)piece, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD);
}

static void
receive_bytes (gpointer bytes, gsize n, guint from)
{
  EACH_PIECE (at, piece, n)
  MPI_Recv ((char *)bytes + at, (int)piece, MPI_BYTE, (int)from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
broadcast (gpointer bytes, gsize n, guint from)
{
  EACH_PIECE (at, piece, n)
  MPI_Bcast ((char *)bytes + at, (int)piece, MPI_BYTE, (int)from, MPI_COMM_WORLD);
}

static void
add (double *numbers, gsize n)
{
  EACH_PIECE (at, piece, n)
  MPI_Allreduce (MPI_IN_PLACE, numbers + at, (int)piece, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

G_MODULE_EXPORT const PlaitRanksModule plait_ranks_module = {
  .join = join,
  .leave = leave,
  .end = end,
  .send = send_bytes,
  .receive = receive_bytes,
  .broadcast = broadcast,
  .add = add,
};
