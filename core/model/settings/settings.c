/* SPDX-License-Identifier: MIT */
#include "settings/settings.h"

#include <math.h>

#include "layers/feed-forward.h"

static const PlaitSettingDefinition decoder_definitions[] = {
  PLAIT_DEFINE_CHOICE (PlaitDecoderSettings, type, "transformer", "transformer;gru;lstm", "Kind of decoder"),
  PLAIT_DEFINE_TEXT (PlaitDecoderSettings, combiner, "serial", "Combiner plugin: how the sources are read together",
                     "Libovicky, Helcl & Marecek 2018, section 3"),
  PLAIT_DEFINE_TEXT (PlaitDecoderSettings, coverage, "none",
                     "Coverage plugin: what the attention paid so far adds to the next scores, so a Transformer trains "
                     "step by step; or none",
                     "Chen et al. 2017, eq. 11-13"),
  PLAIT_DEFINE_CHOICE (
      PlaitDecoderSettings, coverage_heads, "mean", "mean;each",
      "transformer: what coverage counts of several heads: the mean of what they pay, or a state a head"),
  PLAIT_DEFINE_INTEGER (PlaitDecoderSettings, layers, "6", "1", "64", "Decoder layers"),
  PLAIT_DEFINE_INTEGER (PlaitDecoderSettings, width, "512", "1", "16384", "Width of states and embeddings"),
  PLAIT_DEFINE_INTEGER (PlaitDecoderSettings, heads, "8", "1", "256", "Heads of self-attention; must divide the width",
                        "eq. 2"),
  PLAIT_DEFINE_INTEGER (PlaitDecoderSettings, feed_forward, "2048", "1", "131072",
                        "Width of the feed-forward sub-layer's hidden layer"),
  PLAIT_DEFINE_CHOICE (PlaitDecoderSettings, activation, "relu", PLAIT_FEED_FORWARD_ACTIVATIONS,
                       "Activation of the feed-forward sub-layer; gelu is exact, gelu_tanh its approximation",
                       "Hendrycks & Gimpel 2016"),
  PLAIT_DEFINE_CHOICE (PlaitDecoderSettings, norm, "pre", "pre;post",
                       "Where layer norm stands: before each sub-layer, as the paper's own code has it, or after it"),
  PLAIT_DEFINE_REAL (PlaitDecoderSettings, norm_epsilon, "1e-06", "1e-12", "0.1",
                     "What layer norms, those of the sources too, add to the variance; BART, RoBERTa and Marian in "
                     "transformers have 1e-05"),
  PLAIT_DEFINE_REAL (PlaitDecoderSettings, dropout, "0.1", "0", "0.95",
                     "Dropout of embeddings and of every sub-layer's output"),
  PLAIT_DEFINE_REAL (PlaitDecoderSettings, attention_dropout, "0.1", "0", "0.95", "Dropout of attention weights"),
  PLAIT_DEFINE_REAL (PlaitDecoderSettings, feed_forward_dropout, "0.1", "0", "0.95",
                     "Dropout of the feed-forward sub-layer's hidden layer"),
  PLAIT_DEFINE_BOOLEAN (PlaitDecoderSettings, attention_bias, "false",
                        "Biases in the projections of attention; the paper has none", "eq. 2-3"),
  PLAIT_DEFINE_CHOICE (PlaitDecoderSettings, positions, "interleaved", "none;interleaved;concatenated;halves;learned",
                       "Position signal: sinusoids as in Vaswani et al. 2017, as in Neural Monkey, or as in Marian "
                       "(sines, then cosines, of the paper's frequencies), or learned"),
  PLAIT_DEFINE_INTEGER (PlaitDecoderSettings, position_limit, "1024", "2", "1048576",
                        "Most rows of a sentence that learned positions reach"),
  PLAIT_DEFINE_BOOLEAN (PlaitDecoderSettings, embedding_norm, "false",
                        "transformer: a layer norm over embeddings and positions, as BART has it; the paper has none",
                        "Lewis et al. 2020"),
  PLAIT_DEFINE_CHOICE (PlaitDecoderSettings, start, "bos", "bos;eos;pad",
                       "The token that the decoder reads before the first of a target: fairseq and BART have eos, "
                       "Marian in transformers pad"),
  PLAIT_DEFINE_CHOICE (
      PlaitDecoderSettings, roles, "none", "none;own;shared",
      "Where a source has data.document_roles, whether a target of documents has the roles of its sentences too, one "
      "after the other: vectors of its own are added to its tokens, or the source's; the paper does not say",
      "Rohde et al. 2021, section 4.1"),
  PLAIT_DEFINE_BOOLEAN (PlaitDecoderSettings, scale_embeddings, "true",
                        "Multiply embeddings by the root of their width", "Vaswani et al. 2017, 3.4"),
  PLAIT_DEFINE_BOOLEAN (PlaitDecoderSettings, share_embeddings, "true",
                        "One embedding table for all streams of one vocabulary", "section 4.1"),
  PLAIT_DEFINE_BOOLEAN (PlaitDecoderSettings, tie_output, "true",
                        "The transposed target embedding is the output projection", "Press & Wolf 2017"),
  PLAIT_DEFINE_BOOLEAN (PlaitDecoderSettings, output_bias, "false", "A bias for each word of the output projection"),
  PLAIT_DEFINE_INTEGER (
      PlaitDecoderSettings, state_width, "0", "0", "16384",
      "Width of a gru's or lstm's states; 0: as decoder.width, which is that of embeddings and readout"),
  PLAIT_DEFINE_INTEGER (
      PlaitDecoderSettings, context_width, "0", "0", "32768",
      "gru, lstm: width to which memories are projected; 0: as they are, or decoder.width where they differ"),
  PLAIT_DEFINE_CHOICE (PlaitDecoderSettings, reset, "before", "before;after",
                       "gru: reset the state before its product, as the papers write, or the product, as dl4mt does"),
  PLAIT_DEFINE_CHOICE (PlaitDecoderSettings, query, "previous", "previous;intermediate;current",
                       "gru, lstm: the state that asks: the last one, that of a first of two cells (dl4mt's "
                       "conditional GRU), or the new one (Luong et al. 2015)",
                       "Chen et al. 2017, eq. 4 and 7"),
  PLAIT_DEFINE_CHOICE (PlaitDecoderSettings, attention, "additive", "additive;multiplicative;dot",
                       "gru, lstm: score of attention", "Chen et al. 2017, eq. 7; Luong et al. 2015"),
  PLAIT_DEFINE_INTEGER (PlaitDecoderSettings, attention_width, "0", "0", "32768",
                        "gru, lstm: width of the tanh in additive scores; 0: the state's"),
  PLAIT_DEFINE_BOOLEAN (PlaitDecoderSettings, input_feeding, "false",
                        "gru, lstm: the cell reads the readout of the step before too", "Luong et al. 2015, 3.3"),
  PLAIT_DEFINE_CHOICE (PlaitDecoderSettings, readout, "deep", "deep;attentional",
                       "gru, lstm: what the output layer reads: state, embedding and context, or state and context",
                       "dl4mt; Luong et al. 2015, eq. 5"),
  PLAIT_DEFINE_CHOICE (
      PlaitDecoderSettings, initial, "mean", "mean;summary;zero",
      "gru, lstm: the first state, from the mean of the memories' rows, from the encoders' summaries, or zeros",
      "dl4mt; Eriguchi et al. 2016"),
};

