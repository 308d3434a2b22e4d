/* SPDX-License-Identifier: MIT */
#include "scoring/tag-scores.h"

#include "dumps/text-scores.h"

/* A stream of tags. */
typedef struct
{
  guint number; /* index of the stream in plait_model_tags() */
  const PlaitSourceTags *tags;
  const PlaitVocabulary *vocabulary;
  PlaitTextScores texts; /* the tags of each line, joined by spaces */
} Item;

struct PlaitTagScores
{
  const PlaitExperiment *experiment;
  const PlaitCorpus *corpus;
  guint n;
  Item *items; /* [n] */
};

void
plait_tag_scores_free (PlaitTagScores *scores)
{
  if (!scores)
    return;
  for (guint i = 0; i < scores->n; i++)
    {
      g_strfreev (scores->items[i].texts.hypotheses);
      g_strfreev (scores->items[i].texts.references);
    }
  g_free (scores->items);
  g_free (scores);
}

PlaitTagScores *
plait_tag_scores_new (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs,
                      const PlaitCorpus *corpus)
{
  const PlaitExperiment *experiment = experiment_model->experiment;
  guint n;
  const PlaitSourceTags *tags = plait_model_tags (experiment_model->model, &n);
  PlaitTagScores *scores = g_new0 (PlaitTagScores, 1);
  gint64 lines = plait_corpus_lines (corpus);

  *scores = (PlaitTagScores){ experiment, corpus, 0, g_new0 (Item, n) };
  for (guint i = 0; i < n; i++)
    if (tags[i].stream < plait_corpus_n_factors (corpus, tags[i].source))
      scores->items[scores->n++]
          = (Item){ i,
                    &tags[i],
                    plait_run_inputs_vocabulary (run_inputs,
                                                 experiment->sources[tags[i].source].factors[tags[i].stream]),
                    { PLAIT_TEXT_SCORES_TAGS, tags[i].name, g_new0 (char *, lines + 1), g_new0 (char *, lines + 1) } };
  if (scores->n == 0)
    g_clear_pointer (&scores, plait_tag_scores_free);
  return scores;
}

/* Appends the tag @id to @text. */
static void
append (const Item *item, gint32 id, GString *text)
{
  g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", plait_vocabulary_piece (item->vocabulary, id));
}

void
plait_tag_scores_take (const PlaitBatch *batch, const PlaitEncoderOutputs *outputs, gpointer data)
{
  const PlaitTagScores *scores = data;

  for (guint i = 0; i < scores->n; i++)
    for (gint64 s = 0; s < batch->n_sentences; s++)
      {
        const Item *item = &scores->items[i];
        const PlaitInput *input = &batch->inputs[item->tags->source];
        const gint32 *expected = input->factors[item->tags->stream], *said = outputs->tags[item->number];
        GString *hypothesis = g_string_new (NULL), *reference = g_string_new (NULL);
        gint64 line = plait_corpus_line (scores->corpus, batch->sentence[s]);

        for (gint64 row = input->rows.offsets[s]; row < input->rows.offsets[s + 1]; row++)
          if (expected[row] >= PLAIT_TOKEN_UNKNOWN)
            {
              append (item, said[row], hypothesis);
              append (item, expected[row], reference);
            }
        item->texts.hypotheses[line] = g_string_free (hypothesis, FALSE);
        item->texts.references[line] = g_string_free (reference, FALSE);
      }
}

gboolean
plait_tag_scores_add_results (const PlaitTagScores *scores, GPtrArray *results, GError **error)
{
  for (guint i = 0; i < scores->n; i++)
    if (!plait_text_scores_add_results (&scores->items[i].texts, &scores->experiment->evaluate, results, error))
      return FALSE;
  return TRUE;
}

gboolean
plait_tag_scores_write (const PlaitTagScores *scores, PlaitStore *store, const char *group, GError **error)
{
  for (guint i = 0; i < scores->n; i++)
    if (!plait_text_scores_write (&scores->items[i].texts, store, group, error))
      return FALSE;
  return TRUE;
}
