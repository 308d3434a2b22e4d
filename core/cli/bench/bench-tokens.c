/* SPDX-License-Identifier: MIT */
#include "bench/bench-tokens.h"

#include <math.h>
#include <string.h>

#include "text/error.h"
#include "text/number.h"
#include "types/input.h"
#include "corpus/iterator.h"
#include "lines/text-file.h"
#include "trees/tree-binary.h"

#define DRAWN_BATCHES 16
#define MOST_DRAWN 1e8
#define LARGEST_FILE ((gsize)1 << 30)

PlaitBenchTokens *
plait_bench_tokens_new (const PlaitExperiment *experiment)
{
  PlaitBenchTokens *tokens = g_new0 (PlaitBenchTokens, 1);
  gint64 first = 0;

  tokens->experiment = experiment;
  tokens->documents = g_new0 (PlaitDocumentSettings, experiment->n_sources);
  tokens->streams = g_ptr_array_new_with_free_func (plait_gathered_free);
  tokens->batches = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_array_append_val (tokens->batches, first);
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      PlaitGathered *gathered = plait_gathered_new (source->name, source->kind);

      g_ptr_array_add (tokens->streams, gathered);
      if (!plait_input_kind_is_text (source->kind))
        continue;
      gathered->linked = source->trees != NULL;
      tokens->documents[i] = plait_experiment_documents (experiment, source->stream);
      if (tokens->documents[i].layout != PLAIT_LAYOUT_SENTENCES)
        gathered->documents = &tokens->documents[i];
    }
  g_ptr_array_add (tokens->streams, plait_gathered_new ("the target", PLAIT_INPUT_TOKENS));
  return tokens;
}

void
plait_bench_tokens_free (PlaitBenchTokens *tokens)
{
  if (!tokens)
    return;
  g_ptr_array_unref (tokens->streams);
  g_array_unref (tokens->batches);
  g_free (tokens->documents);
  g_free (tokens);
}

static PlaitGathered *
target_of (const PlaitBenchTokens *tokens)
{
  return tokens->streams->pdata[tokens->experiment->n_sources];
}

/* Tokens of the tuple in the making. */
static gint64
words_of (const PlaitGathered *gathered)
{
  return gathered->ids->len - g_array_index (gathered->offsets, gint64, gathered->offsets->len - 1);
}

/* Cuts the document in the making into sentences of @length tokens each, the last of fewer perhaps, and all of one
 * role. */
static void
cut_document (PlaitGathered *gathered, gint64 length)
{
  gint64 n = words_of (gathered);
  gint32 *ids = (gint32 *)(gpointer)gathered->ids->data + gathered->ids->len - n;

  for (gint64 row = 0; row < n; row += length)
    {
      PlaitDocumentSentence sentence = { (gint32)MIN (length, n - row), 0 };

      if (gathered->documents->starts)
        ids[row] = PLAIT_TOKEN_BOS;
      g_array_append_val (gathered->sentences, sentence);
    }
}

/* The tuple is whole. */
static void
end_tuple (PlaitBenchTokens *tokens)
{
  const PlaitBenchSettings *bench = &tokens->experiment->bench;

  for (guint i = 0; i < tokens->streams->len; i++)
    {
      PlaitGathered *gathered = tokens->streams->pdata[i];

      if (gathered->documents)
        cut_document (gathered, bench->document_sentence);
      plait_gathered_end (gathered, bench->feature_rows);
    }
}

/* The tuples that are in no batch become one, if there are any, but for the last @left of them. */
static void
end_batch (PlaitBenchTokens *tokens, gint64 left)
{
  gint64 end = target_of (tokens)->offsets->len - 1 - left;

  if (end > plait_bench_first (tokens, plait_bench_batches (tokens)))
    g_array_append_val (tokens->batches, end);
}

/*
 * Reading
 */

/* Appends the numbers of @text, each at least @least and below @end. */
static gboolean
read_numbers (GArray *numbers, const char *text, gint64 least, gint64 end, GError **error)
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
      g_array_append_val (numbers, id);
    }
  return TRUE;
}

/* Appends the tree @text over the tokens of the tuple in the making: left and right child of each inner node, as
 * PlaitTrees counts them. */
