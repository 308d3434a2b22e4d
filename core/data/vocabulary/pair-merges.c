/* SPDX-License-Identifier: MIT */
#include "vocabulary/pair-merges.h"

/* A possible merge of the piece at @position with the next one. */
typedef struct
{
  double rank;
  gint32 position;
  gint32 id;      /* id of the merged piece */
  guint32 length; /* bytes of both pieces together; another total means that one was merged in the meantime */
} Candidate;

struct PlaitPairMerger
{
  GArray *pieces;     /* (element-type PlaitMergePiece) */
  GArray *candidates; /* (element-type Candidate) a binary heap */
};

PlaitPairMerger *
plait_pair_merger_new (void)
{
  PlaitPairMerger *self = g_new (PlaitPairMerger, 1);

  self->pieces = g_array_new (FALSE, FALSE, sizeof (PlaitMergePiece));
  self->candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  return self;
}

void
plait_pair_merger_free (PlaitPairMerger *self)
{
  g_array_unref (self->pieces);
  g_array_unref (self->candidates);
  g_free (self);
}

void
plait_pair_merger_add (PlaitPairMerger *self, gint32 id, guint32 length)
{
  gint32 n = (gint32)self->pieces->len;
  PlaitMergePiece piece = { id, 0, length, n - 1, -1 };

  if (n > 0)
    {
      PlaitMergePiece *previous = &g_array_index (self->pieces, PlaitMergePiece, n - 1);

      piece.start = previous->start + previous->length;
      previous->next = n;
    }
  g_array_append_val (self->pieces, piece);
}

static gboolean
precedes (const Candidate *a, const Candidate *b)
{
  return a->rank < b->rank || (a->rank == b->rank && a->position < b->position);
}

static void
push (GArray *heap, Candidate candidate)
{
  guint at = heap->len;
  Candidate *candidates;

  g_array_append_val (heap, candidate);
  candidates = (Candidate *)(gpointer)heap->data;
  for (; at > 0 && precedes (&candidate, &candidates[(at - 1) / 2]); at = (at - 1) / 2)
    candidates[at] = candidates[(at - 1) / 2];
  candidates[at] = candidate;
}

static Candidate
pop (GArray *heap)
{
  Candidate *candidates = (Candidate *)(gpointer)heap->data, first = candidates[0], last = candidates[heap->len - 1];
  guint n = heap->len - 1, at = 0;

  for (guint child = 1; child < n; child = 2 * at + 1)
    {
      child += child + 1 < n && precedes (&candidates[child + 1], &candidates[child]);
      if (!precedes (&candidates[child], &last))
        break;
      candidates[at] = candidates[child];
      at = child;
    }
  candidates[at] = last;
  g_array_set_size (heap, n);
  return first;
}

/* Adds the merge of the piece at @position with the next one to the heap, if @rule merges the two. */
static void
offer (PlaitPairMerger *self, PlaitMergeRule rule, gconstpointer data, gint32 position)
{
  const PlaitMergePiece *pieces = (const PlaitMergePiece *)(gpointer)self->pieces->data, *left, *right;
  Candidate candidate = { .position = position };

  if (position < 0 || pieces[position].next < 0)
    return;
  left = &pieces[position];
  right = &pieces[left->next];
  candidate.id = rule (data, left, right, &candidate.rank);
  candidate.length = left->length + right->length;
  if (candidate.id >= 0)
    push (self->candidates, candidate);
}

void
plait_pair_merger_run (PlaitPairMerger *self, PlaitMergeRule rule, gconstpointer data, PlaitMergeDropout *dropout,
                       GArray *ids)
{
  PlaitMergePiece *pieces = (PlaitMergePiece *)(gpointer)self->pieces->data;

  for (guint i = 0; i + 1 < self->pieces->len; i++)
    offer (self, rule, data, (gint32)i);
  while (self->candidates->len > 0)
    {
      Candidate candidate = pop (self->candidates);
      PlaitMergePiece *left = &pieces[candidate.position], *right = left->next < 0 ? NULL : &pieces[left->next];

      if (left->length == 0 || !right || left->length + right->length != candidate.length
          || (dropout && plait_random_uniform (dropout->key, dropout->draws++) < dropout->strength))
        continue;
      left->id = candidate.id;
      left->length = candidate.length;
      left->next = right->next;
      right->length = 0;
      if (left->next >= 0)
        pieces[left->next].previous = candidate.position;
      offer (self, rule, data, left->previous);
      offer (self, rule, data, candidate.position);
    }
  for (gint32 i = self->pieces->len > 0 ? 0 : -1; i >= 0; i = pieces[i].next)
    g_array_append_val (ids, pieces[i].id);
  g_array_set_size (self->pieces, 0);
}
