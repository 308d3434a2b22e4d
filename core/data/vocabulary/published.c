/* SPDX-License-Identifier: MIT */
#include "vocabulary/published.h"

#include <string.h>

#include "text/error.h"
#include "text/json-read.h"
#include "text/number.h"
#include "vocabulary/byte-pairs.h"
#include "vocabulary/id-map.h"

#define HEADER "plait published 1\n"
#define SPACE "\xe2\x96\x81" /* U+2581, which SentencePiece writes for a space */

static const struct
{
  const char *name;
  gsize place;
  gint32 minimum;
} fields[] = {
  { "size", G_STRUCT_OFFSET (PlaitPublishedNumbers, size), 1 },
  { "padding", G_STRUCT_OFFSET (PlaitPublishedNumbers, padding), -1 },
  { "beginning", G_STRUCT_OFFSET (PlaitPublishedNumbers, beginning), -1 },
  { "end", G_STRUCT_OFFSET (PlaitPublishedNumbers, end), 0 },
  { "begins", G_STRUCT_OFFSET (PlaitPublishedNumbers, adds_bos), 0 },
  { "spaced", G_STRUCT_OFFSET (PlaitPublishedNumbers, spaced), 0 },
  { "offset", G_STRUCT_OFFSET (PlaitPublishedNumbers, offset), 0 },
};

/* A published vocabulary: byte-level BPE (@byte_pairs) or a SentencePiece model (@subwords). One of the two is NULL. */
typedef struct
{
  PlaitPublishedNumbers numbers;
  PlaitBytePairs *byte_pairs;
  PlaitSentencePiece *subwords;
  gboolean is_marian;  /* TRUE: the pieces of @subwords have their ids in vocab.json */
  char **pieces;       /* [numbers.size] pieces by published ids; while loading, NULL for ids without a piece */
  GHashTable *by_text; /* piece -> published id; keys belong to @pieces */
  PlaitIdMap ids;
  char *absent[PLAIT_TOKEN_SPECIALS]; /* name of each special token that the model lacks; NULL for the others */
} Published;

GString *
plait_published_begin (const PlaitPublishedNumbers *numbers)
{
  GString *kept = g_string_new (HEADER);

  for (gsize i = 0; i < G_N_ELEMENTS (fields); i++)
    g_string_append_printf (kept, "%s %d\n", fields[i].name, G_STRUCT_MEMBER (gint32, numbers, fields[i].place));
  return kept;
}

void
plait_published_append (GString *kept, const char *name, GBytes *file)
{
  gsize size;
  const char *data = g_bytes_get_data (file, &size);

  g_string_append_printf (kept, "file %s %zu\n", name, size);
  g_string_append_len (kept, data, (gssize)size);
}

static void
published_free (gpointer model)
{
  Published *self = model;

  for (gint32 id = 0; self->pieces && id < self->numbers.size; id++)
    g_free (self->pieces[id]);
  g_free (self->pieces);
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    g_free (self->absent[id]);
  plait_id_map_clear (&self->ids);
  g_clear_pointer (&self->by_text, g_hash_table_unref);
  plait_byte_pairs_free (self->byte_pairs);
  if (self->subwords)
    self->subwords->table->free (self->subwords);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Published, published_free)

/* Returns the number after @name and a space on the line at *@at, and moves *@at to the next line; -2 if the line has
 * another form. */
static gint64
take_number (GBytes *bytes, gsize *at, const char *name)
{
  gsize size, length = strlen (name);
  const char *data = g_bytes_get_data (bytes, &size);
  const char *line = data + *at, *end = memchr (line, '\n', size - *at);
  g_autofree char *text = NULL;
  gint64 number;

  if (!end || (gsize)(end - line) <= length || memcmp (line, name, length) != 0 || line[length] != ' ')
    return -2;
  text = g_strndup (line + length + 1, (gsize)(end - line) - length - 1);
  *at = (gsize)(end + 1 - data);
  return plait_parse_integer (text, &number) && number >= -1 ? number : -2;
}