const PlaitSettingGroup plait_decoder_group = PLAIT_SETTING_GROUP (
    "decoder", "The decoder, and what it shares with the sources", PlaitDecoderSettings, decoder_definitions);

static const PlaitSettingDefinition predict_definitions[] = {
  PLAIT_DEFINE_CHOICE (PlaitPredictSettings, kind, "sequence", "sequence;class;choice;span;masked",
                       "The target's tokens by the decoder; or a class: each line of data.target is one label; or a "
                       "choice: the number, from 0, of the right one of the sentences of the one source's document, "
                       "which are read each by itself; a span: the numbers, from 0, of the first and the last token of "
                       "the answer in the one source's document, or -1 where it has none; or tokens that are masked in "
                       "the one source, whose stream data.target names too. For the latter no decoder and no combiner "
                       "is there, though [decoder] has what the sources read: widths, norm, dropout, embeddings"),
  PLAIT_DEFINE_CHOICE (
      PlaitPredictSettings, unknown_labels, "error", "error;wrong",
      "class: what a label of a validation or test set is that stands nowhere in training: an error, or one that every "
      "answer misses: it counts as wrong, and the loss and the perplexity leave its line out"),
  PLAIT_DEFINE_CHOICE (PlaitPredictSettings, row, "first", "first;last;mean",
                       "class, choice: the row of a memory that is read: the first, which with documents is a start "
                       "token's, the last, which is the end's, or the mean of all",
                       "Liu et al. 2019, RoBERTa"),
  PLAIT_DEFINE_LIST (PlaitPredictSettings, memories, "", NULL,
                     "class, choice: memories that are read, SOURCE or SOURCE.PART such as doc.sentences; of several "
                     "the rows stand side by side; empty: all"),
  PLAIT_DEFINE_INTEGER (PlaitPredictSettings, longest_answer, "30", "1", "1000000",
                        "span: most tokens of an answer that is told, start tokens of sentences not counted",
                        "Devlin et al. 2019, as its code has it"),
  PLAIT_DEFINE_REAL (
      PlaitPredictSettings, mask_rate, "0.15", "0", "1",
      "masked: share of the tokens that are predicted, other ones in each epoch; one of a sentence at least",
      "Devlin et al. 2019, 3.1; Liu et al. 2019, 4.1"),
  PLAIT_DEFINE_REAL (PlaitPredictSettings, mask_share, "0.8", "0", "1",
                     "masked: share of these in whose place a mask is read", "Devlin et al. 2019, 3.1"),
  PLAIT_DEFINE_REAL (PlaitPredictSettings, random_share, "0.1", "0", "1",
                     "masked: share in whose place a random token is read; the others are read as they are",
                     "Devlin et al. 2019, 3.1"),
};

