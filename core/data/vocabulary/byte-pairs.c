/* SPDX-License-Identifier: MIT */
#include "vocabulary/byte-pairs.h"

#include <string.h>

#include "text/error.h"
#include "text/words.h"
#include "vocabulary/pair-merges.h"

/* A rule that merges two adjacent pieces into one. */
typedef struct
{
  gint32 left, right;
  gint32 merged;
  guint32 rank; /* lower ranks are merged first */
} Merge;

struct PlaitBytePairs
{
  gint32 bytes[256]; /* id of the piece of each single byte */
  Merge *merges;
  GHashTable *by_pair; /* set of Merge, looked up by the pair (left, right) */
};

/*
 * GPT-2 writes each byte as one character: bytes that are visible in Latin-1 as themselves, the others as U+0100,
 * U+0101, ...
 */

static gboolean
is_visible (guint byte)
{
  return (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
}

static gunichar
character_of (guint byte)
{
  gunichar character = 256;

  if (is_visible (byte))
    return byte;
  for (guint i = 0; i < byte; i++)
    character += !is_visible (i);
  return character;
}

/* Returns the byte that @character stands for; -1 if it stands for no byte. */
static int
byte_of (gunichar character)
{
  gunichar next = 256;

  if (character < 256)
    return is_visible (character) ? (int)character : -1;
  for (guint byte = 0; byte < 256; byte++)
    if (!is_visible (byte) && next++ == character)
      return (int)byte;
  return -1;
}

static guint
hash_pair (gconstpointer key)
{
  const Merge *merge = key;

  return (guint)merge->left * 0x9e3779b1u ^ (guint)merge->right * 0x85ebca6bu;
}

static gboolean
equal_pairs (gconstpointer a, gconstpointer b)
{
  const Merge *x = a, *y = b;

  return x->left == y->left && x->right == y->right;
}

void
plait_byte_pairs_free (PlaitBytePairs *self)
{
  if (!self)
    return;
  g_hash_table_unref (self->by_pair);
  g_free (self->merges);
  g_free (self);
}

/* Returns the id of @piece, or -1. */
static gint32
find_piece (GHashTable *ids, const char *piece)
{
  gpointer id;

  return g_hash_table_lookup_extended (ids, piece, NULL, &id) ? GPOINTER_TO_INT (id) : -1;
}

static gboolean
load_bytes (PlaitBytePairs *self, GHashTable *ids, const char *name, GError **error)
{
  for (guint byte = 0; byte < G_N_ELEMENTS (self->bytes); byte++)
    {
      char piece[7];

      piece[g_unichar_to_utf8 (character_of (byte), piece)] = '\0';
      self->bytes[byte] = find_piece (ids, piece);
      if (self->bytes[byte] < 0)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: vocab.json: the piece \"%s\" for byte %u is missing, or its id is not below vocab_size "
                           "of config.json; expected a piece for each byte",
                           name, piece, byte);
    }
  return TRUE;
}

/* Reads "LEFT RIGHT" from @line, which is cut in two. */
static gboolean
load_merge (GHashTable *ids, char *line, guint32 rank, Merge *merge)
{
  char *right = strchr (line, ' ');
  g_autofree char *merged = NULL;

  if (!right || right == line || right[1] == '\0' || strchr (right + 1, ' '))
    return FALSE;
  *right++ = '\0';
  merged = g_strconcat (line, right, NULL);
  *merge = (Merge){ find_piece (ids, line), find_piece (ids, right), find_piece (ids, merged), rank };
  return merge->left >= 0 && merge->right >= 0 && merge->merged >= 0;
}

static gboolean
load_merges (PlaitBytePairs *self, GHashTable *ids, GBytes *bytes, const char *name, GError **error)
{
  gsize size, n = 0;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *text = g_strndup (data, size);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  if (strlen (text) != size || !g_utf8_validate_len (text, size, NULL))
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: merges.txt: is not UTF-8 text; expected two pieces a line", name);
  self->merges = g_new (Merge, g_strv_length (lines) + 1);
  for (gsize i = 0; lines[i]; i++)
    {
      Merge *merge = &self->merges[n];

      if (lines[i][0] == '\0' || (i == 0 && g_str_has_prefix (lines[i], "#version")))
        continue;
      if (!load_merge (ids, lines[i], (guint32)n, merge))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: merges.txt:%zu: expected two pieces with one space between them; vocab.json must have "
                           "both pieces and their concatenation, with ids below vocab_size of config.json",
                           name, i + 1);
      if (!g_hash_table_add (self->by_pair, merge))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: merges.txt:%zu: the file merges these two pieces twice; remove one of the two lines",
                           name, i + 1);
      n++;
    }
  return TRUE;
}

