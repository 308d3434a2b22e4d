/* SPDX-License-Identifier: MIT */
#include "corpus/iterator.h"

#include <stdlib.h>

#include "text/error.h"
#include "process/random.h"

struct PlaitIterator
{
  const PlaitCorpus *corpus;
  PlaitIteratorSettings settings;
  gint64 epoch;
  gint64 position;

  guint32 *tuples;  /* [corpus size], tuples in the order of this epoch */
  guint8 *sorted;   /* [windows], TRUE if the window is sorted; NULL: windows need no sorting */
  GArray *bounds;   /* gint64: batch b is tuples[bounds[b] .. bounds[b + 1] - 1] */
  guint32 *batches; /* [bounds - 1], the order of the batches; NULL: in sequence */
};

PlaitIteratorSettings
plait_iterator_defaults (void)
{
  return (PlaitIteratorSettings){ .unit = PLAIT_BATCH_BY_SENTENCES, .size = 64, .window = 6400 };
}

/* A tuple to sort by length, then by its position, so that no two tuples compare as equal. */
typedef struct
{
  gint64 length;
  guint32 place;
  guint32 tuple;
} Sorted;

static int
longest_first (gconstpointer a, gconstpointer b)
{
  const Sorted *x = a, *y = b;
  if (x->length != y->length)
    return x->length > y->length ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

/* Returns the sort key of @tuple: the target's length first, since it costs most, then all tokens. */
static gint64
length_of (const PlaitCorpus *corpus, gint64 tuple)
{
  gint64 target
      = plait_corpus_has_target (corpus) ? plait_corpus_length (corpus, plait_corpus_n_sources (corpus), tuple) : 0;
  return target * ((gint64)1 << 32) + plait_corpus_tokens (corpus, tuple);
}

static void
sort_by_length (const PlaitCorpus *corpus, guint32 *tuples, gint64 n)
{
  g_autofree Sorted *sorted = g_new (Sorted, n);
  for (gint64 i = 0; i < n; i++)
    sorted[i] = (Sorted){ length_of (corpus, tuples[i]), (guint32)i, tuples[i] };
  qsort (sorted, (gsize)n, sizeof *sorted, longest_first);
  for (gint64 i = 0; i < n; i++)
    tuples[i] = sorted[i].tuple;
}

/* Splits tuples[first .. end - 1] into batches. */
static void
cut (PlaitIterator *self, gint64 first, gint64 end)
{
  gint64 held = 0;
  gint64 start = first;
  for (gint64 i = first; i < end; i++)
    {
      gint64 cost
          = self->settings.unit == PLAIT_BATCH_BY_TOKENS ? plait_corpus_tokens (self->corpus, self->tuples[i]) : 1;
      if (i > start && held + cost > self->settings.size)
        {
          g_array_append_val (self->bounds, i);
          start = i;
          held = 0;
        }
      held += cost;
    }
  g_array_append_val (self->bounds, end);
}

/* Returns the end of the window that begins with tuple @first. Without bucketing, all tuples are one window. */
static gint64
window_end (const PlaitIterator *self, gint64 first)
{
  gint64 left = plait_corpus_size (self->corpus) - first;

  return first + (self->settings.window > 1 ? MIN (self->settings.window, left) : left);
}

/* Sorts the window that contains tuple @first of this epoch, unless it is sorted already. */
static void
sort_window (PlaitIterator *self, gint64 first)
{
  gint64 window = first / self->settings.window, begin = window * self->settings.window;

  if (!self->sorted || self->sorted[window])
    return;
  sort_by_length (self->corpus, self->tuples + begin, window_end (self, begin) - begin);
  self->sorted[window] = TRUE;
}

/* If files have weights, replaces the tuples of this epoch by tuples drawn from the files in proportion to the weights,
 * and keeps the shuffled order. Draws from each file in passes over its shuffled tuples; an epoch continues the pass in
 * which the previous epoch ended. */
static void
draw_by_weights (PlaitIterator *self)
{
  const PlaitCorpus *corpus = self->corpus;
  g_autofree gint64 *draws = plait_corpus_draws (corpus);
  g_autofree guint32 *drawn = g_new (guint32, plait_corpus_size (corpus));
  g_autofree guint32 *pass = g_new (guint32, plait_corpus_size (corpus));
  gint64 n = 0, first, end;

  for (gint64 file = 0; draws && file < plait_corpus_files (corpus); file++)
    {
      g_autofree char *name = g_strdup_printf ("file %jd", file);

      plait_corpus_file_tuples (corpus, file, &first, &end);
      for (gint64 i = 0; i < draws[file]; i++)
        {
          gint64 position = self->epoch * draws[file] + i, place = position % (end - first);

          if (i == 0 || place == 0)
            plait_random_permutation (
                plait_random_key (self->settings.seed, "shuffle", name, (guint64)(position / (end - first))), pass,
                (gsize)(end - first));
          drawn[n++] = (guint32)first + pass[place];
        }
    }
  for (gint64 i = 0; i < n; i++)
    self->tuples[i] = drawn[self->tuples[i]];
}

static void
plan_epoch (PlaitIterator *self)
{
  gint64 n = plait_corpus_size (self->corpus);
  gint64 zero = 0;
  g_clear_pointer (&self->sorted, g_free);
  g_array_set_size (self->bounds, 0);
  g_array_append_val (self->bounds, zero);
  g_clear_pointer (&self->batches, g_free);

  if (self->settings.order != PLAIT_ORDER_SHUFFLED)
    {
      for (gint64 i = 0; i < n; i++)
        self->tuples[i] = (guint32)i;
      if (self->settings.order == PLAIT_ORDER_LENGTH)
        sort_by_length (self->corpus, self->tuples, n);
      cut (self, 0, n);
      return;
    }

  PlaitRandomKey key = plait_random_key (self->settings.seed, "shuffle", "tuples", (guint64)self->epoch);
  plait_random_permutation (key, self->tuples, (gsize)n);
  draw_by_weights (self);
  if (self->settings.window > 1)
    self->sorted = g_new0 (guint8, n / self->settings.window + 1);
  for (gint64 first = 0, end; first < n; first = end)
    {
      end = window_end (self, first);
      /* Batches counted by tokens can be cut only after sorting. Otherwise each window is sorted when it is first
       * read, because sorting all windows would delay the first update on a large corpus. */
      if (self->settings.unit == PLAIT_BATCH_BY_TOKENS)
        sort_window (self, first);
      cut (self, first, end);
    }
  gint64 batches = plait_iterator_batches (self);
  self->batches = g_new (guint32, batches);
  key = plait_random_key (self->settings.seed, "shuffle", "batches", (guint64)self->epoch);
  plait_random_permutation (key, self->batches, (gsize)batches);
}

static gboolean
check_tuples_fit (const PlaitCorpus *corpus, const PlaitIteratorSettings *settings, GError **error)
{
  if (settings->unit != PLAIT_BATCH_BY_TOKENS)
    return TRUE;
  for (gint64 i = 0; i < plait_corpus_size (corpus); i++)
    {
      gint64 tokens = plait_corpus_tokens (corpus, i);
      g_autofree char *place = tokens > settings->size ? plait_corpus_location (corpus, 0, i) : NULL;

      if (place)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: the tuple has %jd tokens; expected at most the batch size of %jd, so raise the batch "
                           "size or lower the length limits",
                           place, tokens, settings->size);
    }
  return TRUE;
}

