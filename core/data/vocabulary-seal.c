/* SPDX-License-Identifier: MIT */
#include "data/vocabulary-seal.h"

#include <string.h>

#include "base/digest.h"

/* A seal is @before, a digest and @after, in the place of what the vocabulary begins with itself: @bare. */
typedef struct
{
  const char *format;
  const char *before;
  const char *after;
  const char *bare;
} Seal;

/* Bytes of @before that may be wrong in what is still taken for a damaged seal. */
#define MOST_WRONG 2

/* SentencePiece: tag and length of the field 1000, 13 + 64 bytes long. */
static const Seal seals[] = {
  { "words", "plait words 2 sha256 ", "\n", "plait words 1\n" },
  { "sentencepiece", "\xc2\x3e\x4dplait sha256 ", "", "" },
  { "published", "plait published 2 sha256 ", "\n", "plait published 1\n" },
};

static gsize
seal_length (const Seal *seal)
{
  return strlen (seal->before) + PLAIT_DIGEST_LENGTH + strlen (seal->after);
}

static const Seal *
seal_of (const char *format)
{
  for (guint i = 0; i < G_N_ELEMENTS (seals); i++)
    if (strcmp (seals[i].format, format) == 0)
      return &seals[i];
  g_assert_not_reached ();
}

GBytes *
plait_vocabulary_seal (const char *format, GBytes *bytes)
{
  const Seal *seal = seal_of (format);
  gsize length;
  const char *data = g_bytes_get_data (bytes, &length);
  gsize skipped = strlen (seal->bare);
  g_autofree char *digest = plait_digest_bytes (data, length);
  GString *file = g_string_new (seal->before);

  g_assert (length >= skipped && memcmp (data, seal->bare, skipped) == 0);
  g_string_append (file, digest);
  g_string_append (file, seal->after);
  g_string_append_len (file, data + skipped, (gssize)(length - skipped));
  return g_string_free_to_bytes (file);
}

/* The seal that @length bytes at @data begin with, right or damaged; NULL: none. */
static const Seal *
find_seal (const char *data, gsize length)
{
  for (guint i = 0; i < G_N_ELEMENTS (seals); i++)
    {
      const char *before = seals[i].before;
      gsize wrong = 0;

      for (gsize k = 0; before[k]; k++)
        wrong += k >= length || data[k] != before[k];
      if (wrong <= MOST_WRONG)
        return &seals[i];
    }
  return NULL;
}

gboolean
plait_vocabulary_is_sealed (gconstpointer beginning, gsize length)
{
  return find_seal (beginning, length) != NULL;
}

GBytes *
plait_vocabulary_unseal (GBytes *file, const char *name, gboolean *sealed, GError **error)
{
  gsize length;
  const char *data = g_bytes_get_data (file, &length);
  const Seal *seal = find_seal (data, length);
  g_autoptr (GString) bytes = NULL;
  g_autoptr (GBytes) held = NULL;
  g_autoptr (GBytes) expected = NULL;

  *sealed = seal != NULL;
  if (!seal)
    return g_bytes_ref (file);
  if (length >= seal_length (seal))
    {
      bytes = g_string_new (seal->bare);
      g_string_append_len (bytes, data + seal_length (seal), (gssize)(length - seal_length (seal)));
      held = g_string_free_to_bytes (g_steal_pointer (&bytes));
      expected = plait_vocabulary_seal (seal->format, held);
      if (g_bytes_equal (expected, file))
        return g_steal_pointer (&held);
    }
  return plait_fail_null (
      error, PLAIT_ERROR_INPUT,
      "%s: is damaged, or was changed: its SHA-256 is not the one in front of it; restore a copy, or make it "
      "again with plait vocabulary",
      name);
}