static gboolean
read_tree (PlaitGathered *gathered, const char *text, GError **error)
{
  GArray *children = gathered->steps;
  gint64 first = children->len, words = words_of (gathered);
  g_autofree guint8 *has_parent = g_new0 (guint8, 2 * words);

  if (words == 1 && *text == '\0')
    return TRUE;
  if (!read_numbers (children, text, 0, 2 * words - 2, error))
    return FALSE;
  if (children->len - first != 2 * (words - 1))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "a tree of %jd numbers over %jd tokens; expected %jd: the left and the right child of each inner node",
        children->len - first, words, 2 * (words - 1));
  for (gint64 i = 0; i < 2 * (words - 1); i++)
    {
      gint32 child = g_array_index (children, gint32, first + i);

      if (child >= words + i / 2 || has_parent[child]++)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "child %d of node %jd of the tree %s; expected children before parents, each once", child,
                           words + i / 2, child >= words + i / 2 ? "comes after it" : "has two parents");
    }
  return TRUE;
}

/* What a line holds: "text", "its trees", "the target". (transfer container) */
static GPtrArray *
list_texts (const PlaitBenchTokens *tokens)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < tokens->streams->len; i++)
    {
      const PlaitGathered *gathered = tokens->streams->pdata[i];

      if (plait_input_kind_is_text (gathered->kind))
        g_ptr_array_add (names, (gpointer)gathered->name);
      if (gathered->linked)
        g_ptr_array_add (names, (gpointer) "its trees");
    }
  return names;
}

static gboolean
check_texts (const PlaitBenchTokens *tokens, guint n, GError **error)
{
  g_autoptr (GPtrArray) names = list_texts (tokens);
  guint expected = names->len;
  g_autofree char *list = NULL;

  if (n == expected)
    return TRUE;
  g_ptr_array_add (names, NULL);
  list = g_strjoinv (", ", (char **)names->pdata);
  return plait_fail (error, PLAIT_ERROR_INPUT, "%u streams; expected %u separated by tabs: %s", n, expected, list);
}

static gboolean
read_line (PlaitBenchTokens *tokens, const char *line, GError **error)
{
  g_auto (GStrv) texts = g_strsplit (line, "\t", -1);
  GArray *target = target_of (tokens)->ids;
  char **text = texts;

  if (!texts[0])
    {
      end_batch (tokens, 0);
      return TRUE;
    }
  if (!check_texts (tokens, g_strv_length (texts), error))
    return FALSE;
  for (guint i = 0; i < tokens->streams->len; i++)
    {
      PlaitGathered *gathered = tokens->streams->pdata[i];

      if (plait_input_kind_is_text (gathered->kind)
          && !read_numbers (gathered->ids, *text++, PLAIT_TOKEN_EOS, tokens->experiment->data.vocabulary_size, error))
        return FALSE;
      if (gathered->linked && !read_tree (gathered, *text++, error))
        return FALSE;
    }
  if (words_of (target_of (tokens)) == 0 || g_array_index (target, gint32, target->len - 1) != PLAIT_TOKEN_EOS)
    return plait_fail (error, PLAIT_ERROR_INPUT, "the target does not end in %d, the end of a sentence",
                       PLAIT_TOKEN_EOS);
  g_array_set_size (target, target->len - 1); /* a batch has it anyhow */
  end_tuple (tokens);
  return TRUE;
}

gboolean
plait_bench_tokens_read (PlaitBenchTokens *tokens, const char *path, GError **error)
{
  g_auto (GStrv) lines = plait_text_file_lines (path, FALSE, LARGEST_FILE, error);

  if (!lines)
    return FALSE;
  for (guint i = 0; lines[i]; i++)
    if (!read_line (tokens, lines[i], error))
      {
        g_prefix_error (error, "%s:%u: ", path, i + 1);
        return FALSE;
      }
  end_batch (tokens, 0);
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

/* What tuples are drawn from. */
typedef struct
{
  const double *shares;
  PlaitRandomKey words;
  PlaitRandomKey lengths;
  guint64 seed;
  guint64 drawn; /* numbers so far: words, ends and children in trees */
} Source;

/* Appends a tree over the @words tokens of the tuple in the making. */
static void
draw_tree (PlaitGathered *gathered, Source *source, PlaitTreeShape shape, gint64 words, PlaitRandomKey key)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (PlaitTreeStep));
  g_autofree gint64 *left = g_new (gint64, words), *right = g_new (gint64, words);

  plait_tree_control (shape == PLAIT_TREES_GIVEN ? PLAIT_TREES_RANDOM : shape, words, key, steps);
  plait_tree_link ((const PlaitTreeStep *)(gpointer)steps->data, steps->len, words, left, right);
  for (guint i = 0; i < steps->len; i++)
    {
      gint32 children[] = { (gint32)left[i], (gint32)right[i] };

      g_array_append_vals (gathered->steps, children, 2);
    }
  source->drawn += 2 * steps->len;
}

