/* SPDX-License-Identifier: MIT */
/* Training corpora of several files: weights of files and tuples, draws in proportion to weights, and random parts of
 * the tuples. */
#include <math.h>
#include <stdlib.h>

#include "lines/text-file.h"
#include "text/error.h"
#include "text/number.h"
#include "process/random.h"
#include "corpus/corpus-private.h"

gint64
plait_corpus_files (const PlaitCorpus *corpus)
{
  return corpus->n_files;
}

const char *
plait_corpus_file (const PlaitCorpus *corpus, gint64 file)
{
  gint64 s = 0;

  while (s + 1 < corpus->n_streams && (!corpus->streams[s].tokens || corpus->streams[s].absent))
    s++;
  return corpus->streams[s].files[file].path;
}

/* Returns the first kept tuple whose line is @line or a later one; corpus->size if there is none. */
static gint64
first_from (const PlaitCorpus *corpus, gint64 line)
{
  gint64 low = 0, high = corpus->size;

  while (low < high)
    {
      gint64 middle = low + (high - low) / 2;

      if (plait_corpus_line (corpus, middle) < line)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

void
plait_corpus_file_tuples (const PlaitCorpus *corpus, gint64 file, gint64 *first, gint64 *end)
{
  *first = first_from (corpus, corpus->first_lines[file]);
  *end = file + 1 < corpus->n_files ? first_from (corpus, corpus->first_lines[file + 1]) : corpus->size;
}

void
plait_corpus_set_file_weights (PlaitCorpus *corpus, const double *weights)
{
  g_free (corpus->weights);
  corpus->weights = g_memdup2 (weights, (gsize)corpus->n_files * sizeof *weights);
}

/* The part of a share that rounding down lost. */
typedef struct
{
  double rest;
  gint64 file;
} Rest;

static int
largest_first (gconstpointer a, gconstpointer b)
{
  const Rest *x = a, *y = b;

  return x->rest != y->rest ? (x->rest > y->rest ? -1 : 1) : x->file < y->file ? -1 : x->file > y->file;
}

gint64 *
plait_corpus_draws (const PlaitCorpus *corpus)
{
  g_autofree Rest *rests = g_new (Rest, corpus->n_files);
  gint64 *draws, left = corpus->size;
  double sum = 0;

  if (!corpus->weights)
    return NULL;
  draws = g_new (gint64, corpus->n_files);
  for (gint64 i = 0; i < corpus->n_files; i++)
    sum += corpus->weights[i];
  for (gint64 i = 0; i < corpus->n_files; i++)
    {
      double exact = (double)corpus->size * (corpus->weights[i] / sum);

      draws[i] = MIN ((gint64)exact, left);
      rests[i] = (Rest){ exact - (double)draws[i], i };
      left -= draws[i];
    }
  qsort (rests, (gsize)corpus->n_files, sizeof *rests, largest_first);
  for (gint64 i = 0; left > 0; i = (i + 1) % corpus->n_files, left--)
    draws[rests[i].file]++;
  return draws;
}

/* A tuple and the random bits by which plait_corpus_keep ranks it. */
typedef struct
{
  guint64 bits;
  gint64 tuple;
} Ranked;

static int
compare_ranked (gconstpointer a, gconstpointer b)
{
  const Ranked *x = a, *y = b;

  return x->bits != y->bits ? (x->bits < y->bits ? -1 : 1) : x->tuple < y->tuple ? -1 : x->tuple > y->tuple;
}

void
plait_corpus_keep (PlaitCorpus *corpus, gint64 n, guint64 seed)
{
  PlaitRandomKey key = plait_random_key (seed, "share", NULL, 0);
  g_autofree Ranked *ranked = g_new (Ranked, corpus->size);
  g_autofree gboolean *dropped = g_new (gboolean, corpus->size);
  gint64 size = corpus->size;

  g_assert (n > 0);
  for (gint64 i = 0; i < size; i++)
    ranked[i] = (Ranked){ plait_random_bits (key, (guint64)plait_corpus_line (corpus, i)), i };
  qsort (ranked, (gsize)size, sizeof *ranked, compare_ranked);
  for (gint64 i = 0; i < size; i++)
    dropped[ranked[i].tuple] = i >= n;
  if (n < size)
    plait_corpus_drop (corpus, dropped);
}

gboolean
plait_tuple_weights_read (const char *path, GArray *weights, GError **error)
{
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, error);
  g_autoptr (GError) cause = NULL;
  const char *line;
  gsize length;

  if (!reader)
    return FALSE;
  while ((line = plait_text_reader_next (reader, &length, &cause)))
    {
      g_autofree char *text = g_strstrip (g_strndup (line, length));
      double weight;

      if (!plait_parse_double (text, &weight) || !(weight > 0) || !isfinite (weight))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s:%jd: \"%s\" is not a weight; expected one positive number on each line", path,
                           plait_text_reader_line (reader), text);
      g_array_append_val (weights, weight);
    }
  return plait_no_error (&cause, error);
}

gboolean
plait_corpus_read_weights (PlaitCorpus *corpus, const char *const *paths, GError **error)
{
  corpus->loss_weights = g_array_new (FALSE, FALSE, sizeof (double));
  corpus->weight_files = g_new0 (PlaitCorpusFile, corpus->n_files);
  for (gint64 i = 0; i < corpus->n_files; i++)
    {
      PlaitCorpusFile *file = &corpus->weight_files[i];
      gint64 before = corpus->loss_weights->len, lines = corpus->first_lines[i + 1] - corpus->first_lines[i];

      file->path = g_strdup (paths[i]);
      file->stamp = plait_file_stamp (file->path);
      if (!plait_tuple_weights_read (file->path, corpus->loss_weights, error))
        return FALSE;
      if ((gint64)corpus->loss_weights->len - before != lines)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "%s: the file has %jd weights, but %s has %jd sentences; expected one weight for each sentence", file->path,
            (gint64)corpus->loss_weights->len - before, plait_corpus_file (corpus, i), lines);
    }
  return TRUE;
}
