/* SPDX-License-Identifier: MIT */
#include "cli/bench-tokens.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "data/input.h"
#include "data/iterator.h"
#include "data/text-file.h"
#include "data/tree-binary.h"

#define DRAWN_BATCHES 16
#define MOST_DRAWN 1e8
#define LARGEST_FILE ((gsize)1 << 30)

static void
add_stream (PlaitBenchTokens *tokens, gint source, gboolean trees)
{
  PlaitBenchStream stream = { source, trees };

  g_array_append_val (tokens->streams, stream);
}

PlaitBenchTokens *
plait_bench_tokens_new (const PlaitExperiment *experiment)
{
  PlaitBenchTokens *tokens = g_new0 (PlaitBenchTokens, 1);
  gint64 first = 0;

  tokens->experiment = experiment;
  tokens->streams = g_array_new (FALSE, FALSE, sizeof (PlaitBenchStream));
  tokens->ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  tokens->offsets = g_array_new (FALSE, FALSE, sizeof (gint64));
  tokens->batches = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (guint i = 0; i < experiment->n_sources; i++)
    if (plait_input_kind_is_text (experiment->sources[i].kind))
      {
        add_stream (tokens, (gint)i, FALSE);
        if (experiment->sources[i].trees)
          add_stream (tokens, (gint)i, TRUE);
      }
  add_stream (tokens, -1, FALSE);
  g_array_append_val (tokens->offsets, first);
  g_array_append_val (tokens->batches, first);
  return tokens;
}

void
plait_bench_tokens_free (PlaitBenchTokens *tokens)
{
  if (!tokens)
    return;
  g_array_unref (tokens->streams);
  g_array_unref (tokens->ids);
  g_array_unref (tokens->offsets);
  g_array_unref (tokens->batches);
  g_free (tokens);
}

static gint64
last_bound (const PlaitBenchTokens *tokens)
{
  return g_array_index (tokens->batches, gint64, plait_bench_batches (tokens));
}

/* The tuples before @tuple that are in no batch become one, if there are any. */
static void
end_batch (PlaitBenchTokens *tokens, gint64 tuple)
{
  if (tuple > last_bound (tokens))
    g_array_append_val (tokens->batches, tuple);
}

static void
end_stream (PlaitBenchTokens *tokens)
{
  gint64 n = tokens->ids->len;

  g_array_append_val (tokens->offsets, n);
}

/*
 * Reading
 */

/* Appends the numbers of @text, each at least @least and below @end, as one stream. */
static gboolean
read_stream (PlaitBenchTokens *tokens, const char *text, gint64 least, gint64 end, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (guint i = 0; words[i]; i++)
    {
      gint64 number;
      gint32 id;

      if (!plait_parse_integer (words[i], &number) || number < least || number >= end)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "\"%.40s\" is no id; expected an integer from %jd to %jd, ids separated by single spaces",
                           words[i], least, end - 1);
      id = (gint32)number;
      g_array_append_val (tokens->ids, id);
    }
  end_stream (tokens);
  return TRUE;
}

/* Appends the tree @text over the tokens of the last stream. */
static gboolean
read_tree (PlaitBenchTokens *tokens, const char *text, GError **error)
{
  gint64 first = tokens->ids->len, words = first - g_array_index (tokens->offsets, gint64, tokens->offsets->len - 2);
  g_autofree guint8 *has_parent = g_new0 (guint8, 2 * words);

  if (words == 1 && *text == '\0')
    {
      end_stream (tokens);
      return TRUE;
    }
  if (!read_stream (tokens, text, 0, 2 * words - 2, error))
    return FALSE;
  if (tokens->ids->len - first != 2 * (words - 1))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "a tree of %jd numbers over %jd tokens; expected %jd: the left and the right child of each inner node",
        tokens->ids->len - first, words, 2 * (words - 1));
  for (gint64 i = 0; i < 2 * (words - 1); i++)
    {
      gint32 child = g_array_index (tokens->ids, gint32, first + i);

      if (child >= words + i / 2 || has_parent[child]++)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "child %d of node %jd of the tree %s; expected children before parents, each once", child,
                           words + i / 2, child >= words + i / 2 ? "comes after it" : "has two parents");
    }
  return TRUE;
}

