/* SPDX-License-Identifier: MIT */
#include "process/ranks.h"

#include <stdio.h>
#include <string.h>

#include "process/crash.h"
#include "text/error.h"

struct PlaitRanks
{
  const PlaitRanksTable *table;
  guint n;
  guint own;
  GThread *joined; /* the only thread that may call the functions of @table; NULL: any thread may */
  gint64 microseconds;
  gboolean failed; /* TRUE if all ranks have agreed on a failure */
};

PlaitRanks *
plait_ranks_new (const PlaitRanksTable *table)
{
  PlaitRanks *ranks = g_new0 (PlaitRanks, 1);
  gboolean threads;

  ranks->table = table;
  table->initialise (&ranks->n, &ranks->own, &threads);
  ranks->joined = threads ? NULL : g_thread_self ();
  return ranks;
}

void
plait_ranks_free (PlaitRanks *ranks)
{
  if (!ranks)
    return;
  ranks->table->finalise ();
  g_free (ranks);
}

guint
plait_ranks_size (const PlaitRanks *ranks)
{
  return ranks ? ranks->n : 1;
}

guint
plait_ranks_rank (const PlaitRanks *ranks)
{
  return ranks ? ranks->own : 0;
}

gboolean
plait_ranks_is_first (const PlaitRanks *ranks)
{
  return plait_ranks_rank (ranks) == 0;
}

double
plait_ranks_seconds (const PlaitRanks *ranks)
{
  return ranks ? (double)ranks->microseconds / 1e6 : 0;
}

#define TIMED(call)                                                                                                    \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    gint64 start = g_get_monotonic_time ();                                                                            \
                                                                                                                       \
    call;                                                                                                              \
    ranks->microseconds += g_get_monotonic_time () - start;                                                            \
  }                                                                                                                    \
  G_STMT_END

static guint
slot_of (guint lane, guint request, gboolean sends)
{
  return (2 * lane + (sends ? 1 : 0)) * PLAIT_RANKS_REQUESTS + request;
}

gboolean
plait_ranks_allows_thread (const PlaitRanks *ranks)
{
  return !ranks->joined || ranks->joined == g_thread_self ();
}

static gboolean
has_ended (PlaitRanks *ranks, guint slot)
{
  gboolean ended;

  TIMED (ended = ranks->table->has_ended (slot));
  return ended;
}

void
plait_ranks_begin_send (PlaitRanks *ranks, guint lane, guint request, gconstpointer bytes, gsize n)
{
  guint next = (ranks->own + 1) % ranks->n;

  TIMED (ranks->table->begin_send (slot_of (lane, request, TRUE), lane, bytes, n, next));
}

void
plait_ranks_begin_receive (PlaitRanks *ranks, guint lane, guint request, gpointer bytes, gsize n)
{
  guint previous = (ranks->own + ranks->n - 1) % ranks->n;

  TIMED (ranks->table->begin_receive (slot_of (lane, request, FALSE), lane, bytes, n, previous));
}

gboolean
plait_ranks_has_sent (PlaitRanks *ranks, guint lane, guint request)
{
  return has_ended (ranks, slot_of (lane, request, TRUE));
}

gboolean
plait_ranks_has_received (PlaitRanks *ranks, guint lane, guint request)
{
  return has_ended (ranks, slot_of (lane, request, FALSE));
}

void
plait_ranks_send (PlaitRanks *ranks, gconstpointer bytes, gsize n)
{
  plait_ranks_begin_send (ranks, 0, 0, bytes, n);
  while (!plait_ranks_has_sent (ranks, 0, 0))
    ;
}

void
plait_ranks_receive (PlaitRanks *ranks, gpointer bytes, gsize n)
{
  plait_ranks_begin_receive (ranks, 0, 0, bytes, n);
  while (!plait_ranks_has_received (ranks, 0, 0))
    ;
}

void
plait_ranks_broadcast (PlaitRanks *ranks, gpointer bytes, gsize n, guint from)
{
  if (ranks)
    TIMED (ranks->table->broadcast (bytes, n, from));
}

void
plait_ranks_all_reduce (PlaitRanks *ranks, double *numbers, gsize n)
{
  if (ranks)
    TIMED (ranks->table->all_reduce (numbers, n));
}

gboolean
plait_ranks_any (PlaitRanks *ranks, gboolean own)
{
  double number = own ? 1 : 0;

  plait_ranks_all_reduce (ranks, &number, 1);
  return number > 0;
}

/* Copies the error of rank @from to all other ranks. */
static void
share_error (PlaitRanks *ranks, guint from, GError **error)
{
  gboolean own = ranks->own == from;
  g_autofree char *text = own ? g_strdup (*error ? (*error)->message : "it failed") : NULL;
  guint32 header[2]
      = { own && *error ? (guint32)(*error)->code : PLAIT_ERROR_FAILED, own ? (guint32)strlen (text) : 0 };

  plait_ranks_broadcast (ranks, header, sizeof header, from);
  if (!own)
    text = g_malloc0 (header[1] + 1);
  plait_ranks_broadcast (ranks, text, header[1], from);
  if (own)
    return;
  g_clear_error (error);
  if (from == 0)
    plait_fail (error, (PlaitErrorCode)header[0], "%s", text);
  else
    plait_fail (error, (PlaitErrorCode)header[0], "process %u of %u: %s", from + 1, ranks->n, text);
}

gboolean
plait_ranks_agree (PlaitRanks *ranks, gboolean well, GError **error)
{
  GError *local = NULL;

  if (!ranks)
    return well;
  if (!error)
    error = &local;
  g_autofree double *failed = g_new0 (double, ranks->n);
  failed[ranks->own] = well ? 0 : 1;
  plait_ranks_all_reduce (ranks, failed, ranks->n);
  for (guint i = 0; i < ranks->n; i++)
    if (failed[i] > 0)
      {
        ranks->failed = TRUE;
        share_error (ranks, i, error);
        g_clear_error (&local);
        return FALSE;
      }
  return TRUE;
}

void
plait_ranks_fail (PlaitRanks *ranks, const GError *error, int code)
{
  if (!ranks || ranks->failed)
    return;
  fprintf (stderr, "error: process %u of %u: %s\n", ranks->own + 1, ranks->n, error->message);
  plait_crash_catch_exit (FALSE);
  ranks->table->abort_job (code);
}
