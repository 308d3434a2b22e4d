/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "data/text-file.h"
#include "data/tree-binary.h"

#define DRAWN_BATCHES 16
#define LARGEST_FILE ((gsize)1 << 30)

static PlaitBenchData *
new_data (const PlaitBenchSize *size)
{
  PlaitBenchData *data = g_new0 (PlaitBenchData, 1);
  gint64 first = 0;

  data->streams = size->token_sources + (size->trees ? 2 : 1);
  data->trees = size->trees ? (gint)size->token_sources : -1;
  data->ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  data->offsets = g_array_new (FALSE, FALSE, sizeof (gint64));
  data->batches = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_array_append_val (data->offsets, first);
  g_array_append_val (data->batches, first);
  return data;
}

void
plait_bench_data_free (PlaitBenchData *data)
{
  if (!data)
    return;
  g_array_unref (data->ids);
  g_array_unref (data->offsets);
  g_array_unref (data->batches);
  g_free (data);
}

static gint64
tuples (const PlaitBenchData *data)
{
  return (gint64)(data->offsets->len - 1) / data->streams;
}

/* The tuples since the last batch become one, if there are any. */
static void
end_batch (PlaitBenchData *data)
{
  gint64 n = tuples (data);

  if (n > g_array_index (data->batches, gint64, data->batches->len - 1))
    g_array_append_val (data->batches, n);
}

static void
end_stream (PlaitBenchData *data)
{
  gint64 n = data->ids->len;

  g_array_append_val (data->offsets, n);
}

guint
plait_bench_data_batches (const PlaitBenchData *data)
{
  return data->batches->len - 1;
}

/*
 * Reading
 */

/* Appends the numbers of @text, each at least @least and below @end, as one stream. */
static gboolean
read_stream (PlaitBenchData *data, const char *text, gint64 least, gint64 end, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (guint i = 0; words[i]; i++)
    {
      gint64 number;
      gint32 id;

      if (!plait_parse_integer (words[i], &number) || number < least || number >= end)
        {
          g_autofree char *shown = g_utf8_make_valid (words[i], (gssize)MIN (strlen (words[i]), 40));

          return plait_fail (error, PLAIT_ERROR_INPUT,
                             "\"%s\" is no id; expected an integer from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                             ", ids separated by single spaces",
                             shown, least, end - 1);
        }
      id = (gint32)number;
      g_array_append_val (data->ids, id);
    }
  end_stream (data);
  return TRUE;
}

/* Appends the tree @text over the tokens of the last stream. */
static gboolean
read_tree (PlaitBenchData *data, const char *text, GError **error)
{
  gint64 first = data->ids->len, words = first - g_array_index (data->offsets, gint64, data->offsets->len - 2);
  g_autofree guint8 *has_parent = g_new0 (guint8, 2 * words);

  if (words == 1 && *text == '\0')
    {
      end_stream (data);
      return TRUE;
    }
  if (!read_stream (data, text, 0, 2 * words - 2, error))
    return FALSE;
  if (data->ids->len - first != 2 * (words - 1))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "a tree of %" G_GINT64_FORMAT " numbers over %" G_GINT64_FORMAT
                       " tokens; expected %" G_GINT64_FORMAT ": the left and the right child of each inner node",
                       data->ids->len - first, words, 2 * (words - 1));
  for (gint64 i = 0; i < 2 * (words - 1); i++)
    {
      gint32 child = g_array_index (data->ids, gint32, first + i);

      if (child >= words + i / 2 || has_parent[child]++)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "child %d of node %" G_GINT64_FORMAT
                           " of the tree %s; expected children before parents, each once",
                           child, words + i / 2, child >= words + i / 2 ? "comes after it" : "has two parents");
    }
  return TRUE;
}

static gboolean
read_line (PlaitBenchData *data, const char *line, const PlaitBenchSize *size, GError **error)
{
  g_auto (GStrv) streams = g_strsplit (line, "\t", -1);

  if (!streams[0])
    {
      end_batch (data);
      return TRUE;
    }
  if (g_strv_length (streams) != data->streams)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%u streams; expected %u separated by tabs: the sources of size %s, %sthen the target",
                       g_strv_length (streams), data->streams, size->name, size->trees ? "their trees, " : "");
  for (guint i = 0; i < data->streams; i++)
    if (!((gint)i == data->trees ? read_tree (data, streams[i], error)
                                 : read_stream (data, streams[i], PLAIT_TOKEN_EOS, size->vocabulary, error)))
      return FALSE;
  if (g_array_index (data->ids, gint32, data->ids->len - 1) != PLAIT_TOKEN_EOS)
    return plait_fail (error, PLAIT_ERROR_INPUT, "the target does not end in %d, the end of a sentence",
                       PLAIT_TOKEN_EOS);
  return TRUE;
}

