/* SPDX-License-Identifier: MIT */
#include "vocabulary/sampling.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "text/error.h"
#include "types/input.h"
#include "vocabulary/pair-merges.h"

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

typedef struct
{
  const char *text; /* text of the piece; NULL if sampling does not replace the piece */
  gsize length;
  float score;
} Piece;

/* SentencePiece's SampleEncode is not used: it draws from a generator of each thread, which is seeded once, so results
 * would depend on the threads. */
struct PlaitSubwordSampler
{
  gboolean bpe;
  Piece *pieces;       /* [size of the vocabulary] pieces by id */
  GHashTable *by_text; /* set of the Pieces of type NORMAL, which sampling replaces; looked up by text */
  gsize longest;       /* bytes of the longest piece in @by_text */
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

/* Reads the next field of @wire: its number, and its value in *@value or its bytes in *@bytes. FALSE at the end and
 * on malformed bytes. */
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

/* Adds the text of the piece in @wire to @normal if it is an ordinary piece. */
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

/* Adds the texts of the ordinary pieces of the model @bytes to @normal. Returns the type of the model. */
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

static guint
hash_text (gconstpointer key)
{
  const Piece *piece = key;

  return (guint)XXH3_64bits (piece->text, piece->length);
}

static gboolean
equal_texts (gconstpointer a, gconstpointer b)
{
  const Piece *x = a, *y = b;

  return x->length == y->length && memcmp (x->text, y->text, x->length) == 0;
}

/* Returns the id of the piece @text [length], or -1. */
static gint32
find_piece (const PlaitSubwordSampler *self, const char *text, gsize length)
{
  const Piece key = { text, length, 0 };
  const Piece *piece = length > self->longest ? NULL : g_hash_table_lookup (self->by_text, &key);

  return piece ? (gint32)(piece - self->pieces) : -1;
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
                            "a vocabulary of the kind %s has only one segmentation of each text, so none can be "
                            "sampled; expected a SentencePiece model of type bpe or unigram",
                            sentencepiece ? "SentencePiece word or char" : plait_vocabulary_format (vocabulary));
  self = g_new0 (PlaitSubwordSampler, 1);
  self->bpe = type == MODEL_BPE;
  self->pieces = g_new0 (Piece, plait_vocabulary_size (vocabulary));
  self->by_text = g_hash_table_new (hash_text, equal_texts);
  for (gint32 id = PLAIT_TOKEN_SPECIALS; id < plait_vocabulary_size (vocabulary); id++)
    {
      const char *text = plait_vocabulary_piece (vocabulary, id);

      if (!g_hash_table_contains (normal, text))
        continue;
      self->pieces[id] = (Piece){ text, strlen (text), (float)plait_vocabulary_score (vocabulary, id) };
      self->longest = MAX (self->longest, self->pieces[id].length);
      g_hash_table_add (self->by_text, &self->pieces[id]);
    }
  return self;
}

void
plait_subword_sampler_free (PlaitSubwordSampler *self)
{
  if (!self)
    return;
  g_free (self->pieces);
  g_hash_table_unref (self->by_text);
  g_free (self);
}

/* A text that is segmented at random. Its memory is reused for the next text. */
typedef struct
{
  const PlaitSubwordSampler *self;
  GString *text;
  PlaitMergeDropout draws;
  PlaitPairMerger *merger; /* used for BPE */
  GArray *forward;         /* (element-type double) sums that sum_forward computes; used for unigram models */
} Draw;

/* Returns the end of the character at byte @at. */
static gsize
end_of_character (const Draw *draw, gsize at)
{
  return (gsize)(g_utf8_next_char (draw->text->str + at) - draw->text->str);
}

/*
 * Functions for byte pair encoding
 */

/* Returns the id of the piece that @left and @right spell, or -1; the highest score is merged first. */
static gint32
find_merge (gconstpointer data, const PlaitMergePiece *left, const PlaitMergePiece *right, double *rank)
{
  const Draw *draw = data;
  gint32 id = find_piece (draw->self, draw->text->str + left->start, left->length + right->length);

  *rank = id < 0 ? 0 : -(double)draw->self->pieces[id].score;
  return id;
}

