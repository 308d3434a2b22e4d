/* SPDX-License-Identifier: MIT */
#include "words/ngrams.h"

#include "words/text.h"

#include <string.h>

/* A slot of the hash table. Its key is a pair: the id of the (n - 1)-gram with which the n-gram begins, and the last
 * symbol. Its value is the id of the n-gram. */
typedef struct
{
  guint64 pair;
  guint32 number;
  guint32 generation; /* the slot is free unless this is PlaitNgrams.generation, which rises to empty the table */
} Slot;

struct PlaitNgrams
{
  GArray *offsets;    /* gsize, first symbol of each sequence */
  GArray *symbols;    /* guint32, all sequences end to end */
  GArray *numbers;    /* guint32, id of the n-gram that begins at each symbol */
  GHashTable *words;  /* word -> symbol */
  GStringChunk *text; /* owns the keys of @words */
  guint order;
  guint32 distinct; /* number of different n-grams of the current order, whose ids count from 0 */

  Slot *table;
  gsize n_slots; /* table size, a power of two */
  guint32 generation;

  guint32 *counts; /* [3, distinct], counts of each n-gram: in sequence 0, in one reference, and the largest count in
                      any reference */
  gsize counts_room;
};

PlaitNgrams *
plait_ngrams_new (void)
{
  PlaitNgrams *ngrams = g_new0 (PlaitNgrams, 1);
  ngrams->offsets = g_array_new (FALSE, FALSE, sizeof (gsize));
  ngrams->symbols = g_array_sized_new (FALSE, FALSE, sizeof (guint32), 1); /* data is never NULL */
  ngrams->numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  ngrams->words = g_hash_table_new (g_str_hash, g_str_equal);
  ngrams->text = g_string_chunk_new (4096);
  return ngrams;
}

void
plait_ngrams_free (PlaitNgrams *ngrams)
{
  if (!ngrams)
    return;
  g_array_unref (ngrams->offsets);
  g_array_unref (ngrams->symbols);
  g_array_unref (ngrams->numbers);
  g_hash_table_unref (ngrams->words);
  g_string_chunk_free (ngrams->text);
  g_free (ngrams->table);
  g_free (ngrams->counts);
  g_free (ngrams);
}

void
plait_ngrams_clear (PlaitNgrams *ngrams)
{
  g_array_set_size (ngrams->offsets, 0);
  g_array_set_size (ngrams->symbols, 0);
  g_hash_table_remove_all (ngrams->words);
  g_string_chunk_clear (ngrams->text);
  ngrams->order = 0;
}

void
plait_ngrams_add_sequence (PlaitNgrams *ngrams)
{
  gsize offset = ngrams->symbols->len;
  g_assert (ngrams->order == 0);
  g_array_append_val (ngrams->offsets, offset);
}

void
plait_ngrams_append_word (PlaitNgrams *ngrams, const char *word, gsize length)
{
  const char *key = g_string_chunk_insert_len (ngrams->text, word, (gssize)length);
  gpointer known;
  guint32 symbol = g_hash_table_size (ngrams->words);
  if (g_hash_table_lookup_extended (ngrams->words, key, NULL, &known))
    symbol = GPOINTER_TO_UINT (known);
  else
    g_hash_table_insert (ngrams->words, (gpointer)key, GUINT_TO_POINTER (symbol));
  g_array_append_val (ngrams->symbols, symbol);
}

void
plait_ngrams_add_words (PlaitNgrams *ngrams, const char *text)
{
  plait_ngrams_add_sequence (ngrams);
  for (const char *end; plait_text_next_word (&text, &end); text = end)
    plait_ngrams_append_word (ngrams, text, (gsize)(end - text));
}

void
plait_ngrams_add_characters (PlaitNgrams *ngrams, const char *text, gboolean whitespace)
{
  plait_ngrams_add_sequence (ngrams);
  for (; *text; text = g_utf8_next_char (text))
    {
      guint32 character = g_utf8_get_char (text);
      if (whitespace || !plait_text_is_space (character))
        g_array_append_val (ngrams->symbols, character);
    }
}

static gsize
begin_of (const PlaitNgrams *ngrams, guint sequence)
{
  return g_array_index (ngrams->offsets, gsize, sequence);
}

gsize
plait_ngrams_length (const PlaitNgrams *ngrams, guint sequence)
{
  g_assert (sequence < ngrams->offsets->len);
  gsize end = sequence + 1 < ngrams->offsets->len ? begin_of (ngrams, sequence + 1) : ngrams->symbols->len;
  return end - begin_of (ngrams, sequence);
}