PlaitBenchData *
plait_bench_data_read (const char *path, const PlaitBenchSize *size, GError **error)
{
  g_autoptr (PlaitBenchData) data = new_data (size);
  gsize length;
  g_autofree char *text = plait_text_file_contents (path, LARGEST_FILE, &length, error);
  gint64 number = 1;

  if (!text)
    return NULL;
  for (char *line = text, *end; line < text + length; line = end + 1, number++)
    {
      end = memchr (line, '\n', (gsize)(text + length - line));
      if (!end)
        end = text + length;
      *end = '\0';
      if (!read_line (data, line, size, error))
        {
          g_prefix_error (error, "%s:%" G_GINT64_FORMAT ": ", path, number);
          return NULL;
        }
    }
  end_batch (data);
  if (plait_bench_data_batches (data) == 0)
    {
      plait_fail (error, PLAIT_ERROR_INPUT, "%s: holds no sentences; experiments/peers/tokens.py writes such a file",
                  path);
      return NULL;
    }
  return g_steal_pointer (&data);
}

/*
 * Drawing
 */

/* Shares of the words by rank, added up: Zipf's law as Mandelbrot has it. (transfer full) */
static double *
word_shares (gint64 words)
{
  double *shares = g_new (double, words);
  double sum = 0;

  for (gint64 rank = 0; rank < words; rank++)
    shares[rank] = sum += 1 / ((double)rank + 3.7);
  return shares;
}

static gint32
draw_word (const double *shares, gint64 words, double uniform)
{
  double wanted = uniform * shares[words - 1];
  gint64 low = 0, high = words - 1;

  while (low < high)
    {
      gint64 middle = (low + high) / 2;

      if (shares[middle] > wanted)
        high = middle;
      else
        low = middle + 1;
    }
  return (gint32)(PLAIT_TOKEN_SPECIALS + low);
}

/* Appends a tree over the @words tokens of the last stream, split uniformly. */
static void
draw_tree (PlaitBenchData *data, gint64 words, PlaitRandomKey key)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (PlaitTreeStep));
  g_autofree gint64 *left = g_new (gint64, words), *right = g_new (gint64, words);

  plait_tree_control (PLAIT_TREES_RANDOM, words, key, steps);
  plait_tree_link ((const PlaitTreeStep *)(gpointer)steps->data, steps->len, words, left, right);
  for (guint i = 0; i < steps->len; i++)
    {
      gint32 children[] = { (gint32)left[i], (gint32)right[i] };

      g_array_append_vals (data->ids, children, 2);
    }
  end_stream (data);
}

PlaitBenchData *
plait_bench_data_draw (const PlaitBenchSize *size, guint64 seed)
{
  PlaitBenchData *data = new_data (size);
  PlaitRandomKey lengths = plait_random_key (seed, "bench", "lengths", 0);
  PlaitRandomKey words = plait_random_key (seed, "bench", "words", 0);
  PlaitRandomKey trees = plait_random_key (seed, "bench", "trees", 0);
  gint64 n_words = size->vocabulary - PLAIT_TOKEN_SPECIALS, last = 0;
  g_autofree double *shares = word_shares (n_words);
  const gint32 end = PLAIT_TOKEN_EOS;
  /* A part that the streams of a tuple share and a part of each, whose variances add up to the size's. */
  double shared = .95 * size->deviation, own = sqrt (1 - .95 * .95) * size->deviation;

  for (gint64 tuple = 0; tuple < size->batch * DRAWN_BATCHES; tuple++)
    {
      PlaitRandomKey each = plait_random_subkey (lengths, (guint64)tuple);
      double centre = size->mean + shared * plait_random_normal (each, 0);

      for (guint stream = 0; stream < data->streams; stream++)
        {
          double length = round (centre + own * plait_random_normal (each, 1 + stream));
          gint64 n = (gint64)CLAMP (length, (double)size->shortest, (double)size->longest);
          /* All tokens of a source with a tree are its leaves. */
          gboolean ends = data->trees < 0 || (gint)stream > data->trees;

          if ((gint)stream == data->trees)
            {
              draw_tree (data, last, plait_random_subkey (trees, (guint64)tuple));
              continue;
            }
          for (gint64 i = ends; i < n; i++)
            {
              gint32 word = draw_word (shares, n_words, plait_random_uniform (words, data->ids->len));

              g_array_append_val (data->ids, word);
            }
          if (ends)
            g_array_append_val (data->ids, end);
          end_stream (data);
          last = n;
        }
      if ((tuple + 1) % size->batch == 0)
        end_batch (data);
    }
  return data;
}

/*
 * Batches
 */

void
plait_bench_data_regroup (PlaitBenchData *data, gint64 count)
{
  gint64 n = tuples (data);

  g_array_set_size (data->batches, 1);
  for (gint64 end = count; end < n; end += count)
    g_array_append_val (data->batches, end);
  g_array_append_val (data->batches, n);
}

static gint64
offset (const PlaitBenchData *data, gint64 tuple, guint stream)
{
  return g_array_index (data->offsets, gint64, tuple * data->streams + stream);
}

