/* SPDX-License-Identifier: MIT */
#include "model/dealt.h"

#include <string.h>

/* What comes before the tokens of a hypothesis. All processes have the same build. */
typedef struct
{
  gint64 sentence;
  PlaitHypothesis hypothesis; /* its tokens point nowhere */
} Head;

static void
append (GByteArray *bytes, gint64 sentence, const PlaitHypothesis *hypothesis)
{
  Head head;

  memset (&head, 0, sizeof head);
  head.sentence = sentence;
  head.hypothesis.length = hypothesis->length;
  head.hypothesis.log_probability = hypothesis->log_probability;
  head.hypothesis.score = hypothesis->score;
  head.hypothesis.ended = hypothesis->ended;
  g_byte_array_append (bytes, (const guint8 *)&head, sizeof head);
  g_byte_array_append (bytes, (const guint8 *)hypothesis->tokens,
                       (guint)(sizeof *hypothesis->tokens * (gsize)hypothesis->length));
}

/* Adds what another process has found. */
static void
take (PlaitHypotheses *hypotheses, const guint8 *bytes, gsize n)
{
  while (n > 0)
    {
      Head head;
      PlaitHypotheses *of;
      gsize size;

      memcpy (&head, bytes, sizeof head);
      size = sizeof *head.hypothesis.tokens * (gsize)head.hypothesis.length;
      head.hypothesis.tokens = g_memdup2 (bytes + sizeof head, size);
      of = &hypotheses[head.sentence];
      of->hypotheses = g_renew (PlaitHypothesis, of->hypotheses, of->n + 1);
      of->hypotheses[of->n++] = head.hypothesis;
      bytes += sizeof head + size;
      n -= sizeof head + size;
    }
}

void
plait_hypotheses_share (PlaitRanks *ranks, PlaitHypotheses *hypotheses, gint64 n)
{
  g_autoptr (GByteArray) own = NULL;

  if (!ranks)
    return;
  own = g_byte_array_new ();
  for (gint64 i = 0; i < n; i++)
    for (guint k = 0; k < hypotheses[i].n; k++)
      append (own, i, &hypotheses[i].hypotheses[k]);
  for (guint from = 0; from < plait_ranks_n (ranks); from++)
    {
      gboolean mine = from == plait_ranks_own (ranks);
      gsize size = own->len;
      g_autofree guint8 *bytes = NULL;

      plait_ranks_broadcast (ranks, &size, sizeof size, from);
      bytes = mine ? g_memdup2 (own->data, size) : g_malloc (size);
      plait_ranks_broadcast (ranks, bytes, size, from);
      if (!mine)
        take (hypotheses, bytes, size);
    }
}

void
plait_search_work_add (PlaitRanks *ranks, PlaitSearchWork *work)
{
  /* Counts are below 2^53. */
  double counts[]
      = { (double)work->words, (double)work->steps, (double)work->touched.all, (double)work->touched.chosen };

  plait_ranks_add (ranks, counts, G_N_ELEMENTS (counts));
  work->words = (gint64)counts[0];
  work->steps = (gint64)counts[1];
  work->touched.all = (gint64)counts[2];
  work->touched.chosen = (gint64)counts[3];
}