const guint32 *
plait_ngrams_symbols (const PlaitNgrams *ngrams, guint sequence)
{
  return (const guint32 *)(gpointer)ngrams->symbols->data + begin_of (ngrams, sequence);
}

gsize
plait_ngrams_total (const PlaitNgrams *ngrams, guint sequence)
{
  gsize length = plait_ngrams_length (ngrams, sequence);
  return length >= ngrams->order ? length - ngrams->order + 1 : 0;
}

static guint32
number_of (PlaitNgrams *ngrams, guint64 pair)
{
  guint64 hash = pair * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  gsize mask = ngrams->n_slots - 1;
  for (gsize i = (gsize)(hash ^ (hash >> 32)) & mask;; i = (i + 1) & mask)
    {
      Slot *place = &ngrams->table[i];
      if (place->generation != ngrams->generation)
        {
          *place = (Slot){ pair, ngrams->distinct++, ngrams->generation };
          return place->number;
        }
      if (place->pair == pair)
        return place->number;
    }
}

static void
reserve_table (PlaitNgrams *ngrams)
{
  gsize wanted = 64;
  while (wanted < 2 * (gsize)ngrams->symbols->len)
    wanted *= 2;
  if (wanted > ngrams->n_slots)
    {
      g_free (ngrams->table);
      ngrams->table = g_new0 (Slot, wanted);
      ngrams->n_slots = wanted;
      ngrams->generation = 0;
    }
  if (++ngrams->generation == 0)
    {
      memset (ngrams->table, 0, ngrams->n_slots * sizeof (Slot));
      ngrams->generation = 1;
    }
}

void
plait_ngrams_next (PlaitNgrams *ngrams)
{
  reserve_table (ngrams);
  g_array_set_size (ngrams->numbers, ngrams->symbols->len);
  ngrams->order++;
  ngrams->distinct = 0;
  const guint32 *symbols = (const guint32 *)(gpointer)ngrams->symbols->data;
  guint32 *numbers = (guint32 *)(gpointer)ngrams->numbers->data;
  for (guint sequence = 0; sequence < ngrams->offsets->len; sequence++)
    {
      gsize begin = begin_of (ngrams, sequence), total = plait_ngrams_total (ngrams, sequence);
      for (gsize i = begin; i < begin + total; i++)
        {
          guint64 prefix = ngrams->order > 1 ? numbers[i] : 0;
          numbers[i] = number_of (ngrams, prefix << 32 | symbols[i + ngrams->order - 1]);
        }
    }

  if (3 * (gsize)ngrams->distinct > ngrams->counts_room)
    {
      ngrams->counts_room = 3 * (gsize)ngrams->distinct;
      g_free (ngrams->counts);
      ngrams->counts = g_new (guint32, ngrams->counts_room);
    }
}

static void
count (const PlaitNgrams *ngrams, guint sequence, guint32 *counts)
{
  const guint32 *numbers = (const guint32 *)(gpointer)ngrams->numbers->data + begin_of (ngrams, sequence);
  gsize total = plait_ngrams_total (ngrams, sequence);
  memset (counts, 0, ngrams->distinct * sizeof (guint32));
  for (gsize i = 0; i < total; i++)
    counts[numbers[i]]++;
}

/* Returns what plait_ngrams_repeated returns if @repeated, else what plait_ngrams_match returns; the references are the
 * sequences @first .. @last - 1. */
static gsize
sum_counts (PlaitNgrams *ngrams, guint first, guint last, gboolean repeated)
{
  guint32 distinct = ngrams->distinct, *own = ngrams->counts, *one, *most;
  gsize sum = 0;

  if (distinct == 0)
    return 0;
  one = own + distinct;
  most = one + distinct;
  memset (most, 0, distinct * sizeof (guint32));
  for (guint reference = first; reference < last; reference++)
    {
      count (ngrams, reference, one);
      for (guint32 i = 0; i < distinct; i++)
        most[i] = MAX (most[i], one[i]);
    }
  count (ngrams, 0, own);
  for (guint32 i = 0; i < distinct; i++)
    sum += repeated ? own[i] - MIN (own[i], MAX (1, most[i])) : MIN (own[i], most[i]);
  return sum;
}

gsize
plait_ngrams_match (PlaitNgrams *ngrams, guint first, guint last)
{
  return sum_counts (ngrams, first, last, FALSE);
}

gsize
plait_ngrams_repeated (PlaitNgrams *ngrams, guint last)
{
  return sum_counts (ngrams, 1, last, TRUE);
}
