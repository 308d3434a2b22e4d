/* SPDX-License-Identifier: MIT */
#include "vocabulary/sampling.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "text/error.h"
#include "types/input.h"

/* Numbers of fields and values in SentencePiece's protocol buffer (sentencepiece_model.proto). */
enum
{
  MODEL_PIECES = 1,
  MODEL_TRAINER = 2,
  TRAINER_MODEL_TYPE = 3,
  PIECE_TEXT = 1,
  PIECE_TYPE = 3,
  TYPE_NORMAL = 1,
  MODEL_UNIGRAM = 1,
  MODEL_BPE = 2,
};

struct PlaitSubwordSampler
{
  const PlaitVocabulary *vocabulary;
  gboolean bpe;
  gint32 size;
  gboolean *divides; /* [size]: TRUE if the text of the piece may be divided otherwise */
  float *scores;     /* [size] */
  gint32 *table;     /* [slots] open hash table of the ids of pieces that divide; -1: free */
  guint64 slots;     /* a power of two */
  gsize longest;     /* bytes of the longest of these pieces */
};

/*
 * Functions that read the model
 */

/* A part of a protocol buffer that is still to be read. */
typedef struct
{
  const guint8 *at, *end;
} Wire;

static gboolean
read_number (Wire *wire, guint64 *number)
{
  *number = 0;
  for (guint shift = 0; wire->at < wire->end && shift < 64; shift += 7)
    {
      guint8 byte = *wire->at++;

      *number |= (guint64)(byte & 0x7f) << shift;
      if (byte < 0x80)
        return TRUE;
    }
  return FALSE;
}

/* Reads the next field of @wire: its number, and its value in *@value or its bytes in *@bytes. FALSE at the end. */
static gboolean
next_field (Wire *wire, guint64 *field, guint64 *value, Wire *bytes)
{
  guint64 tag, length = 0;

  *value = 0;
  if (!read_number (wire, &tag))
    return FALSE;
  *field = tag >> 3;
  switch (tag & 7)
    {
    case 0:
      return read_number (wire, value);
    case 1:
      length = 8;
      break;
    case 2:
      if (!read_number (wire, &length))
        return FALSE;
      break;
    case 5:
      length = 4;
      break;
    default:
      return FALSE;
    }
  if (length > (guint64)(wire->end - wire->at))
    return FALSE;
  *bytes = (Wire){ wire->at, wire->at + length };
  wire->at += length;
  return TRUE;
}

/* Notes in @normal the text of the piece @wire if it is an ordinary piece. */
static void
note_piece (Wire wire, GHashTable *normal)
{
  guint64 field, value, type = TYPE_NORMAL;
  Wire bytes, text = { NULL, NULL };

  while (next_field (&wire, &field, &value, &bytes))
    if (field == PIECE_TEXT)
      text = bytes;
    else if (field == PIECE_TYPE)
      type = value;
  if (text.at && type == TYPE_NORMAL)
    g_hash_table_add (normal, g_strndup ((const char *)text.at, (gsize)(text.end - text.at)));
}

/* Notes the texts of ordinary pieces of @bytes in @normal, and returns the type of the model. */
static guint64
read_model (GBytes *bytes, GHashTable *normal)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  Wire wire = { data, data + size }, part;
  guint64 field, value, type = MODEL_UNIGRAM;

  while (next_field (&wire, &field, &value, &part))
    if (field == MODEL_PIECES)
      note_piece (part, normal);
    else if (field == MODEL_TRAINER)
      for (Wire bytes_of; next_field (&part, &field, &value, &bytes_of);)
        if (field == TRAINER_MODEL_TYPE)
          type = value;
  return type;
}

/*
 * Functions for pieces
 */

/* Returns the slot of @text [length] in the table, or the free one where it would be. */
static guint64
slot_of (const PlaitSubwordSampler *self, const char *text, gsize length)
{
  guint64 slot = XXH3_64bits (text, length) & (self->slots - 1);

  for (; self->table[slot] >= 0; slot = (slot + 1) & (self->slots - 1))
    {
      const char *piece = plait_vocabulary_piece (self->vocabulary, self->table[slot]);

      if (strncmp (piece, text, length) == 0 && piece[length] == '\0')
        break;
    }
  return slot;
}

/* Returns the id of the piece @text [length], or -1. */
static gint32
find_piece (const PlaitSubwordSampler *self, const char *text, gsize length)
{
  return length > self->longest ? -1 : self->table[slot_of (self, text, length)];
}

