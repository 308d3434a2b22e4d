/* SPDX-License-Identifier: MIT */
#include "tensor/output-mixture.h"

#include <math.h>

#include "kernels/gradient-terms.h"

/* Lower limit of c (target) for a target without a logit, so that its loss is finite. */
#define MIN_COPIED 1e-30
/* Upper limit of log ((1 - g) / p) for a copied word, so that its gradient is finite. */
#define MAX_LOG_RATIO 69.0

gint64
plait_output_mixture_find (const PlaitOutputMixture *mixture, gint64 row, gint64 id)
{
  gint64 low = mixture->offsets[row], high = mixture->offsets[row + 1];

  while (low < high)
    {
      gint64 middle = low + (high - low) / 2;

      if (mixture->ids[middle] < id)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

void
plait_output_mixture_note (const PlaitOutputMixture *mixture, gint64 row, gint64 first, const PlaitScalar *logits,
                           gint64 n, PlaitScalar *copied_logits)
{
  gint64 end = mixture->offsets[row + 1];

  for (gint64 word = plait_output_mixture_find (mixture, row, first); word < end && mixture->ids[word] < first + n;
       word++)
    copied_logits[word] = logits[mixture->ids[word] - first];
}

/* Returns log (sigmoid (x)). */
static double
log_sigmoid (double x)
{
  return x < 0 ? x - log1p (exp (x)) : -log1p (exp (-x));
}

double
plait_output_mixture_log_gate (const PlaitOutputMixture *mixture, gint64 row)
{
  return log_sigmoid ((double)mixture->gate[row]);
}

/* Returns log (exp (a) + exp (b)). */
static double
log_add (double a, double b)
{
  double greater = MAX (a, b);

  return greater == -INFINITY ? greater : greater + log1p (exp (MIN (a, b) - greater));
}

double
plait_output_mixture_log_probability (const PlaitOutputMixture *mixture, gint64 row, gint64 word, gint64 words,
                                      const PlaitScalar *copied_logits, double log_sum)
{
  double copied = log_sigmoid (-(double)mixture->gate[row]) + log ((double)mixture->copied[word]);

  if (mixture->ids[word] >= words)
    return copied;
  return log_add (plait_output_mixture_log_gate (mixture, row) + (double)copied_logits[word] - log_sum, copied);
}

/* Returns log p (target). @word: the index of the target among the copied words; -1 if it is not copied. */
static double
target_log_probability (const PlaitOutputMixture *mixture, gint64 row, gint64 word, const PlaitScalar *copied_logits,
                        const PlaitMixedRow *mixed)
{
  if (word < 0 && mixed->target < mixed->words)
    return plait_output_mixture_log_gate (mixture, row) + mixed->logit - mixed->log_sum;
  if (word < 0 || (mixed->target >= mixed->words && (double)mixture->copied[word] < MIN_COPIED))
    return log_sigmoid (-(double)mixture->gate[row]) + log (MIN_COPIED);
  return plait_output_mixture_log_probability (mixture, row, word, mixed->words, copied_logits, mixed->log_sum);
}

void
plait_output_mixture_row (const PlaitOutputMixture *mixture, gint64 row, PlaitScalar *copied_logits,
                          PlaitMixedRow *mixed)
{
  gint64 first = mixture->offsets[row], end = mixture->offsets[row + 1];
  gint64 found = plait_output_mixture_find (mixture, row, mixed->target);
  gint64 own = found < end && mixture->ids[found] == mixed->target ? found : -1;
  double gate = plait_output_mixture_log_gate (mixture, row), rest = log_sigmoid (-(double)mixture->gate[row]);
  double target = target_log_probability (mixture, row, own, copied_logits, mixed);
  double all = 0, generated = mixed->each * (double)mixed->words;

  mixed->target_share = mixed->target < mixed->words ? exp (gate + mixed->logit - mixed->log_sum - target) : 0;
  mixed->best = mixed->best || gate + mixed->greatest - mixed->log_sum < target;
  if (mixed->each > 0)
    all = (double)mixed->words * (gate - mixed->log_sum) + mixed->logits;
  for (gint64 word = first; word < end; word++)
    {
      gint32 id = mixture->ids[word];
      double log_probability = word == own ? target
                                           : plait_output_mixture_log_probability (mixture, row, word, mixed->words,
                                                                                   copied_logits, mixed->log_sum);
      double each = id < mixed->words ? mixed->each : 0, correction = 0;

      if (word != own && (log_probability > target || (log_probability == target && id < mixed->target)))
        mixed->best = FALSE;
      if (each > 0)
        {
          double more = log_probability - (gate + (double)copied_logits[word] - mixed->log_sum);

          all += more;
          correction = each * (1 - exp (-more));
        }
      generated -= correction;
      copied_logits[word] = (PlaitScalar)correction;
      if (mixture->dcopied)
        mixture->dcopied[word]
            = (PlaitScalar)(-mixed->scale
                            * (PLAIT_GRADIENT_TERM (mixture_loss_each, each)
                               + PLAIT_GRADIENT_TERM (mixture_loss_target, word == own ? mixed->rest : 0))
                            * exp (MIN (rest - log_probability, MAX_LOG_RATIO)));
    }
  mixed->generated = generated + mixed->rest * mixed->target_share;
  if (mixture->dcopied)
    mixture->dgate[row] = (PlaitScalar)(mixed->scale
                                        * (PLAIT_GRADIENT_TERM (mixture_loss_gate, exp (gate))
                                           - PLAIT_GRADIENT_TERM (mixture_loss_generated, mixed->generated)));
  mixed->negative_log_likelihood = -target;
  mixed->loss = -mixed->rest * target - mixed->each * all;
}