static gboolean
load_numbers (Published *self, GBytes *bytes, gsize *at)
{
  for (gsize i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      gint64 number = take_number (bytes, at, fields[i].name);
      gint64 limit = i == 0 ? PLAIT_VOCABULARY_MAX_SIZE : self->numbers.size - 1;

      if (number < fields[i].minimum || number > limit)
        return FALSE;
      G_STRUCT_MEMBER (gint32, &self->numbers, fields[i].place) = (gint32)number;
    }
  return TRUE;
}

/* Returns the file called @name if it is next at *@at, and moves *@at past it; else NULL. (transfer full) */
static GBytes *
take_file (GBytes *bytes, gsize *at, const char *name)
{
  g_autofree char *field = g_strconcat ("file ", name, NULL);
  gint64 length = take_number (bytes, at, field);
  gsize first = *at;

  if (length < 0 || (guint64)length > g_bytes_get_size (bytes) - first)
    return NULL;
  *at += (gsize)length;
  return g_bytes_new_from_bytes (bytes, first, (gsize)length);
}

static gboolean
has_piece (gconstpointer model, const char *piece)
{
  return g_hash_table_contains (((const Published *)model)->by_text, piece);
}

static gboolean
set_piece (Published *self, gint64 id, const char *piece, const char *name, GError **error)
{
  if (id < 0 || id >= self->numbers.size)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s: the id of \"%s\" is not an integer from 0 to %d; expected ids below vocab_size of config.json", name,
        piece, self->numbers.size - 1);
  if (self->pieces[id])
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: \"%s\" and \"%s\" both have the id %jd; expected a different id for each", name,
                       self->pieces[id], piece, id);
  self->pieces[id] = g_strdup (piece);
  g_hash_table_insert (self->by_text, self->pieces[id], GINT_TO_POINTER ((gint)id));
  return TRUE;
}

/* Adds the pieces and ids of vocab.json. @some: skip ids that are not below the vocab_size of config.json, and allow a
 * file without <unk>. */
static gboolean
set_pieces_of_json (Published *self, GBytes *file, gboolean some, const char *name, gint32 *unknown, GError **error)
{
  g_autoptr (json_t) json
      = plait_json_read_object (g_bytes_get_data (file, NULL), g_bytes_get_size (file), name, error);
  const char *piece;
  json_t *value;

  if (!json)
    return FALSE;
  json_object_foreach (json, piece, value)
  {
    json_int_t id = json_is_integer (value) ? json_integer_value (value) : -1;

    if (!(some && id >= self->numbers.size) && !set_piece (self, id, piece, name, error))
      return FALSE;
  }
  if (has_piece (self, "<unk>"))
    *unknown = GPOINTER_TO_INT (g_hash_table_lookup (self->by_text, "<unk>"));
  return some || *unknown >= 0
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: has no piece \"<unk>\" for unknown text; expected the vocabulary of a published model",
                        name);
}

/* Adds the pieces of the SentencePiece model. If published ids differ from SentencePiece's by an offset, published ids
 * 0 to 3 are <s>, <pad>, </s> and <unk>; SentencePiece's padding, BOS and EOS then have no published id. */
static gboolean
set_pieces_of_model (Published *self, const char *name, gint32 *unknown, GError **error)
{
  int specials[4];

  self->subwords->table->specials (self->subwords, specials);
  *unknown = self->numbers.offset > 0 ? 3 : specials[3];
  for (int id = 0; id < self->subwords->table->size (self->subwords); id++)
    {
      gsize length;
      gboolean special = id == specials[0] || id == specials[1] || id == specials[2];
      gint64 published = id == specials[3] ? *unknown : id + self->numbers.offset;

      if (!(special && self->numbers.offset > 0)
          && !set_piece (self, published, self->subwords->table->piece (self->subwords, id, &length), name, error))
        return FALSE;
    }
  return TRUE;
}

