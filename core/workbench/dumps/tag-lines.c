/* SPDX-License-Identifier: MIT */
#include "dumps/tag-lines.h"

/* A stream of tags. */
typedef struct
{
  const PlaitSourceTags *tags;
  const PlaitVocabulary *words; /* vocabulary of the source */
  const PlaitVocabulary *vocabulary;
  GPtrArray *lines;
} Item;

struct PlaitTagLines
{
  guint n;
  Item *items; /* [n] */
};

void
plait_tag_lines_free (PlaitTagLines *lines)
{
  if (!lines)
    return;
  for (guint i = 0; i < lines->n; i++)
    g_ptr_array_unref (lines->items[i].lines);
  g_free (lines->items);
  g_free (lines);
}

PlaitTagLines *
plait_tag_lines_new (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs)
{
  PlaitTagLines *lines = g_new0 (PlaitTagLines, 1);
  const PlaitSourceTags *tags = plait_model_tags (experiment_model->model, &lines->n);

  lines->items = g_new0 (Item, lines->n);
  for (guint i = 0; i < lines->n; i++)
    {
      const PlaitExperimentSource *source = &experiment_model->experiment->sources[tags[i].source];

      lines->items[i] = (Item){ &tags[i], plait_run_inputs_vocabulary (run_inputs, source->stream),
                                plait_run_inputs_vocabulary (run_inputs, source->factors[tags[i].stream]),
                                g_ptr_array_new_with_free_func (g_free) };
    }
  return lines;
}

void
plait_tag_lines_append (PlaitTagLines *lines, const PlaitBatch *batch, const PlaitEncoderOutputs *outputs)
{
  for (guint i = 0; i < lines->n; i++)
    {
      const Item *item = &lines->items[i];
      const PlaitInput *input = &batch->inputs[item->tags->source];
      g_autofree gint64 *words = g_new (gint64, plait_ragged_longest (input->rows));

      for (gint64 s = 0; s < batch->n_sentences; s++)
        {
          gint64 first = input->rows.offsets[s], length = plait_ragged_length (input->rows, s);
          GString *text = g_string_new (NULL);

          plait_vocabulary_count_words (item->words, input->tokens + first, length, words);
          for (gint64 row = 0; row < length && outputs; row++)
            if (words[row] >= 0 && (row == 0 || words[row] != words[row - 1]))
              g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "",
                                      plait_vocabulary_piece (item->vocabulary, outputs->tags[i][first + row]));
          g_ptr_array_add (item->lines, g_string_free (text, FALSE));
        }
    }
}

gboolean
plait_tag_lines_write (const PlaitTagLines *lines, PlaitStore *store, GError **error)
{
  for (guint i = 0; i < lines->n; i++)
    {
      const Item *item = &lines->items[i];
      g_autofree char *path = g_strconcat ("/tags/", item->tags->name, NULL);

      if (!plait_store_write_strings (store, path, (const char *const *)item->lines->pdata, item->lines->len, error))
        return FALSE;
    }
  return TRUE;
}