gint64
plait_bench_data_length (const PlaitBenchData *data, gint64 tuple, guint stream)
{
  return offset (data, tuple, stream + 1) - offset (data, tuple, stream);
}

void
plait_bench_data_range (const PlaitBenchData *data, guint index, gint64 *first, gint64 *end)
{
  *first = g_array_index (data->batches, gint64, index);
  *end = g_array_index (data->batches, gint64, index + 1);
}

static gint64
rows_of (const PlaitBenchData *data, guint index, guint stream)
{
  gint64 first, end, rows = 0;

  plait_bench_data_range (data, index, &first, &end);
  for (gint64 tuple = first; tuple < end; tuple++)
    rows += plait_bench_data_length (data, tuple, stream);
  return rows;
}

static void
fill_tokens (const PlaitBenchData *data, gint64 first, guint stream, const PlaitInput *input)
{
  gint64 *offsets = plait_batch_fill (gint64, input->rows.offsets);
  gint32 *ids = plait_batch_fill (gint32, input->tokens);

  offsets[0] = 0;
  for (gint64 i = 0; i < input->rows.n; i++)
    {
      gint64 from = offset (data, first + i, stream), n = offset (data, first + i, stream + 1) - from;

      memcpy (ids + offsets[i], &g_array_index (data->ids, gint32, from), (gsize)n * sizeof *ids);
      offsets[i + 1] = offsets[i] + n;
    }
}

static void
fill_trees (const PlaitBenchData *data, gint64 first, const PlaitTrees *trees)
{
  gint64 *offsets = plait_batch_fill (gint64, trees->nodes.offsets), *left = plait_batch_fill (gint64, trees->left),
         *right = plait_batch_fill (gint64, trees->right);
  const char **labels = plait_batch_fill (const char *, trees->labels);

  offsets[0] = 0;
  for (gint64 i = 0; i < trees->nodes.n; i++)
    {
      const gint32 *children = &g_array_index (data->ids, gint32, offset (data, first + i, (guint)data->trees));

      offsets[i + 1] = offsets[i] + plait_bench_data_length (data, first + i, (guint)data->trees) / 2;
      for (gint64 node = offsets[i]; node < offsets[i + 1]; node++, children += 2)
        {
          left[node] = children[0];
          right[node] = children[1];
          labels[node] = "";
        }
    }
}

/* All batches refer to the one image. */
static void
fill_image (const PlaitBenchSize *size, PlaitTensor image, PlaitInput *input)
{
  gint64 *offsets = plait_batch_fill (gint64, input->rows.offsets);

  for (gint64 i = 0; i <= input->rows.n; i++)
    offsets[i] = i * size->image_positions;
  input->features = plait_tensor_rows (image, 0, input->rows.n * size->image_positions);
}

static void
fill_targets (const PlaitBenchData *data, gint64 first, PlaitBatch *batch)
{
  gint64 *offsets = plait_batch_fill (gint64, batch->target_rows.offsets);

  offsets[0] = 0;
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 from = offset (data, first + i, data->streams - 1), n = offset (data, first + i, data->streams) - from;

      plait_batch_fill_target (batch, offsets[i], &g_array_index (data->ids, gint32, from), n - 1);
      offsets[i + 1] = offsets[i] + n;
    }
}

PlaitBatch *
plait_bench_data_batch (const PlaitBenchData *data, const PlaitBenchSize *size, guint index, gboolean targets,
                        PlaitTensor image, GError **error)
{
  guint n = plait_bench_sources (size);
  g_autofree PlaitBatchSource *sources = g_new0 (PlaitBatchSource, n);
  PlaitBatch *batch;
  gint64 first, end;

  plait_bench_data_range (data, index, &first, &end);
  for (guint i = 0; i < n; i++)
    if (i < size->token_sources)
      sources[i] = (PlaitBatchSource){ "text", PLAIT_INPUT_TOKENS, rows_of (data, index, i), 0 };
    else
      sources[i] = (PlaitBatchSource){ "image", PLAIT_INPUT_FEATURES, (end - first) * size->image_positions, 0 };
  if (data->trees >= 0)
    {
      sources[0].has_trees = TRUE;
      sources[0].nodes = rows_of (data, index, (guint)data->trees) / 2;
    }
  batch = plait_batch_new (end - first, sources, n, targets ? rows_of (data, index, data->streams - 1) : -1, error);
  if (!batch)
    return NULL;
  for (guint i = 0; i < n; i++)
    if (i < size->token_sources)
      fill_tokens (data, first, i, &batch->inputs[i]);
    else
      fill_image (size, image, plait_batch_fill (PlaitInput, &batch->inputs[i]));
  if (data->trees >= 0)
    fill_trees (data, first, batch->inputs[0].trees);
  if (targets)
    fill_targets (data, first, batch);
  for (gint64 i = 0; i < batch->n_sentences; i++)
    plait_batch_fill (gint64, batch->sentence)[i] = first + i;
  return batch;
}