/* Appends the ids of the pieces of the text of @draw, -1 for an unmerged character that is not a piece. FALSE if an
 * appended id is -1. */
static gboolean
sample_bpe (Draw *draw, GArray *sampled)
{
  guint first = sampled->len;

  for (gsize at = 0, end; at < draw->text->len; at = end)
    {
      end = end_of_character (draw, at);
      plait_pair_merger_add (draw->merger, find_piece (draw->self, draw->text->str + at, end - at),
                             (guint32)(end - at));
    }
  plait_pair_merger_run (draw->merger, find_merge, draw, &draw->draws, sampled);
  for (guint i = first; i < sampled->len; i++)
    if (g_array_index (sampled, gint32, i) < 0)
      return FALSE;
  return TRUE;
}

/*
 * Functions for the unigram model
 */

/* Returns an array [bytes + 1]. Entry i is the logarithm of the summed weights of all segmentations of the first i
 * bytes; -INFINITY within characters and where no segmentation ends. (transfer none) */
static const double *
sum_forward (const Draw *draw)
{
  const PlaitSubwordSampler *self = draw->self;
  double *forward = (double *)(gpointer)g_array_set_size (draw->forward, (guint)draw->text->len + 1)->data;

  for (gsize i = 0; i <= draw->text->len; i++)
    forward[i] = i == 0 ? 0 : -INFINITY;
  for (gsize start = 0; start < draw->text->len; start = end_of_character (draw, start))
    for (gsize end = start; forward[start] > -INFINITY && end < draw->text->len && end - start < self->longest;)
      {
        double weight, greater;
        gint32 id;

        end = end_of_character (draw, end);
        id = find_piece (self, draw->text->str + start, end - start);
        if (id < 0)
          continue;
        weight = forward[start] + draw->draws.strength * (double)self->pieces[id].score;
        greater = MAX (weight, forward[end]);
        forward[end] = greater + log (exp (weight - greater) + exp (forward[end] - greater));
      }
  return forward;
}

/* Draws a piece that ends at byte @end, in proportion to the weights of segmentations. Returns its id, and its start in
 * *@start. */
static gint32
draw_backward (Draw *draw, const double *forward, gsize end, gsize *start)
{
  const PlaitSubwordSampler *self = draw->self;
  double rest = plait_random_uniform (draw->draws.key, draw->draws.draws++);
  gint32 last = -1;

  for (gsize length = 1; length <= MIN (end, self->longest); length++)
    {
      gint32 id = forward[end - length] > -INFINITY ? find_piece (self, draw->text->str + end - length, length) : -1;

      if (id < 0)
        continue;
      last = id;
      *start = end - length;
      rest -= exp (forward[*start] + draw->draws.strength * (double)self->pieces[id].score - forward[end]);
      if (rest < 0)
        break;
    }
  return last;
}

/* Appends the pieces of the text of @draw. FALSE if it has no segmentation. */
static gboolean
sample_unigram (Draw *draw, GArray *sampled)
{
  const double *forward = sum_forward (draw);
  guint first = sampled->len;

  if (forward[draw->text->len] == -INFINITY)
    return FALSE;
  for (gsize end = draw->text->len; end > 0;)
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
  g_autoptr (PlaitPairMerger) merger = plait_pair_merger_new ();
  g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (double));
  Draw draw = { self, text, { strength, key, 0 }, merger, forward };

  for (gsize i = 0, end; i < n; i = end)
    {
      guint before = sampled->len;

      g_string_truncate (text, 0);
      for (end = i; end < n && self->pieces[ids[end]].text; end++)
        g_string_append_len (text, self->pieces[ids[end]].text, (gssize)self->pieces[ids[end]].length);
      if (end > i && (self->bpe ? sample_bpe (&draw, sampled) : sample_unigram (&draw, sampled)))
        continue;
      end = MAX (end, i + 1);
      g_array_set_size (sampled, before);
      g_array_append_vals (sampled, ids + i, (guint)(end - i));
    }
}
