/* SPDX-License-Identifier: MIT */
#include "toy.h"

#include <math.h>
#include <string.h>

#include "harness.h"
#include "process/random.h"
#include "types/input.h"

gint32
toy_size (const Toy *toy)
{
  return TOY_FIRST + toy->words;
}

void
toy_fill (const Toy *toy, gint64 step, gint32 previous, PlaitScalar *log_probabilities)
{
  PlaitRandomKey key
      = plait_random_subkey (plait_random_key (toy->seed, "toy", NULL, (guint64)step), (guint64)previous);
  double sum = 0;

  for (gint32 id = 0; id < toy_size (toy); id++)
    {
      gboolean is_word = id >= TOY_FIRST || id == PLAIT_TOKEN_EOS;
      double logit = 3 * plait_random_uniform (key, (guint64)id) + (id == PLAIT_TOKEN_EOS ? toy->end_bonus : 0);

      log_probabilities[id] = is_word ? (PlaitScalar)logit : -(PlaitScalar)INFINITY;
      sum += is_word ? exp (logit) : 0;
    }
  for (gint32 id = 0; id < toy_size (toy); id++)
    log_probabilities[id] -= (PlaitScalar)log (sum);
}

double
toy_log_probability (const Toy *toy, gint64 step, gint32 previous, gint32 token)
{
  PlaitScalar log_probabilities[TOY_FIRST + TOY_MAX_WORDS];

  toy_fill (toy, step, previous, log_probabilities);
  return (double)log_probabilities[token];
}

gboolean
toy_is_ended (const ToyPath *path)
{
  return path->length > 0 && path->tokens[path->length - 1] == PLAIT_TOKEN_EOS;
}

ToyPath
toy_extend (const Toy *toy, const ToyPath *path, gint32 token)
{
  ToyPath next = *path;
  gint32 previous = path->length > 0 ? path->tokens[path->length - 1] : PLAIT_TOKEN_BOS;

  next.log_probability += toy_log_probability (toy, path->length, previous, token);
  next.tokens[next.length++] = token;
  return next;
}

static void
add_all (const Toy *toy, const ToyPath *path, GArray *all)
{
  if (toy_is_ended (path) || path->length == toy->limit)
    {
      g_array_append_val (all, *path);
      return;
    }
  for (gint32 id = PLAIT_TOKEN_EOS; id < toy_size (toy); id = id == PLAIT_TOKEN_EOS ? TOY_FIRST : id + 1)
    {
      ToyPath next = toy_extend (toy, path, id);

      add_all (toy, &next, all);
    }
}

GArray *
toy_all (const Toy *toy)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (ToyPath));

  add_all (toy, &(ToyPath){ .length = 0 }, all);
  return all;
}

PlaitBeam *
toy_search (const Toy *toy, const PlaitDecodeSettings *settings, const PlaitBeamSentences *sentences)
{
  PlaitBeam *beam = plait_beam_new (settings, sentences);
  gint32 size = toy_size (toy);

  for (;;)
    {
      PlaitBeamRows rows = plait_beam_rows (beam);
      gint64 n = plait_ragged_rows (rows.hypotheses);
      guint best = plait_beam_row_columns (beam);
      g_autofree gint32 *ids = g_new (gint32, n * best + 1);
      g_autofree PlaitScalar *of_ids = g_new (PlaitScalar, n * best + 1);

      if (n == 0)
        return beam;
      for (gint64 row = 0; row < n; row++)
        {
          PlaitScalar all[TOY_FIRST + TOY_MAX_WORDS];

          toy_fill (toy, plait_beam_steps (beam), rows.tokens[row], all);
          plait_beam_row_words (beam, row, all, size, NULL, 0, settings->at_limit == PLAIT_DECODE_AT_LIMIT_END,
                                ids + row * best, of_ids + row * best);
        }
      plait_beam_advance (beam, best, ids, of_ids);
    }
}

ToyPath
toy_path (const Toy *toy, const PlaitBeam *beam, const PlaitBeamResult *result)
{
  gint32 tokens[TOY_MAX_LENGTH];
  gint64 at = result->length;
  ToyPath path = { .length = 0 };

  g_assert (at <= TOY_MAX_LENGTH);
  for (gint64 token = result->last; token >= 0; token = plait_beam_token (beam, token)->previous)
    tokens[--at] = plait_beam_token (beam, token)->token;
  CHECK_INT (at, 0);
  for (gint64 i = 0; i < result->length; i++)
    path = toy_extend (toy, &path, tokens[i]);
  return path;
}

gboolean
toy_equal (const ToyPath *a, const ToyPath *b)
{
  return a->length == b->length && memcmp (a->tokens, b->tokens, (gsize)a->length * sizeof *a->tokens) == 0;
}

gint
toy_compare (gconstpointer a, gconstpointer b)
{
  double x = ((const ToyPath *)a)->value, y = ((const ToyPath *)b)->value;

  return x > y ? -1 : x < y;
}
