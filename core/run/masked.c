/* SPDX-License-Identifier: MIT */
#include "run/masked.h"

/* A piece may have a space in it where it is no word. */
static void
append_pieces (GString *text, const PlaitVocabulary *vocabulary, const gint32 *ids, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    {
      g_autofree char *piece = g_strdelimit (g_strdup (plait_vocabulary_piece (vocabulary, ids[i])), " \t", '_');

      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", piece);
    }
}

char **
plait_masked_text (const PlaitCorpus *corpus, const PlaitVocabulary *vocabulary, const PlaitHypotheses *found,
                   GError **error)
{
  g_autoptr (GStrvBuilder) lines = g_strv_builder_new ();
  gint64 tuple = 0;

  for (gint64 line = 0; line < plait_corpus_lines (corpus); line++)
    {
      g_autoptr (GString) text = g_string_new (NULL);

      for (; tuple < plait_corpus_size (corpus) && plait_corpus_line (corpus, tuple) == line; tuple++)
        {
          g_autoptr (PlaitBatch) batch = found ? NULL : plait_corpus_batch (corpus, &tuple, 1, error);

          if (found)
            append_pieces (text, vocabulary, found[tuple].hypotheses[0].tokens, found[tuple].hypotheses[0].length);
          else if (batch)
            append_pieces (text, vocabulary, batch->target_outputs, plait_ragged_rows (batch->target_rows));
          else
            return NULL;
        }
      g_strv_builder_add (lines, text->str);
    }
  return g_strv_builder_end (lines);
}
