/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "harness.h"

#include "significance/report.h"
#include "text/error.h"
#include "vocabulary/vocabulary.h"

#include <string.h>

/* Tests of tokenisers that need a module or a model. tests/evaluate/sacrebleu.c tests the others. */

static const char *const japanese[]
    = { "これはテストです。東京都に住んでいます。", "私は学生であるが、AIを勉強した。" };
static const char *const translations[] = { "これは試験です。東京に住んでいます。", "私は学生だが、AIも勉強した。" };

/* Returns the result of the metric @name for the two sentences; NULL with @error. */
static PlaitResult *
score (const char *name, GError **error)
{
  const char *const *sets[] = { japanese };
  PlaitTextPairs pairs = { G_N_ELEMENTS (japanese), translations, 1, sets };
  g_autoptr (PlaitMetric) metric = plait_metric_new (name, error);

  return metric ? plait_evaluate (metric, &pairs, 0, 1, error) : NULL;
}

/* The expected values are those of sacreBLEU 2.6.0 with the package ipadic, and of rouge-score 0.1.2 with the same
 * tokens. */
TEST_CASE (tokenisers, japanese)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitResult) bleu = score ("bleu:tok=ja-mecab", &error);
  g_autoptr (PlaitResult) rouge = bleu ? score ("rouge:type=L,tok=ja-mecab", NO_ERROR) : NULL;

  if (!bleu && strstr (error->message, "libmecab-dev"))
    SKIP_TEST ("MeCab is not installed");
  REQUIRE (bleu && rouge);
  CHECK_NEAR (bleu->score, 45.47031375995931, 1e-10);
  CHECK_NEAR (rouge->score, 84.0, 1e-10);
  CHECK_CONTAINS (bleu->signature, "|tok:ja-mecab-0.996-IPA|");
}

/* BLEU over pieces of a model equals BLEU over text that was cut into these pieces before. */
TEST_CASE (tokenisers, pieces_of_a_model)
{
  PlaitVocabularySettings settings = PLAIT_VOCABULARY_DEFAULTS;
  const char *const paths[] = { plait_test_write ("text", "the cat sat on the mat\na dog sat on a cat\n"), NULL };
  const char *const hypotheses[] = { "the cat sat on a dog", "a mat" };
  const char *const references[] = { "the cat sat on a mat", "a dog sat" };
  char *cut[2][2];

  settings.size = 30;
  g_autoptr (PlaitVocabulary) vocabulary = plait_vocabulary_train (&settings, paths, NO_ERROR);
  REQUIRE (vocabulary != NULL);
  g_autoptr (GBytes) bytes = plait_vocabulary_to_file (vocabulary);
  const char *path = plait_test_path ("flores.model");
  CHECK (g_file_set_contents (path, g_bytes_get_data (bytes, NULL), (gssize)g_bytes_get_size (bytes), NULL));
  for (guint side = 0; side < 2; side++)
    for (guint i = 0; i < 2; i++)
      {
        const char *line = side ? references[i] : hypotheses[i];
        g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
        GString *text = g_string_new (NULL);

        plait_vocabulary_encode (vocabulary, line, strlen (line), ids);
        for (guint k = 0; k < ids->len; k++)
          g_string_append_printf (text, "%s ", plait_vocabulary_piece (vocabulary, g_array_index (ids, gint32, k)));
        cut[side][i] = g_string_free (text, FALSE);
      }
  const char *const *sets[] = { references }, *const * cut_sets[] = { (const char *const *)cut[1] };
  PlaitTextPairs whole = { 2, hypotheses, 1, sets }, pieces = { 2, (const char *const *)cut[0], 1, cut_sets };
  g_autoptr (PlaitMetric) of_text
      = plait_metric_new (plait_test_format ("bleu:tok=flores200,model=%s", path), NO_ERROR);
  g_autoptr (PlaitMetric) of_pieces = plait_metric_new ("bleu:tok=none", NO_ERROR);
  REQUIRE (of_text && of_pieces);
  g_autoptr (PlaitResult) got = plait_evaluate (of_text, &whole, 0, 1, NO_ERROR);
  g_autoptr (PlaitResult) expected = plait_evaluate (of_pieces, &pieces, 0, 1, NO_ERROR);
  REQUIRE (got && expected);
  CHECK_NEAR (got->score, expected->score, 1e-12);
  CHECK (got->score > 10 && got->score < 90);
  CHECK_CONTAINS (got->signature, "|tok:flores200|");
  for (guint i = 0; i < 4; i++)
    g_free (cut[i / 2][i % 2]);
}

TEST_CASE (tokenisers, refusals)
{
  static const struct
  {
    const char *metric, *part;
  } refused[] = {
    { "bleu:tok=flores200", "metric \"bleu:tok=flores200\": the tokeniser flores200 needs the SentencePiece model of "
                            "that name; give its path with model=FILE" },
    { "bleu:model=x", "the tokeniser 13a reads no SentencePiece model; leave \"model\" out, or give tok=flores200" },
    { "bleu:tok=flores200,model=/none", "/none" },
    { "rouge:model=x", "\"model\" belongs to tok=flores101 and tok=flores200; leave \"model\" out" },
    { "rouge:stem,tok=zh", "\"stem\" works only with tok=a-z0-9; leave out \"stem\" or tok=" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      CONTEXT ("%s", refused[i].metric);
      g_autoptr (GError) error = NULL;
      g_autoptr (PlaitMetric) metric = plait_metric_new (refused[i].metric, &error);

      CHECK (!metric);
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, refused[i].part);
    }
}

/* By default, ROUGE finds only words of English letters and digits. */
TEST_CASE (tokenisers, counts_references_without_words)
{
  const char *const set[] = { "これは", "the cat", "", "。" };
  const char *const more[] = { NULL, "。", NULL, "a" };
  const char *const *sets[] = { set, more };
  PlaitTextPairs pairs = { 4, set, 2, sets };
  g_autoptr (PlaitMetric) english = plait_metric_new ("rouge", NULL);
  g_autoptr (PlaitMetric) chinese = plait_metric_new ("rouge:tok=zh", NULL);
  gsize references;

  CHECK_INT (plait_metric_count_wordless (english, &pairs, &references), 3);
  CHECK_INT (references, 6);
  CHECK_INT (plait_metric_count_wordless (chinese, &pairs, &references), 0);
}