PlaitBytePairs *
plait_byte_pairs_new (GHashTable *ids, GBytes *merges, const char *name, GError **error)
{
  g_autoptr (PlaitBytePairs) self = g_new0 (PlaitBytePairs, 1);

  self->by_pair = g_hash_table_new (hash_pair, equal_pairs);
  return load_bytes (self, ids, name, error) && load_merges (self, ids, merges, name, error) ? g_steal_pointer (&self)
                                                                                             : NULL;
}

/*
 * Text is split before merging. The result is that of the regular expression of GPT-2's encoder, but in linear time:
 *
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 */

typedef enum
{
  LETTER,
  NUMBER,
  SPACE,
  OTHER,
} Class;

/* Returns the class of the character at @at, and its end in *@next. */
static Class
class_of (const char *at, const char **next)
{
  gunichar character = g_utf8_get_char (at);

  *next = g_utf8_next_char (at);
  switch (g_unichar_type (character))
    {
    case G_UNICODE_LOWERCASE_LETTER:
    case G_UNICODE_UPPERCASE_LETTER:
    case G_UNICODE_TITLECASE_LETTER:
    case G_UNICODE_MODIFIER_LETTER:
    case G_UNICODE_OTHER_LETTER:
      return LETTER;
    case G_UNICODE_DECIMAL_NUMBER:
    case G_UNICODE_LETTER_NUMBER:
    case G_UNICODE_OTHER_NUMBER:
      return NUMBER;
    default:
      return plait_text_is_white_space (character) ? SPACE : OTHER;
    }
}

/* Returns the length of the contraction, such as 're, that begins with the apostrophe at @at; 0 if there is none. */
static gsize
contraction (const char *at, const char *end)
{
  static const char *const contractions[] = { "'s", "'t", "'re", "'ve", "'m", "'ll", "'d" };

  for (gsize i = 0; i < G_N_ELEMENTS (contractions); i++)
    {
      gsize length = strlen (contractions[i]);

      if ((gsize)(end - at) >= length && memcmp (at, contractions[i], length) == 0)
        return length;
    }
  return 0;
}

/* Returns the end of the part of text that begins at @at; @end is the end of the text. */
static const char *
next_part (const char *at, const char *end)
{
  const char *next;
  gsize length = *at == '\'' ? contraction (at, end) : 0;
  Class class = class_of (at, &next);

  if (length > 0)
    return at + length;
  /* A space belongs to the part after it. */
  if (*at == ' ' && next < end)
    {
      const char *behind;
      Class following = class_of (next, &behind);

      if (following != SPACE)
        {
          class = following;
          next = behind;
        }
    }
  while (next < end)
    {
      const char *behind;

      if (class_of (next, &behind) != class)
        /* The last of several white-space characters begins the next part. */
        return class == SPACE && g_utf8_next_char (at) < next ? g_utf8_prev_char (next) : next;
      next = behind;
    }
  return end;
}

/* Returns the id of the piece that the list of merges makes of @left and @right, or -1. Sets *@rank to the position of
 * this merge in the list. */
static gint32
find_merge (gconstpointer data, const PlaitMergePiece *left, const PlaitMergePiece *right, double *rank)
{
  const PlaitBytePairs *self = data;
  const Merge pair = { .left = left->id, .right = right->id }, *merge = g_hash_table_lookup (self->by_pair, &pair);

  if (!merge)
    return -1;
  *rank = merge->rank;
  return merge->merged;
}

void
plait_byte_pairs_encode (const PlaitBytePairs *self, const char *text, gsize length, GArray *ids)
{
  g_autoptr (PlaitPairMerger) merger = plait_pair_merger_new ();
  const char *end = text + length;

  while (text < end)
    {
      for (const char *next = next_part (text, end); text < next; text++)
        plait_pair_merger_add (merger, self->bytes[(guint8)*text], 1);
      plait_pair_merger_run (merger, find_merge, self, NULL, ids);
    }
}

void
plait_byte_pairs_decode (const char *piece, GString *bytes)
{
  for (const char *at = piece; *at; at = g_utf8_next_char (at))
    {
      int byte = byte_of (g_utf8_get_char (at));

      if (byte >= 0)
        g_string_append_c (bytes, (char)byte);
      else
        g_string_append_unichar (bytes, g_utf8_get_char (at));
    }
}