PlaitIterator *
plait_iterator_new (const PlaitCorpus *corpus, const PlaitIteratorSettings *settings, GError **error)
{
  g_assert (settings->size > 0 && settings->window > 0);
  if (!check_tuples_fit (corpus, settings, error))
    return NULL;
  PlaitIterator *self = g_new0 (PlaitIterator, 1);
  self->corpus = corpus;
  self->settings = *settings;
  self->tuples = g_new (guint32, plait_corpus_size (corpus));
  self->bounds = g_array_new (FALSE, FALSE, sizeof (gint64));
  plan_epoch (self);
  return self;
}

PlaitIterator *
plait_iterator_new_by_length (const PlaitCorpus *corpus, gint64 size, GError **error)
{
  PlaitIteratorSettings settings = plait_iterator_defaults ();

  settings.order = PLAIT_ORDER_LENGTH;
  settings.size = size;
  return plait_iterator_new (corpus, &settings, error);
}

void
plait_iterator_free (PlaitIterator *self)
{
  if (!self)
    return;
  g_free (self->tuples);
  g_free (self->sorted);
  g_free (self->batches);
  g_array_unref (self->bounds);
  g_free (self);
}

gint64
plait_iterator_batches (const PlaitIterator *self)
{
  return (gint64)self->bounds->len - 1;
}

PlaitBatch *
plait_iterator_next (PlaitIterator *self, GError **error)
{
  if (self->position == plait_iterator_batches (self))
    {
      if (self->settings.order != PLAIT_ORDER_SHUFFLED)
        return NULL;
      self->epoch++;
      self->position = 0;
      plan_epoch (self);
    }
  gint64 b = self->batches ? self->batches[self->position] : self->position;
  const gint64 *bounds = (const gint64 *)self->bounds->data + b;
  gint64 n = bounds[1] - bounds[0];
  g_autofree gint64 *tuples = g_new (gint64, n);
  sort_window (self, bounds[0]);
  for (gint64 i = 0; i < n; i++)
    tuples[i] = self->tuples[bounds[0] + i];
  PlaitBatch *batch = plait_corpus_batch_in (self->corpus, self->epoch, tuples, n, error);
  self->position += batch != NULL;
  return batch;
}

void
plait_iterator_tell (const PlaitIterator *self, gint64 *epoch, gint64 *position)
{
  *epoch = self->epoch;
  *position = self->position;
}

gboolean
plait_iterator_seek (PlaitIterator *self, gint64 epoch, gint64 position, GError **error)
{
  gint64 old = self->epoch;
  gboolean single = self->settings.order != PLAIT_ORDER_SHUFFLED;
  gboolean possible = epoch >= 0 && position >= 0 && !(single && epoch > 0);
  if (possible && epoch != self->epoch)
    {
      self->epoch = epoch;
      plan_epoch (self);
    }
  if (possible && position <= plait_iterator_batches (self))
    {
      self->position = position;
      return TRUE;
    }
  if (self->epoch != old)
    {
      self->epoch = old;
      plan_epoch (self);
    }
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "There is no batch %jd in epoch %jd (an epoch has %jd batches); the data or the batch settings "
                     "differ from those of the run to be resumed; restore the old data and settings",
                     position, epoch, plait_iterator_batches (self));
}
