/* SPDX-License-Identifier: MIT */
#include "search/unknown.h"

#include <string.h>

#include "cross-attention/token-attention.h"
#include "lines/text-file.h"
#include "text/words.h"

struct PlaitUnknownReplacement
{
  guint n;
  PlaitTextMemory *memories; /* [n] */
  GHashTable *dictionary;    /* source word -> translation; NULL: no dictionary */
};

void
plait_unknown_replacement_free (PlaitUnknownReplacement *replacement)
{
  if (!replacement)
    return;
  g_clear_pointer (&replacement->dictionary, g_hash_table_unref);
  g_free (replacement->memories);
  g_free (replacement);
}

/*
 * Functions that read the dictionary
 */

static gboolean
is_one_word (const char *text)
{
  while (*text && !plait_text_is_ascii_space (*text))
    text++;
  return *text == '\0';
}

/* Adds @line, "SOURCE\tTARGET", to @dictionary. */
static gboolean
add_entry (GHashTable *dictionary, const char *line, const PlaitTextReader *reader, GError **error)
{
  const char *tab = strchr (line, '\t');
  g_autofree char *word = tab ? g_strstrip (g_strndup (line, (gsize)(tab - line))) : NULL;
  g_autofree char *translation = tab ? g_strstrip (g_strdup (tab + 1)) : NULL;

  if (!tab || *word == '\0' || *translation == '\0' || strchr (translation, '\t'))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%jd: expected an entry of a dictionary: a source word, a tab and its translation",
                       plait_text_reader_name (reader), plait_text_reader_line (reader));
  if (!is_one_word (word))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%jd: \"%s\" is not one word; expected a source word, a tab and its translation",
                       plait_text_reader_name (reader), plait_text_reader_line (reader), word);
  if (g_hash_table_contains (dictionary, word))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%jd: the word \"%s\" has an entry already; expected one entry for each source word",
                       plait_text_reader_name (reader), plait_text_reader_line (reader), word);
  g_hash_table_insert (dictionary, g_steal_pointer (&word), g_steal_pointer (&translation));
  return TRUE;
}

/* Reads the dictionary at @path. (transfer full) */
static GHashTable *
read_dictionary (const char *path, GError **error)
{
  g_autoptr (GHashTable) dictionary = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, error);
  g_autoptr (GError) fault = NULL;
  const char *line;

  if (!reader)
    return NULL;
  while ((line = plait_text_reader_next (reader, NULL, &fault)))
    if (!add_entry (dictionary, line, reader, error))
      return NULL;
  return plait_no_error (&fault, error) ? g_steal_pointer (&dictionary) : NULL;
}

PlaitUnknownReplacement *
plait_unknown_replacement_new (const PlaitTextMemory *memories, guint n, const char *dictionary, GError **error)
{
  g_autoptr (PlaitUnknownReplacement) replacement = g_new0 (PlaitUnknownReplacement, 1);

  replacement->n = n;
  replacement->memories = g_memdup2 (memories, n * sizeof *memories);
  if (!dictionary || *dictionary == '\0')
    return g_steal_pointer (&replacement);
  replacement->dictionary = read_dictionary (dictionary, error);
  return replacement->dictionary ? g_steal_pointer (&replacement) : NULL;
}

/*
 * Functions that replace unknown words
 */

/* One source of the sentence whose translation has unknown words. */
typedef struct
{
  const PlaitTextMemory *memory;
  const PlaitInput *input;
  gint64 first;  /* first row of the sentence in the input */
  gint64 tokens; /* number of rows */
  gint64 *words; /* number of the word that contains each token, or -1: [tokens] */
  gint64 n_words;
} Source;

/* Returns the weight that target row @target gives to @memory in the last layer that attends to contexts, averaged over
 * heads; 1 if no layer attends to contexts. */
static double
weight_of_memory (const PlaitAttentionRecord *attention, guint memory, gint64 target)
{
  gint64 length = plait_ragged_rows (attention->queries);
  double sum = 0;

  for (guint l = attention->n_layers; l-- > 0;)
    {
      const PlaitRecordedItems *contexts = &attention->contexts[l];

      for (guint h = 0; h < contexts->heads; h++)
        sum += (double)contexts->weights[(h * length + target) * attention->n_memories + memory] / contexts->heads;
      if (contexts->heads > 0)
        return sum;
    }
  return 1;
}

