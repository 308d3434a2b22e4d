/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"

#include <math.h>

#include "documents/labels.h"
#include "cross-attention/rows.h"

/* Predictions that need no search: classes, tags, choices, spans, numbers and masked tokens. */

/* Collects the @best most probable classes or choices of a sentence as hypotheses of one token. The token is the number
 * of the class or choice plus @first. Skips padding. */
static void
collect_classes (PlaitHypotheses *found, const gint32 *ids, const PlaitScalar *log_probabilities, guint best,
                 gint32 first)
{
  found->hypotheses = g_new0 (PlaitHypothesis, best);
  for (; found->n < best && log_probabilities[found->n] > PLAIT_MASKED_LOGIT / 2; found->n++)
    {
      PlaitHypothesis *hypothesis = &found->hypotheses[found->n];

      hypothesis->tokens = g_new (gint32, 1);
      hypothesis->tokens[0] = first + ids[found->n];
      hypothesis->length = 1;
      hypothesis->score = hypothesis->log_probability = (double)log_probabilities[found->n];
    }
}

/* Returns the log of the sum of the exponentials of @n logits. */
static double
log_total (const PlaitScalar *logits, gint64 n)
{
  double maximum = (double)logits[0], sum = 0;

  for (gint64 i = 1; i < n; i++)
    maximum = MAX (maximum, (double)logits[i]);
  for (gint64 i = 0; i < n; i++)
    sum += exp ((double)logits[i] - maximum);
  return maximum + log (sum);
}

typedef struct
{
  gint64 first, last;
  double logits; /* sum of the logits of beginning and end */
} Span;

/* Inserts @span into @spans, the *@n best spans so far, and keeps at most @best of them. Ties go to the earlier
 * span. */
static void
keep_span (Span *spans, guint *n, guint best, Span span)
{
  guint position = MIN (*n, best - 1);

  if (*n == best && !(span.logits > spans[position].logits))
    return;
  *n = MIN (*n + 1, best);
  for (; position > 0 && spans[position - 1].logits < span.logits; position--)
    spans[position] = spans[position - 1];
  spans[position] = span;
}

/* Collects the @best answers, best first. A span of at most @longest text tokens is a hypothesis of two tokens. "No
 * answer" is a hypothesis of one token, -1. A span is ranked by the sum of the logits of its beginning and its end; "no
 * answer" by the sum of the two logits of the first row (Rajpurkar et al. 2018). */
static void
collect_spans (PlaitHypotheses *found, const PlaitInput *input, gint64 sentence, const PlaitScalar *begins,
               const PlaitScalar *ends, gint64 longest, guint best)
{
  gint64 n = plait_ragged_length (input->rows, sentence);
  const gint32 *tokens = input->tokens + input->rows.offsets[sentence];
  g_autofree Span *spans = g_new (Span, best);
  double begin_total, end_total;

  if (n == 0)
    return;
  keep_span (spans, &found->n, best, (Span){ 0, 0, (double)begins[0] + (double)ends[0] });
  for (gint64 i = 1; i < n; i++)
    for (gint64 k = i, length = 0; k < n && plait_token_is_text (tokens[i]); k++)
      {
        if (!plait_token_is_text (tokens[k]))
          continue;
        if (++length > longest)
          break;
        keep_span (spans, &found->n, best, (Span){ i, k, (double)begins[i] + (double)ends[k] });
      }
  begin_total = log_total (begins, n);
  end_total = log_total (ends, n);
  found->hypotheses = g_new0 (PlaitHypothesis, found->n);
  for (guint i = 0; i < found->n; i++)
    {
      PlaitHypothesis *hypothesis = &found->hypotheses[i];

      hypothesis->tokens = g_new (gint32, 2);
      hypothesis->length = spans[i].first == 0 ? 1 : 2;
      hypothesis->tokens[0] = plait_span_token (input, sentence, spans[i].first);
      hypothesis->tokens[1] = plait_span_token (input, sentence, spans[i].last);
      hypothesis->score = hypothesis->log_probability = spans[i].logits - begin_total - end_total;
    }
}

/* Collects one hypothesis with a token for each of @rows masked or tagged tokens. The token is the number of the most
 * probable word or tag plus @first. */
static void
collect_tokens (PlaitHypotheses *found, const gint32 *ids, const PlaitScalar *log_probabilities, gint64 rows,
                gint32 first)
{
  PlaitHypothesis *hypothesis = found->hypotheses = g_new0 (PlaitHypothesis, 1);

  found->n = 1;
  hypothesis->tokens = g_new (gint32, rows);
  hypothesis->length = rows;
  for (gint64 row = 0; row < rows; row++)
    hypothesis->tokens[row] = first + ids[row];
  for (gint64 row = 0; row < rows; row++)
    hypothesis->score = hypothesis->log_probability += (double)log_probabilities[row];
}