/* "text, its trees, target" (transfer full) */
static char *
stream_names (const PlaitBenchTokens *tokens)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < tokens->streams->len; i++)
    {
      const PlaitBenchStream *stream = plait_bench_stream (tokens, i);

      g_string_append (names, i > 0 ? ", " : "");
      g_string_append (names, stream->trees        ? "its trees"
                              : stream->source < 0 ? "the target"
                                                   : tokens->experiment->sources[stream->source].name);
    }
  return g_string_free (g_steal_pointer (&names), FALSE);
}

static gboolean
read_line (PlaitBenchTokens *tokens, const char *line, GError **error)
{
  g_auto (GStrv) texts = g_strsplit (line, "\t", -1);

  if (!texts[0])
    {
      end_batch (tokens, plait_bench_tuples (tokens));
      return TRUE;
    }
  if (g_strv_length (texts) != tokens->streams->len)
    {
      g_autofree char *names = stream_names (tokens);

      return plait_fail (error, PLAIT_ERROR_INPUT, "%u streams; expected %u separated by tabs: %s",
                         g_strv_length (texts), tokens->streams->len, names);
    }
  for (guint i = 0; texts[i]; i++)
    if (!(plait_bench_stream (tokens, i)->trees
              ? read_tree (tokens, texts[i], error)
              : read_stream (tokens, texts[i], PLAIT_TOKEN_EOS, tokens->experiment->data.vocabulary_size, error)))
      return FALSE;
  if (g_array_index (tokens->ids, gint32, tokens->ids->len - 1) != PLAIT_TOKEN_EOS)
    return plait_fail (error, PLAIT_ERROR_INPUT, "the target does not end in %d, the end of a sentence",
                       PLAIT_TOKEN_EOS);
  return TRUE;
}

gboolean
plait_bench_tokens_read (PlaitBenchTokens *tokens, const char *path, GError **error)
{
  gsize size;
  g_autofree char *text = plait_text_file_contents (path, LARGEST_FILE, &size, error);
  gint64 number = 1;

  if (!text)
    return FALSE;
  for (char *rest = text, *line; (line = strsep (&rest, "\n")); number++)
    if (!read_line (tokens, line, error))
      {
        g_prefix_error (error, "%s:%jd: ", path, number);
        return FALSE;
      }
  end_batch (tokens, plait_bench_tuples (tokens));
  if (plait_bench_batches (tokens) > 0)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s: holds no sentences; experiments/peers/tokens.py writes such a file",
                     path);
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

/* Appends a tree over the @words tokens of the last stream. */
static void
draw_tree (PlaitBenchTokens *tokens, gint64 words, PlaitRandomKey key)
{
  PlaitTreeShape given = (PlaitTreeShape)tokens->experiment->data.trees;
  PlaitTreeShape shape = given == PLAIT_TREES_GIVEN ? PLAIT_TREES_RANDOM : given;
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (PlaitTreeStep));
  g_autofree gint64 *left = g_new (gint64, words), *right = g_new (gint64, words);

  plait_tree_control (shape, words, key, steps);
  plait_tree_link ((const PlaitTreeStep *)(gpointer)steps->data, steps->len, words, left, right);
  for (guint i = 0; i < steps->len; i++)
    {
      gint32 children[] = { (gint32)left[i], (gint32)right[i] };

      g_array_append_vals (tokens->ids, children, 2);
    }
}

/* What tuples are drawn from. */
typedef struct
{
  const double *shares;
  PlaitRandomKey words;
  PlaitRandomKey lengths;
  guint64 seed;
} Source;

/* Whether the end token ends a stream. All tokens of a source with a tree are its leaves. */
static gboolean
has_end (const PlaitBenchTokens *tokens, guint stream)
{
  if (plait_bench_stream (tokens, stream)->source < 0)
    return TRUE;
  return tokens->experiment->data.append_end && !plait_bench_stream (tokens, stream + 1)->trees;
}

