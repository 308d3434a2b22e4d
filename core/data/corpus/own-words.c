/* SPDX-License-Identifier: MIT */
#include "corpus/own-words.h"

#include "types/input.h"

void
plait_own_words_clear (PlaitOwnWords *words)
{
  g_clear_pointer (&words->offsets, g_array_unref);
  g_clear_pointer (&words->texts, g_ptr_array_unref);
}

/* Appends the ids of sentence @sentence of @stream to stream->own_ids; own words get the ids from words->first on.
 * @numbers maps each own word of the sentence to its number plus one. An unknown word without a number gets the next
 * number if @adds, else stays unknown. */
static void
add_sentence (PlaitOwnWords *words, PlaitStreamBuilder *stream, gint64 sentence, GHashTable *numbers, gboolean adds)
{
  gint64 end = g_array_index (stream->offsets, gint64, sentence + 1);

  for (gint64 row = g_array_index (stream->offsets, gint64, sentence); row < end; row++)
    {
      gint32 id = g_array_index (stream->ids, gint32, row);
      char *text = stream->unknown->pdata[row];
      gint number = text ? GPOINTER_TO_INT (g_hash_table_lookup (numbers, text)) : 0;

      if (text && number == 0 && adds)
        {
          g_ptr_array_add (words->texts, text);
          number = (gint)g_hash_table_size (numbers) + 1;
          g_hash_table_insert (numbers, text, GINT_TO_POINTER (number));
        }
      if (number > 0)
        id = words->first + number - 1;
      g_array_append_val (stream->own_ids, id);
    }
}

void
plait_own_words_collect (PlaitOwnWords *words, const GPtrArray *streams, gint64 n_sources, gint64 n)
{
  g_autoptr (GHashTable) numbers = NULL;

  *words = (PlaitOwnWords){ 0 };
  for (guint s = 0; s < streams->len; s++)
    words->first = MAX (words->first, ((const PlaitStreamBuilder *)streams->pdata[s])->first_own);
  if (words->first == 0)
    return;
  numbers = g_hash_table_new (g_str_hash, g_str_equal);
  words->offsets = g_array_new (FALSE, TRUE, sizeof (gint64));
  words->texts = g_ptr_array_new ();
  g_array_set_size (words->offsets, 1);
  for (guint s = 0; s < streams->len; s++)
    {
      PlaitStreamBuilder *stream = streams->pdata[s];

      if (stream->first_own > 0)
        stream->own_ids = g_array_new (FALSE, FALSE, sizeof (gint32));
    }
  for (gint64 i = 0; i < n; i++)
    {
      gint64 end;

      g_hash_table_remove_all (numbers);
      for (guint s = 0; s < streams->len; s++)
        {
          PlaitStreamBuilder *stream = streams->pdata[s];

          if (stream->own_ids)
            add_sentence (words, stream, i, numbers, s < n_sources);
        }
      end = words->texts->len;
      g_array_append_val (words->offsets, end);
    }
}