const PlaitSettingGroup plait_predict_group
    = PLAIT_SETTING_GROUP ("predict", "What is predicted", PlaitPredictSettings, predict_definitions);

const PlaitPrediction plait_predictions[] = {
  [PLAIT_PREDICT_SEQUENCE] = { PLAIT_TARGET_TEXT, NULL, FALSE },
  [PLAIT_PREDICT_CLASS] = { PLAIT_TARGET_LABELS, "accuracy;macro-f1", FALSE },
  [PLAIT_PREDICT_CHOICE] = { PLAIT_TARGET_CHOICE, "accuracy", TRUE },
  [PLAIT_PREDICT_SPAN] = { PLAIT_TARGET_SPAN, "accuracy;span-f1", TRUE },
  [PLAIT_PREDICT_MASKED] = { PLAIT_TARGET_TEXT, "accuracy:words", TRUE },
};

static const PlaitSettingDefinition decode_definitions[] = {
  PLAIT_DEFINE_INTEGER (PlaitDecodeSettings, beam, "5", "1", "1000", "Hypotheses kept a sentence; 1 is greedy search"),
  PLAIT_DEFINE_INTEGER (PlaitDecodeSettings, n_best, "1", "1", "1000", "Hypotheses given a sentence; at most the beam"),
  PLAIT_DEFINE_CHOICE (
      PlaitDecodeSettings, length_normalisation, "wu", "wu;average;none",
      "Divide the log-probability by ((5 + length) / 6)^alpha, by length^alpha as fairseq does, or not at all",
      "Wu et al. 2016, eq. 14"),
  PLAIT_DEFINE_REAL (PlaitDecodeSettings, alpha, "1", "0", "10", "Exponent of the length normalisation", "section 4"),
  PLAIT_DEFINE_REAL (PlaitDecodeSettings, word_reward, "0", "0", "100",
                     "Added to the normalised log-probability for each token, the end counted"),
  PLAIT_DEFINE_CHOICE (PlaitDecodeSettings, ranking, "partial", "partial;final",
                       "partial: normalised scores rank at every step; final: log-probabilities do, and normalised "
                       "scores only what the search ends with"),
  PLAIT_DEFINE_CHOICE (
      PlaitDecodeSettings, finished, "compete", "compete;shrink;refill",
      "compete: finished hypotheses keep their places in the beam by rank, and can lose them to open ones; shrink: "
      "they are set aside, and the beam has as many places less (dl4mt, Marian); refill: they are set aside, and open "
      "ones take their places until a beam of them is finished (fairseq)"),
  PLAIT_DEFINE_INTEGER (PlaitDecodeSettings, no_repeat_ngrams, "0", "0", "1000",
                        "No n-gram of so many pieces may stand twice in a translation; 0: any may",
                        "Paulus et al. 2018, 2.5"),
  PLAIT_DEFINE_INTEGER (PlaitDecodeSettings, minimum_length, "1", "0", "100000",
                        "Fewest tokens of a translation, its end not counted; here and below start tokens of a "
                        "document's sentences count, since each is a step of the search"),
  PLAIT_DEFINE_INTEGER (PlaitDecodeSettings, maximum_length, "200", "1", "100000",
                        "Most tokens of a translation, its end counted"),
  PLAIT_DEFINE_REAL (PlaitDecodeSettings, maximum_ratio, "3", "0", "1000",
                     "Most target tokens for each row of the longest source, plus maximum_offset, but never fewer than "
                     "minimum_length asks for; 0: no such limit"),
  PLAIT_DEFINE_INTEGER (PlaitDecodeSettings, maximum_offset, "10", "0", "100000",
                        "Target tokens that maximum_ratio allows whatever the sources' lengths, the end counted"),
  PLAIT_DEFINE_CHOICE (PlaitDecodeSettings, at_limit, "cut", "cut;end",
                       "cut: the most tokens end a translation as it stands; end: the last of them is its end, at the "
                       "probability that it has there (fairseq)"),
  PLAIT_DEFINE_INTEGER (PlaitDecodeSettings, batch, "32", "1", "100000", "Sentences searched together"),
  PLAIT_DEFINE_CHOICE (PlaitDecodeSettings, precision, "float", "float;int8",
                       "int8: linear layers and the output layer multiply bytes, weights quantised by column and "
                       "states by row; recurrent steps, attention, norms and softmax stay float. Needs AVX-512 VNNI"),
};

const PlaitSettingGroup plait_decode_group
    = PLAIT_SETTING_GROUP ("decode", "Search", PlaitDecodeSettings, decode_definitions);

static double
length_penalty (const PlaitDecodeSettings *settings, gint64 length)
{
  switch (settings->length_normalisation)
    {
    case PLAIT_NORMALISE_WU:
      return pow ((5.0 + (double)length) / 6.0, settings->alpha);
    case PLAIT_NORMALISE_AVERAGE:
      return pow ((double)MAX (length, 1), settings->alpha);
    default:
      return 1;
    }
}

double
plait_hypothesis_score (const PlaitDecodeSettings *settings, double log_probability, gint64 length)
{
  return log_probability / length_penalty (settings, length) + settings->word_reward * (double)length;
}