static void
draw_words (PlaitBenchTokens *tokens, const Source *source, guint stream, gint64 n)
{
  gint64 words = tokens->experiment->data.vocabulary_size - PLAIT_TOKEN_SPECIALS;
  const gint32 end = PLAIT_TOKEN_EOS;
  gboolean ends = has_end (tokens, stream);

  for (gint64 i = ends; i < n; i++)
    {
      gint32 word = draw_word (source->shares, words, plait_random_uniform (source->words, tokens->ids->len));

      g_array_append_val (tokens->ids, word);
    }
  if (ends)
    g_array_append_val (tokens->ids, end);
}

static void
draw_tuple (PlaitBenchTokens *tokens, const Source *source, guint64 tuple)
{
  const PlaitBenchSettings *bench = &tokens->experiment->bench;
  PlaitRandomKey each = plait_random_subkey (source->lengths, tuple);
  /* A part that the streams of a tuple share and a part of each, whose variances add up to the whole. */
  double shared = .95 * bench->length_deviation, own = sqrt (1 - .95 * .95) * bench->length_deviation;
  double centre = bench->mean_length + shared * plait_random_normal (each, 0);
  gint64 n = 0;

  for (guint stream = 0; stream < tokens->streams->len; stream++)
    {
      if (plait_bench_stream (tokens, stream)->trees)
        draw_tree (tokens, n,
                   plait_random_subkey (plait_random_key (source->seed, "bench", "trees", stream - 1), tuple));
      else
        {
          double drawn = round (centre + own * plait_random_normal (each, 1 + stream));

          n = (gint64)CLAMP (drawn, (double)bench->shortest_length, (double)bench->longest_length);
          draw_words (tokens, source, stream, n);
        }
      end_stream (tokens);
    }
}

/* What @tuple counts for the size of a batch of training. */
static gint64
cost_of (const PlaitBenchTokens *tokens, gint64 tuple)
{
  gint64 cost = 0;

  if (tokens->experiment->train.batch_unit == PLAIT_BATCH_BY_SENTENCES)
    return 1;
  for (guint stream = 0; stream < tokens->streams->len; stream++)
    if (!plait_bench_stream (tokens, stream)->trees)
      cost += plait_bench_length (tokens, tuple, stream);
  return cost;
}

/* About so many tokens are drawn. */
static double
wanted_tokens (const PlaitBenchTokens *tokens)
{
  const PlaitExperiment *experiment = tokens->experiment;
  const PlaitBenchSettings *bench = &experiment->bench;
  double wanted = (double)DRAWN_BATCHES * (double)experiment->train.batch;

  if (experiment->train.batch_unit == PLAIT_BATCH_BY_SENTENCES)
    wanted *= (double)tokens->streams->len
              * CLAMP (bench->mean_length, (double)bench->shortest_length, (double)bench->longest_length);
  return wanted;
}

/* As many batches as are drawn; the tuple that fits into none of them any more is dropped. */
gboolean
plait_bench_tokens_draw (PlaitBenchTokens *tokens, GError **error)
{
  const PlaitExperiment *experiment = tokens->experiment;
  guint64 seed = (guint64)experiment->experiment.seed;
  g_autofree double *shares = NULL;
  Source source
      = { NULL, plait_random_key (seed, "bench", "words", 0), plait_random_key (seed, "bench", "lengths", 0), seed };
  gint64 held = 0;

  if (wanted_tokens (tokens) > MOST_DRAWN)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: train.batch=%jd makes %d batches of about %.3g tokens; at most %.0e are drawn: lower it, "
                       "as with --set train.batch=64",
                       experiment->path, experiment->train.batch, DRAWN_BATCHES, wanted_tokens (tokens), MOST_DRAWN);
  source.shares = shares = word_shares (experiment->data.vocabulary_size - PLAIT_TOKEN_SPECIALS);
  for (gint64 tuple = 0; plait_bench_batches (tokens) < DRAWN_BATCHES; tuple++)
    {
      gint64 cost;

      draw_tuple (tokens, &source, (guint64)tuple);
      cost = cost_of (tokens, tuple);
      if (held + cost > experiment->train.batch)
        {
          end_batch (tokens, tuple);
          held = 0;
        }
      held += cost;
    }
  g_array_set_size (tokens->offsets, (guint)(last_bound (tokens) * tokens->streams->len) + 1);
  return TRUE;
}
