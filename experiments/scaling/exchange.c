/* SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Measures a message between two processes, and the addition of numbers to numbers in memory. Prints the medians
 * "latency seconds, bandwidth bytes/s, adding bytes/s". */

enum
{
  PIECE = 65536,        /* numbers of a message; core/model/training/all-reduce.c cuts gradients into such pieces */
  NUMBERS = PIECE << 8, /* more than caches hold */
  ROUNDS = 21,
};

static int
compare (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double
median (double *times)
{
  qsort (times, ROUNDS, sizeof *times, compare);
  return times[ROUNDS / 2];
}

/* Returns the seconds to send @n numbers to the other process and back, piece by piece, divided by two. */
static double
exchange (float *numbers, int n, int rank)
{
  double start;

  MPI_Barrier (MPI_COMM_WORLD);
  start = MPI_Wtime ();
  for (int turn = 0; turn < 2; turn++)
    for (int i = 0; i < n; i += PIECE)
      {
        int count = n - i < PIECE ? n - i : PIECE;

        if (rank == turn)
          MPI_Send (numbers + i, count, MPI_FLOAT, 1 - turn, 0, MPI_COMM_WORLD);
        else
          MPI_Recv (numbers + i, count, MPI_FLOAT, turn, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
  return (MPI_Wtime () - start) / 2;
}

static double
add (float *numbers, const float *more)
{
  double start = MPI_Wtime ();

  for (int i = 0; i < NUMBERS; i++)
    numbers[i] += more[i];
  return MPI_Wtime () - start;
}

int
main (int argc, char **argv)
{
  float *numbers = calloc (NUMBERS, sizeof *numbers), *more = calloc (NUMBERS, sizeof *more);
  double short_ones[ROUNDS], long_ones[ROUNDS], sums[ROUNDS];
  int rank;

  MPI_Init (&argc, &argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  for (int i = 0; i < NUMBERS; i++)
    more[i] = 1;
  for (int round = 0; round < ROUNDS; round++)
    {
      short_ones[round] = exchange (numbers, 1, rank);
      long_ones[round] = exchange (numbers, NUMBERS, rank);
      sums[round] = add (numbers, more);
    }
  if (rank == 0)
    printf ("%g %g %g\n", median (short_ones), NUMBERS * sizeof (float) / median (long_ones),
            NUMBERS * sizeof (float) / median (sums));
  MPI_Finalize ();
  free (numbers);
  free (more);
  return 0;
}