/* Loads the SentencePiece model and its pieces. Sets *@unknown to the published id of the unknown token. */
static gboolean
load_subwords (Published *self, GBytes *model, GBytes *ids, const char *name, const char *ids_name, gint32 *unknown,
               GError **error)
{
  g_autofree char *model_name = g_strconcat (name, ": " PLAIT_PUBLISHED_MODEL, NULL);

  self->subwords = plait_subwords_open (model, model_name, error);
  return self->subwords
         && (ids ? set_pieces_of_json (self, ids, FALSE, ids_name, unknown, error)
                 : set_pieces_of_model (self, model_name, unknown, error));
}

/* Loads byte-level BPE. It encodes every text, so the unknown token is optional. */
static gboolean
load_byte_pairs (Published *self, GBytes *ids, GBytes *merges, const char *name, const char *ids_name, gint32 *unknown,
                 GError **error)
{
  if (set_pieces_of_json (self, ids, TRUE, ids_name, unknown, error))
    self->byte_pairs = plait_byte_pairs_new (self->by_text, merges, name, error);
  return self->byte_pairs != NULL;
}

/* Fills the map from published ids to ours, and gives each id without a piece a name for plots. */
static void
number_ids (Published *self, gint32 unknown)
{
  const PlaitPublishedNumbers *numbers = &self->numbers;
  const gint32 specials[PLAIT_TOKEN_SPECIALS] = {
    numbers->padding,
    numbers->beginning == numbers->end ? -1 : numbers->beginning,
    numbers->end,
    unknown,
  };

  plait_id_map_init (&self->ids, specials, numbers->size);
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    if (specials[id] < 0)
      self->absent[id] = plait_special_unique_name (id, has_piece, self);
    else if (!self->pieces[specials[id]])
      self->pieces[specials[id]] = plait_special_unique_name (id, has_piece, self);
  for (gint32 id = 0; id < numbers->size; id++)
    if (!self->pieces[id])
      self->pieces[id] = g_strdup_printf ("<unused %d>", id);
}

static gpointer
published_load (const PlaitVocabularyFormat *format, GBytes *bytes, const char *name, PlaitVocabularyFacts *facts,
                GError **error)
{
  g_autoptr (Published) self = g_new0 (Published, 1);
  gsize at = strlen (HEADER);
  gboolean known = plait_vocabulary_begins_with (bytes, HEADER) && load_numbers (self, bytes, &at);
  g_autoptr (GBytes) model = known ? take_file (bytes, &at, PLAIT_PUBLISHED_MODEL) : NULL;
  g_autoptr (GBytes) ids = known ? take_file (bytes, &at, "vocab.json") : NULL;
  g_autoptr (GBytes) merges = known ? take_file (bytes, &at, "merges.txt") : NULL;
  g_autofree char *ids_name = g_strconcat (name, ": vocab.json", NULL);
  gint32 unknown = -1;

  if (!known || at != g_bytes_get_size (bytes) || (model ? merges != NULL : !ids || !merges))
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "%s: is not a complete vocabulary of a published model; make it again with plait vocabulary --published", name);
  self->pieces = g_new0 (char *, self->numbers.size);
  self->by_text = g_hash_table_new (g_str_hash, g_str_equal);
  if (!(model ? load_subwords (self, model, ids, name, ids_name, &unknown, error)
              : load_byte_pairs (self, ids, merges, name, ids_name, &unknown, error)))
    return NULL;
  number_ids (self, unknown);
  self->is_marian = model && ids;
  *facts = (PlaitVocabularyFacts){ self->ids.size, self->numbers.adds_bos != 0 };
  return g_steal_pointer (&self);
}

static const char *
published_piece (gconstpointer model, gint32 id)
{
  const Published *self = model;

  return self->ids.theirs[id] < 0 ? self->absent[id] : self->pieces[self->ids.theirs[id]];
}

/* Returns our id of @piece, or of the unknown token if there is no such piece or it is a special token. */
static gint32
id_of (const Published *self, const char *piece)
{
  gpointer id;
  gint32 ours
      = g_hash_table_lookup_extended (self->by_text, piece, NULL, &id) ? self->ids.ours[GPOINTER_TO_INT (id)] : 0;

  return MAX (ours, PLAIT_TOKEN_UNKNOWN);
}