PlaitSubwordSampler *
plait_subword_sampler_new (const PlaitVocabulary *vocabulary, GError **error)
{
  g_autoptr (GHashTable) normal = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gboolean sentencepiece = g_str_equal (plait_vocabulary_format (vocabulary), "sentencepiece");
  guint64 type = sentencepiece ? read_model (plait_vocabulary_serialize (vocabulary), normal) : 0;
  PlaitSubwordSampler *self;

  if (type != MODEL_UNIGRAM && type != MODEL_BPE)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "a vocabulary of the kind %s has one segmentation of each text; expected a SentencePiece "
                            "model of type bpe or unigram",
                            sentencepiece ? "SentencePiece word or char" : plait_vocabulary_format (vocabulary));
  self = g_new0 (PlaitSubwordSampler, 1);
  self->vocabulary = vocabulary;
  self->bpe = type == MODEL_BPE;
  self->size = plait_vocabulary_size (vocabulary);
  self->divides = g_new0 (gboolean, self->size);
  self->scores = g_new0 (float, self->size);
  for (self->slots = 16; self->slots < 2 * (guint64)self->size; self->slots *= 2)
    ;
  self->table = g_new (gint32, self->slots);
  memset (self->table, 0xff, self->slots * sizeof *self->table);
  for (gint32 id = PLAIT_TOKEN_SPECIALS; id < self->size; id++)
    {
      const char *piece = plait_vocabulary_piece (vocabulary, id);

      self->scores[id] = (float)plait_vocabulary_score (vocabulary, id);
      self->divides[id] = g_hash_table_contains (normal, piece);
      if (!self->divides[id])
        continue;
      self->longest = MAX (self->longest, strlen (piece));
      self->table[slot_of (self, piece, strlen (piece))] = id;
    }
  return self;
}

void
plait_subword_sampler_free (PlaitSubwordSampler *self)
{
  if (!self)
    return;
  g_free (self->divides);
  g_free (self->scores);
  g_free (self->table);
  g_free (self);
}

/* A text that is divided, and its draws. */
typedef struct
{
  const PlaitSubwordSampler *self;
  const char *text;
  gsize length;
  double strength;
  PlaitRandomKey key;
  guint64 draws; /* number of draws so far */
} Draw;

static double
next_uniform (Draw *draw)
{
  return plait_random_uniform (draw->key, draw->draws++);
}

/*
 * Functions for byte pair encoding
 */

/* Characters, or what was merged of them; a merged symbol has no bytes. */
typedef struct
{
  gsize start, length;
  gint64 previous, next; /* -1: none */
} Symbol;

/* Two neighbouring symbols that together are a piece. */
typedef struct
{
  float score;
  gint64 left, right;
  gsize length; /* bytes of both; differs from those of the symbols if one was merged meanwhile */
} Merge;

static gboolean
goes_before (const Merge *a, const Merge *b)
{
  return a->score > b->score || (a->score == b->score && a->left < b->left);
}

/* Adds the merge of @left and @right, if it is a piece, to the heap @merges. */
static void
add_merge (const Draw *draw, const Symbol *symbols, gint64 left, gint64 right, GArray *merges)
{
  gsize length;
  gint32 id;
  Merge merge;
  guint at;

  if (left < 0 || right < 0)
    return;
  length = symbols[left].length + symbols[right].length;
  id = find_piece (draw->self, draw->text + symbols[left].start, length);
  if (id < 0)
    return;
  merge = (Merge){ draw->self->scores[id], left, right, length };
  g_array_append_val (merges, merge);
  for (at = merges->len - 1; at > 0 && goes_before (&merge, &g_array_index (merges, Merge, (at - 1) / 2));
       at = (at - 1) / 2)
    g_array_index (merges, Merge, at) = g_array_index (merges, Merge, (at - 1) / 2);
  g_array_index (merges, Merge, at) = merge;
}

/* Removes the first merge from the heap @merges. */
static Merge
take_merge (GArray *merges)
{
  Merge first = g_array_index (merges, Merge, 0), last = g_array_index (merges, Merge, merges->len - 1);
  guint at = 0;

  g_array_set_size (merges, merges->len - 1);
  for (guint child = 1; child < merges->len; child = 2 * at + 1)
    {
      child += child + 1 < merges->len
               && goes_before (&g_array_index (merges, Merge, child + 1), &g_array_index (merges, Merge, child));
      if (!goes_before (&g_array_index (merges, Merge, child), &last))
        break;
      g_array_index (merges, Merge, at) = g_array_index (merges, Merge, child);
      at = child;
    }
  if (merges->len > 0)
    g_array_index (merges, Merge, at) = last;
  return first;
}

static void
do_merge (const Draw *draw, Symbol *symbols, const Merge *merge, GArray *merges)
{
  Symbol *left = &symbols[merge->left], *right = &symbols[merge->right];

  left->length = merge->length;
  left->next = right->next;
  if (right->next >= 0)
    symbols[right->next].previous = merge->left;
  right->length = 0;
  add_merge (draw, symbols, left->previous, merge->left, merges);
  add_merge (draw, symbols, merge->left, left->next, merges);
}