/* Collects @number as the text of a hypothesis of one token. */
static void
collect_number (PlaitHypotheses *found, double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  PlaitHypothesis *hypothesis = found->hypotheses = g_new0 (PlaitHypothesis, 1);

  found->n = 1;
  hypothesis->tokens = g_new0 (gint32, 1);
  hypothesis->length = 1;
  hypothesis->score = number;
  plait_hypothesis_set_word (hypothesis, 0, g_strdup (g_ascii_formatd (text, sizeof text, "%.6g", number)));
}

/* Writes the @best highest elements of each row of @logits [rows, n], where n is small: their column numbers and
 * log-probabilities, best first. Of equal elements the lower number comes first. */
static void
best_of_logits (PlaitTensor logits, guint best, gint32 *ids, PlaitScalar *log_probabilities)
{
  g_autofree Span *spans = g_new (Span, best);

  for (gint64 row = 0; row < logits.rows; row++, ids += best, log_probabilities += best)
    {
      const PlaitScalar *values = plait_tensor_row (logits, row);
      double total = log_total (values, logits.width);
      guint n = 0;

      for (gint64 i = 0; i < logits.width; i++)
        keep_span (spans, &n, best, (Span){ i, i, (double)values[i] });
      for (guint k = 0; k < best; k++)
        {
          ids[k] = (gint32)spans[k].first;
          log_probabilities[k] = spans[k].logits <= (double)(PLAIT_MASKED_LOGIT / 2)
                                     ? PLAIT_MASKED_LOGIT
                                     : (PlaitScalar)(spans[k].logits - total);
        }
    }
}

/* Fails the step if one of @n @values is not a finite number. */
static void
expect_finite (PlaitArena *arena, const PlaitScalar *values, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    if (!isfinite (values[i]))
      plait_arena_fail (arena, g_error_new_literal (PLAIT_ERROR, PLAIT_ERROR_INPUT,
                                                    "the model predicts nothing, because its states are not finite "
                                                    "numbers; choose another checkpoint, or check the data"));
}

void
plait_predict (PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch, gint64 n_best, PlaitHypotheses *predictions)
{
  const PlaitModelSpecification *specification = plait_model_specification (model);
  PlaitPredictKind kind = specification->predict.kind;
  PlaitArena *arena = plait_tape_arena (tape);
  const PlaitModelOutput *output = plait_model_output (model);
  gboolean tags = kind == PLAIT_PREDICT_TAGS;
  gint32 first = kind == PLAIT_PREDICT_CLASS || tags ? PLAIT_TOKEN_SPECIALS : 0;
  PlaitEncoderOutputs encoded = plait_model_encode (model, tape, batch, NULL);
  PlaitNode *states = plait_model_states (model, tape, &encoded, batch, NULL);
  PlaitScalar *log_probabilities;
  PlaitRagged rows = tags ? encoded.tagged : batch->target_rows;
  gint32 *ids;
  PlaitTensor values = plait_tape_value (tape, states);
  guint best;

  for (gint64 row = 0; row < values.rows; row++)
    expect_finite (arena, plait_tensor_row (values, row), values.width);
  if (kind == PLAIT_PREDICT_SPAN)
    {
      for (gint64 s = 0; s < batch->n_sentences; s++)
        collect_spans (&predictions[s], &batch->inputs[0], s, plait_tensor_row (values, 2 * s),
                       plait_tensor_row (values, 2 * s + 1), specification->predict.longest_answer, (guint)n_best);
      return;
    }
  if (kind == PLAIT_PREDICT_NUMBER)
    {
      for (gint64 s = 0; s < batch->n_sentences; s++)
        collect_number (&predictions[s], (double)values.data[s]);
      return;
    }
  best = kind == PLAIT_PREDICT_MASKED || tags
             ? 1
             : (guint)MIN (n_best, output ? specification->target_vocabulary_size : states->value.width);
  ids = plait_arena_new_array (arena, gint32, states->value.rows * best);
  log_probabilities = plait_arena_new_array (arena, PlaitScalar, states->value.rows * best);
  if (output)
    {
      PlaitWordDistribution words = plait_model_words (model, tape, &encoded, states, rows, NULL);

      plait_word_distribution_best (&words, tape, NULL, 0, best, ids, log_probabilities);
      for (gint64 row = 0; row < values.rows; row++)
        expect_finite (arena, log_probabilities + row * best, 1);
    }
  else
    best_of_logits (values, best, ids, log_probabilities);
  for (gint64 s = 0; s < batch->n_sentences; s++)
    if (kind == PLAIT_PREDICT_MASKED || tags)
      collect_tokens (&predictions[s], ids + rows.offsets[s], log_probabilities + rows.offsets[s],
                      plait_ragged_length (rows, s), first);
    else
      collect_classes (&predictions[s], ids + s * best, log_probabilities + s * best, best, first);
}