/* Returns the length of a known language token such as ">>fra<<" at the start of @text and its id in *@id; 0 if there
 * is none, or if this is not a model of Marian. */
static gsize
find_language (const Published *self, const char *text, gsize length, gint32 *id)
{
  const char *end
      = self->is_marian && length > 4 && memcmp (text, ">>", 2) == 0 ? memmem (text, length, "<<", 2) : NULL;
  g_autofree char *language = end ? g_strndup (text, (gsize)(end + 2 - text)) : NULL;

  *id = language ? id_of (self, language) : PLAIT_TOKEN_UNKNOWN;
  return *id > PLAIT_TOKEN_UNKNOWN ? strlen (language) : 0;
}

static void
encode_subwords (const Published *self, const char *text, gsize length, GArray *ids)
{
  g_autoptr (GPtrArray) pieces = g_ptr_array_new_with_free_func (g_free);
  gint32 id;
  gsize language = find_language (self, text, length, &id);

  if (language > 0)
    g_array_append_val (ids, id);
  if (!self->subwords->table->encode_pieces (self->subwords, text + language, length - language, pieces))
    g_ptr_array_add (pieces, g_strdup (""));
  for (guint i = 0; i < pieces->len; i++)
    {
      id = id_of (self, pieces->pdata[i]);
      g_array_append_val (ids, id);
    }
}

static void
encode_byte_pairs (const Published *self, const char *text, gsize length, GArray *ids)
{
  g_autofree char *spaced = NULL;
  guint first = ids->len;

  if (self->numbers.spaced && length > 0 && text[0] != ' ')
    {
      spaced = g_strdup_printf (" %.*s", (int)length, text);
      text = spaced;
      length++;
    }
  plait_byte_pairs_encode (self->byte_pairs, text, length, ids);
  for (guint i = first; i < ids->len; i++)
    g_array_index (ids, gint32, i) = MAX (self->ids.ours[g_array_index (ids, gint32, i)], PLAIT_TOKEN_UNKNOWN);
}

static void
published_encode (gconstpointer model, const char *text, gsize length, GArray *ids)
{
  const Published *self = model;

  if (self->byte_pairs)
    encode_byte_pairs (self, text, length, ids);
  else
    encode_subwords (self, text, length, ids);
}

static GString *
decode_subwords (const Published *self, const gint32 *ids, gsize n)
{
  g_autoptr (GPtrArray) pieces = g_ptr_array_new ();
  GString *text;

  for (gsize i = 0; i < n; i++)
    if (ids[i] >= PLAIT_TOKEN_UNKNOWN)
      g_ptr_array_add (pieces, (gpointer)published_piece (self, ids[i]));
  text = self->subwords->table->decode_pieces (self->subwords, (const char *const *)pieces->pdata, pieces->len);
  /* Marian has one model for the source and one for the target. A piece that is only in the other model comes back
   * unchanged, with U+2581 in place of spaces. */
  if (text)
    g_string_replace (text, SPACE, " ", 0);
  return text;
}

static GString *
decode_byte_pairs (const Published *self, const gint32 *ids, gsize n)
{
  GString *text = g_string_new (NULL);

  for (gsize i = 0; i < n; i++)
    if (ids[i] >= PLAIT_TOKEN_UNKNOWN && has_piece (self, published_piece (self, ids[i])))
      plait_byte_pairs_decode (published_piece (self, ids[i]), text);
  if (self->numbers.spaced && text->len > 0 && text->str[0] == ' ')
    g_string_erase (text, 0, 1);
  return text;
}

static char *
published_decode (gconstpointer model, const gint32 *ids, gsize n)
{
  const Published *self = model;

  return plait_vocabulary_make_line (self->byte_pairs ? decode_byte_pairs (self, ids, n)
                                                      : decode_subwords (self, ids, n));
}

const PlaitVocabularyFormat plait_published_format = {
  .format = "published",
  .header = HEADER,
  .seal = "plait published 2 sha256 ",
  .piece = published_piece,
  .encode = published_encode,
  .decode = published_decode,
  .free = published_free,
  .load = published_load,
};