/* Appends the pieces of the text of @draw. FALSE, perhaps after some pieces, if a character is not a piece. */
static gboolean
sample_bpe (Draw *draw, GArray *sampled)
{
  g_autofree Symbol *symbols = g_new (Symbol, draw->length);
  g_autoptr (GArray) merges = g_array_new (FALSE, FALSE, sizeof (Merge));
  gint64 n = 0;

  for (gsize at = 0, end; at < draw->length; at = end, n++)
    {
      end = (gsize)(g_utf8_next_char (draw->text + at) - draw->text);
      symbols[n] = (Symbol){ at, end - at, n - 1, end < draw->length ? n + 1 : -1 };
    }
  for (gint64 i = 1; i < n; i++)
    add_merge (draw, symbols, i - 1, i, merges);
  while (merges->len > 0)
    {
      Merge merge = take_merge (merges);
      const Symbol *left = &symbols[merge.left], *right = &symbols[merge.right];

      if (left->length == 0 || right->length == 0 || left->length + right->length != merge.length)
        continue;
      if (next_uniform (draw) >= draw->strength)
        do_merge (draw, symbols, &merge, merges);
    }
  for (gint64 i = 0; i >= 0; i = symbols[i].next)
    {
      gint32 id = find_piece (draw->self, draw->text + symbols[i].start, symbols[i].length);

      if (id < 0)
        return FALSE;
      g_array_append_val (sampled, id);
    }
  return TRUE;
}

/*
 * Functions for the unigram model
 */

/* Returns the end of the character at @at. */
static gsize
end_of_character (const Draw *draw, gsize at)
{
  return (gsize)(g_utf8_next_char (draw->text + at) - draw->text);
}

/* Returns the logarithms of the summed weights of all segmentations of the first i bytes; -INFINITY within characters
 * and where no segmentation ends. (transfer full) */
static double *
sum_forward (const Draw *draw)
{
  const PlaitSubwordSampler *self = draw->self;
  double *forward = g_new (double, draw->length + 1);

  for (gsize i = 0; i <= draw->length; i++)
    forward[i] = i == 0 ? 0 : -INFINITY;
  for (gsize start = 0; start < draw->length; start = end_of_character (draw, start))
    for (gsize end = start; forward[start] > -INFINITY && end < draw->length && end - start < self->longest;)
      {
        double weight, greater;
        gint32 id;

        end = end_of_character (draw, end);
        id = find_piece (self, draw->text + start, end - start);
        if (id < 0)
          continue;
        weight = forward[start] + draw->strength * (double)self->scores[id];
        greater = MAX (weight, forward[end]);
        forward[end] = greater + log (exp (weight - greater) + exp (forward[end] - greater));
      }
  return forward;
}

/* Returns the piece that ends at byte @end of a drawn segmentation, and its start in *@start. */
static gint32
draw_backward (Draw *draw, const double *forward, gsize end, gsize *start)
{
  const PlaitSubwordSampler *self = draw->self;
  double rest = next_uniform (draw);
  gint32 last = -1;

  for (gsize length = 1; length <= MIN (end, self->longest); length++)
    {
      gint32 id = forward[end - length] > -INFINITY ? find_piece (self, draw->text + end - length, length) : -1;

      if (id < 0)
        continue;
      last = id;
      *start = end - length;
      rest -= exp (forward[*start] + draw->strength * (double)self->scores[id] - forward[end]);
      if (rest < 0)
        break;
    }
  return last;
}

/* Appends the pieces of the text of @draw. FALSE if it has no segmentation. */
static gboolean
sample_unigram (Draw *draw, GArray *sampled)
{
  g_autofree double *forward = sum_forward (draw);
  guint first = sampled->len;

  if (forward[draw->length] == -INFINITY)
    return FALSE;
  for (gsize end = draw->length; end > 0;)
    {
      gint32 id = draw_backward (draw, forward, end, &end);

      g_array_append_val (sampled, id);
    }
  for (guint low = first, high = sampled->len; low + 1 < high; low++, high--)
    {
      gint32 id = g_array_index (sampled, gint32, low);

      g_array_index (sampled, gint32, low) = g_array_index (sampled, gint32, high - 1);
      g_array_index (sampled, gint32, high - 1) = id;
    }
  return TRUE;
}

void
plait_subword_sample (const PlaitSubwordSampler *self, double strength, PlaitRandomKey key, const gint32 *ids, gsize n,
                      GArray *sampled)
{
  g_autoptr (GString) text = g_string_new (NULL);
  Draw draw = { .self = self, .strength = strength, .key = key };

  for (gsize i = 0, end; i < n; i = end)
    {
      guint before = sampled->len;

      g_string_truncate (text, 0);
      for (end = i; end < n && self->divides[ids[end]]; end++)
        g_string_append (text, plait_vocabulary_piece (self->vocabulary, ids[end]));
      draw.text = text->str;
      draw.length = text->len;
      if (end > i && (self->bpe ? sample_bpe (&draw, sampled) : sample_unigram (&draw, sampled)))
        continue;
      end = MAX (end, i + 1);
      g_array_set_size (sampled, before);
      g_array_append_vals (sampled, ids + i, (guint)(end - i));
    }
}