/* Appends @n tokens; the last of those of a target is its end, which a batch has anyhow. */
static void
draw_words (const PlaitBenchTokens *tokens, PlaitGathered *gathered, Source *source, gint64 n)
{
  gint64 words = tokens->experiment->data.vocabulary_size - PLAIT_TOKEN_SPECIALS;
  const gint32 end = PLAIT_TOKEN_EOS;
  gboolean is_target = gathered == target_of (tokens);
  /* All tokens of a source with a tree are its leaves. */
  gboolean ends = is_target || (tokens->experiment->data.append_end && !gathered->linked);

  for (gint64 i = ends; i < n; i++)
    {
      gint32 word = draw_word (source->shares, words, plait_random_uniform (source->words, source->drawn++));

      g_array_append_val (gathered->ids, word);
    }
  source->drawn += ends;
  if (ends && !is_target)
    g_array_append_val (gathered->ids, end);
}

/* Returns how many tokens it has. */
static gint64
draw_tuple (PlaitBenchTokens *tokens, Source *source, guint64 tuple)
{
  const PlaitBenchSettings *bench = &tokens->experiment->bench;
  PlaitRandomKey each = plait_random_subkey (source->lengths, tuple);
  /* A part that the streams of a tuple share and a part of each, whose variances add up to the whole. */
  double shared = .95 * bench->length_deviation, own = sqrt (1 - .95 * .95) * bench->length_deviation;
  double centre = bench->mean_length + shared * plait_random_normal (each, 0);
  gint64 all = 0;
  guint64 stream = 0; /* trees are counted as well */

  for (guint i = 0; i < tokens->streams->len; i++)
    {
      PlaitGathered *gathered = tokens->streams->pdata[i];
      double drawn;
      gint64 n;

      if (!plait_input_kind_is_text (gathered->kind))
        continue;
      drawn = round (centre + own * plait_random_normal (each, 1 + stream));
      n = (gint64)CLAMP (drawn, (double)bench->shortest_length, (double)bench->longest_length);
      draw_words (tokens, gathered, source, n);
      if (gathered->linked)
        draw_tree (gathered, source, (PlaitTreeShape)tokens->experiment->data.trees, n,
                   plait_random_subkey (plait_random_key (source->seed, "bench", "trees", stream), tuple));
      stream += 1 + gathered->linked;
      all += n;
    }
  end_tuple (tokens);
  return all;
}

/* About so many tokens are drawn. */
static double
wanted_tokens (const PlaitBenchTokens *tokens)
{
  const PlaitExperiment *experiment = tokens->experiment;
  const PlaitBenchSettings *bench = &experiment->bench;
  g_autoptr (GPtrArray) texts = list_texts (tokens);
  double wanted = (double)DRAWN_BATCHES * (double)experiment->train.batch;

  if (experiment->train.batch_unit == PLAIT_BATCH_BY_SENTENCES)
    wanted *= (double)texts->len
              * CLAMP (bench->mean_length, (double)bench->shortest_length, (double)bench->longest_length);
  return wanted;
}

/* As many batches as are drawn; the tuple that fits into none of them any more stays outside. */
gboolean
plait_bench_tokens_draw (PlaitBenchTokens *tokens, GError **error)
{
  const PlaitExperiment *experiment = tokens->experiment;
  guint64 seed = (guint64)experiment->experiment.seed;
  g_autofree double *shares = NULL;
  Source source = {
    .words = plait_random_key (seed, "bench", "words", 0),
    .lengths = plait_random_key (seed, "bench", "lengths", 0),
    .seed = seed,
  };
  gint64 held = 0;

  if (wanted_tokens (tokens) > MOST_DRAWN)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: train.batch=%jd makes %d batches of about %.3g tokens; at most %.0e are drawn: lower it, "
                       "as with --set train.batch=64",
                       experiment->path, experiment->train.batch, DRAWN_BATCHES, wanted_tokens (tokens), MOST_DRAWN);
  source.shares = shares = word_shares (experiment->data.vocabulary_size - PLAIT_TOKEN_SPECIALS);
  for (guint64 tuple = 0; plait_bench_batches (tokens) < DRAWN_BATCHES; tuple++)
    {
      gint64 words = draw_tuple (tokens, &source, tuple);
      gint64 cost = experiment->train.batch_unit == PLAIT_BATCH_BY_SENTENCES ? 1 : words;

      if (held + cost > experiment->train.batch)
        {
          end_batch (tokens, 1);
          held = 0;
        }
      held += cost;
    }
  return TRUE;
}
