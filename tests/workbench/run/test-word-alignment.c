/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "harness.h"
#include "dumps/word-alignment.h"

/* Tests of words aligned by attention, against alignments made by hand. */

/* Returns a vocabulary of the words a to d, with the ids 4 to 7. (transfer full) */
static PlaitVocabulary *
letters (void)
{
  const char *path = plait_test_path ("letters");
  const char *const paths[] = { path, NULL };
  PlaitVocabularySettings settings = PLAIT_VOCABULARY_DEFAULTS;

  settings.type = "words";
  plait_test_write (path, "a a a a b b b c c d\n");
  return plait_vocabulary_train (&settings, paths, NULL);
}

/*
 * By hand. The source is "a b c" and its end token, the target "d a b" and its end token. Layer 0 has two heads, layer
 * 1 one. The mean over heads of layer 0 aligns d with b (.15 .5 .2 .15). The word a attends most to the end token, so
 * a is not aligned. The word b attends equally to a and b, so the first of them, a, is chosen. In head 1, d attends to
 * the end token as much as to a and c, so d is not aligned. Layer 1 aligns each word with c.
 */
TEST_CASE (word_alignment, by_hand)
{
  g_autoptr (PlaitVocabulary) vocabulary = letters ();
  PlaitScalar first[] = { 0,   .9f, .1f, 0,   .1f, .1f, 0,   .8f, .5f, .5f, 0, 0, 0, 0, 0, 1, /* weights of head 0 */
                          .3f, .1f, .3f, .3f, 0,   0,   .4f, .6f, .5f, .5f, 0, 0, 0, 0, 0, 1 };
  PlaitScalar second[] = { 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
  PlaitRecordedLayer layers[] = { { 2, first }, { 1, second } };
  PlaitRecordedAttention paid = { .layers = layers };
  const gint64 four[] = { 0, 4 };
  const gint64 places[] = { 0, 1, 2, 3 }, nowhere[] = { -1, -1, -1, -1 };
  PlaitLinks links = { .token = places };
  const PlaitMemory memory = { .rows = { 1, four }, .links = &links };
  const PlaitAttentionRecord attention = {
    .n_layers = 2,
    .n_memories = 1,
    .queries = { 1, four },
    .memories = &memory,
    .attentions = &paid,
  };
  const gint64 offsets[] = { 0, 4, 4 };
  const gint32 tokens[] = { 4, 5, 6, PLAIT_TOKEN_EOS };
  PlaitInput input = { .tokens = tokens, .rows = { 2, offsets } };
  const PlaitBatch batch = { .n_sentences = 2, .n_sources = 1, .inputs = &input };
  gint32 found[] = { 7, 4, 5 };
  const PlaitHypothesis best = { .tokens = found, .length = 3, .ended = TRUE };
  PlaitTextMemory source = { .name = "x", .vocabulary = vocabulary };
  PlaitWordAligner aligner = {
    .key = "--alignment", .selection = { 0, PLAIT_ATTENTION_MEAN }, .target = vocabulary, .n = 1, .sources = &source
  };
  g_autoptr (GError) error = NULL;

  g_autofree char *mean = plait_word_aligner_align (&aligner, 0, &batch, 0, &attention, &best, &error);
  CHECK_STRING (mean, "1-0 0-2");
  aligner.selection.head = 1;
  g_autofree char *of_head = plait_word_aligner_align (&aligner, 0, &batch, 0, &attention, &best, &error);
  CHECK_STRING (of_head, "0-2");
  aligner.selection = (PlaitAttentionSelection){ PLAIT_ATTENTION_LAST, PLAIT_ATTENTION_MEAN };
  g_autofree char *last = plait_word_aligner_align (&aligner, 0, &batch, 0, &attention, &best, &error);
  CHECK_STRING (last, "2-0 2-1 2-2");
  g_autofree char *missing = plait_word_aligner_align (&aligner, 0, &batch, 1, &attention, &best, &error);
  CHECK_STRING (missing, "");
  aligner.selection.layer = 2;
  g_autofree char *none = plait_word_aligner_align (&aligner, 0, &batch, 0, &attention, &best, &error);
  CHECK (!none);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "no attention of this layer");
  links.token = nowhere;
  g_autofree char *latents = plait_word_aligner_align (&aligner, 0, &batch, 0, &attention, &best, &error);
  CHECK (!latents);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "--alignment: the encoder of x makes rows that are not tokens");
}