/* Returns the word of @source that target row @target attends to most, and its attention in *@most; -1 if the row
 * attends to no word. */
static gint64
find_most_attended (const Source *source, const PlaitAttentionRecord *attention, gint64 target, double *most)
{
  const PlaitAttentionSelection last = { PLAIT_ATTENTION_LAST, PLAIT_ATTENTION_MEAN };
  g_autofree double *sums = g_new0 (double, source->tokens + 1);
  g_autofree double *paid = g_new0 (double, source->n_words + 1);
  gint64 best = -1;

  *most = 0;
  if (!plait_attention_token_sums (attention, source->memory->memory, source->tokens, target, target + 1, last, sums))
    return -1;
  for (gint64 i = 0; i < source->tokens; i++)
    if (source->words[i] >= 0)
      paid[source->words[i]] += sums[i];
  for (gint64 w = 0; w < source->n_words; w++)
    if (paid[w] > *most)
      {
        best = w;
        *most = paid[w];
      }
  *most *= weight_of_memory (attention, source->memory->memory, target);
  return best;
}

/* Returns the text of word @word of @source. If one of its tokens is unknown, takes the text from the input instead of
 * the vocabulary. (transfer full) */
static char *
text_of_word (const Source *source, gint64 word)
{
  const gint32 *tokens = source->input->tokens + source->first;
  gint64 begin = 0, end;
  char *text;

  while (source->words[begin] != word)
    begin++;
  for (end = begin; end < source->tokens && source->words[end] == word; end++)
    if (source->input->unknown_words && source->input->unknown_words[source->first + end])
      return g_strdup (source->input->unknown_words[source->first + end]);
  text = plait_vocabulary_decode (source->memory->vocabulary, tokens + begin, (gsize)(end - begin));
  return g_strstrip (text);
}

/* Returns the text for the unknown token in target row @target; NULL if the row attends to no word. (transfer full) */
static char *
find_text (const PlaitUnknownReplacement *replacement, const Source *sources, guint n,
           const PlaitAttentionRecord *attention, gint64 target)
{
  g_autofree char *word = NULL;
  const char *translation;
  double most = 0;

  for (guint i = 0; i < n; i++)
    {
      double paid;
      gint64 best = find_most_attended (&sources[i], attention, target, &paid);

      if (best < 0 || paid <= most)
        continue;
      most = paid;
      g_free (word);
      word = text_of_word (&sources[i], best);
    }
  translation = word && replacement->dictionary ? g_hash_table_lookup (replacement->dictionary, word) : NULL;
  return translation ? g_strdup (translation) : g_steal_pointer (&word);
}

gboolean
plait_unknown_replace (const PlaitUnknownReplacement *replacement, const PlaitBatch *batch, gint64 sentence,
                       const PlaitAttentionRecord *attention, PlaitHypothesis *hypothesis, GError **error)
{
  g_autofree Source *sources = g_new0 (Source, replacement->n + 1);
  const char *without_tokens = NULL;
  guint n = 0;

  for (guint i = 0; i < replacement->n; i++)
    {
      const PlaitTextMemory *memory = &replacement->memories[i];
      const PlaitInput *input = &batch->inputs[memory->source];
      Source *source = &sources[n];

      if (plait_input_is_missing (input, sentence))
        continue;
      if (!plait_attention_has_tokens (&attention->memories[memory->memory]))
        {
          without_tokens = memory->name;
          continue;
        }
      *source = (Source){
        .memory = memory,
        .input = input,
        .first = input->rows.offsets[sentence],
        .tokens = plait_ragged_length (input->rows, sentence),
      };
      source->words = g_new (gint64, source->tokens);
      source->n_words = plait_vocabulary_count_words (memory->vocabulary, input->tokens + source->first, source->tokens,
                                                      source->words);
      n++;
    }
  if (n == 0 && without_tokens)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "decode.unknown=replace: the encoder of %s makes rows that are not tokens, so no source word "
                       "can replace <unk>; set decode.unknown=keep or forbid",
                       without_tokens);
  for (gint64 t = 0; t < hypothesis->length; t++)
    if (hypothesis->tokens[t] == PLAIT_TOKEN_UNKNOWN && !(hypothesis->words && hypothesis->words[t]))
      plait_hypothesis_set_word (hypothesis, t, find_text (replacement, sources, n, attention, t));
  for (guint i = 0; i < n; i++)
    g_free (sources[i].words);
  return TRUE;
}
