/* SPDX-License-Identifier: MIT */
#include "search/beam-private.h"

#include <math.h>

#include "process/random.h"
#include "search/sample.h"
#include "types/input.h"

/* Selection of words for a row, from the log-probabilities of all words. */

/* A row and the log-probabilities of all words that may follow. */
typedef struct
{
  const PlaitBeam *beam;
  gint64 row;
  gint64 sentence;
  const PlaitBeamHypothesis *hypothesis;
  PlaitScalar *log_probabilities; /* [n]; minus infinity for words that must not follow */
  gint32 n;
} Row;

gboolean
plait_beam_needs_rows (const PlaitBeam *beam)
{
  if (plait_beam_samples (beam))
    return TRUE;
  for (gint64 s = 0; s < beam->sentences; s++)
    if (beam->offsets[s + 1] > beam->offsets[s]
        && (beam->requirements[s].phrases || plait_beam_forced_word (beam, s) >= 0))
      return TRUE;
  return FALSE;
}

guint
plait_beam_row_columns (const PlaitBeam *beam)
{
  if (!plait_beam_samples (beam))
    return plait_beam_words (beam) + beam->max_advancing;
  for (gint64 s = 0; s < beam->sentences; s++)
    if (plait_beam_shares_row (beam, s))
      return (guint)beam->groups;
  return 1;
}

/* Writes the @n best words, or fewer if fewer words may follow; best first, then the lower id. */
static void
take_best (const Row *row, guint n, gint32 *ids, PlaitScalar *of_ids)
{
  const PlaitScalar *all = row->log_probabilities;
  guint found = 0;

  for (gint32 id = 0; id < row->n; id++)
    {
      guint at = found;

      if (all[id] == -(PlaitScalar)INFINITY || (found == n && !(all[id] > of_ids[n - 1])))
        continue;
      at = found < n ? found++ : n - 1;
      for (; at > 0 && all[id] > of_ids[at - 1]; at--)
        {
          ids[at] = ids[at - 1];
          of_ids[at] = of_ids[at - 1];
        }
      ids[at] = id;
      of_ids[at] = all[id];
    }
}

/* Returns what a sample that drew no word gets as its log-probability: NaN if the row has NaN, else minus infinity. */
static PlaitScalar
log_probability_of_none (const Row *row)
{
  for (gint32 id = 0; id < row->n; id++)
    if (isnan (row->log_probabilities[id]))
      return row->log_probabilities[id];
  return -(PlaitScalar)INFINITY;
}

/* Draws the next word of each sample that continues the row. */
static void
sample (const Row *row, gint32 *ids, PlaitScalar *of_ids)
{
  const PlaitBeam *beam = row->beam;
  gint64 first = (row->hypothesis - beam->hypotheses) / beam->capacity % beam->groups;
  gint64 n = plait_beam_shares_row (beam, row->sentence) ? beam->groups : 1;
  PlaitRandomKey key
      = plait_random_key ((guint64)beam->settings.seed, "sample", NULL, (guint64)beam->numbers[row->sentence]);

  for (guint i = beam->row_bans[row->row]; i < beam->row_bans[row->row + 1]; i++)
    row->log_probabilities[g_array_index (beam->bans, gint32, i)] = -(PlaitScalar)INFINITY;
  for (gint64 i = 0; i < n; i++)
    {
      double uniform = plait_random_uniform (plait_random_subkey (key, (guint64)(first + i)), (guint64)beam->steps);

      ids[i] = plait_sample_word (&beam->settings, row->log_probabilities, row->n, uniform);
      of_ids[i] = ids[i] >= 0 ? row->log_probabilities[ids[i]] : log_probability_of_none (row);
    }
}

/*
 * Writes two groups of words. The columns before decode.beam get the best words after which the missing phrases and EOS
 * still fit into the limit. The columns from decode.beam on get all words that lower plait_phrases_missing. EOS may
 * follow only if no phrase is missing.
 */
static void
take_for_phrases (const Row *row, gint32 *ids, PlaitScalar *of_ids)
{
  const PlaitBeam *beam = row->beam;
  const PlaitPhrases *phrases = beam->requirements[row->sentence].phrases;
  PlaitPhraseState state = row->hypothesis->state;
  gint64 missing = plait_phrases_missing (phrases, state);
  gint64 room = MAX (0, beam->limits[row->sentence] - beam->steps - 2);
  g_autofree gint32 *words = g_new (gint32, plait_phrases_tokens (phrases));
  g_autofree PlaitScalar *of_words = g_new (PlaitScalar, plait_phrases_tokens (phrases));
  guint n = plait_phrases_words (phrases, state, words), column = beam->width;

  if (missing > 0)
    row->log_probabilities[PLAIT_TOKEN_EOS] = -(PlaitScalar)INFINITY;
  for (guint i = 0; i < n; i++)
    {
      gint64 after = plait_phrases_missing (phrases, plait_phrases_advance (phrases, state, words[i]));

      of_words[i] = after <= room ? row->log_probabilities[words[i]] : -(PlaitScalar)INFINITY;
      if (after < missing)
        {
          ids[column] = words[i];
          of_ids[column++] = row->log_probabilities[words[i]];
        }
    }
  /* After a word that is not in @words, no missing phrase has begun. Exclude these words if the missing phrases do not
   * fit behind such a word. */
  if (plait_phrases_missing (phrases, (PlaitPhraseState){ state.met, 0 }) > room)
    {
      for (gint32 id = 0; id < row->n; id++)
        row->log_probabilities[id] = -(PlaitScalar)INFINITY;
      for (guint i = 0; i < n; i++)
        row->log_probabilities[words[i]] = of_words[i];
    }
  take_best (row, beam->width, ids, of_ids);
}

void
plait_beam_row_words (const PlaitBeam *beam, gint64 row, PlaitScalar *log_probabilities, gint32 n_words,
                      const gint32 *forbidden, guint n_forbidden, gboolean end, gint32 *ids, PlaitScalar *of_ids)
{
  const PlaitBeamHypothesis *hypothesis = &beam->hypotheses[beam->row_hypotheses[row]];
  gint64 sentence = beam->row_hypotheses[row] / (beam->groups * beam->capacity);
  Row all = { beam, row, sentence, hypothesis, log_probabilities, n_words };
  guint columns = plait_beam_row_columns (beam);
  gint32 only = plait_beam_forced_word (beam, sentence);

  if (only < 0 && end && plait_beam_is_last_step (beam, sentence))
    only = PLAIT_TOKEN_EOS;
  for (guint i = 0; i < columns; i++)
    ids[i] = -1;
  if (only >= 0)
    {
      /* If samples share this row, each sample reads one column. */
      for (guint i = 0; i < (plait_beam_samples (beam) ? columns : 1); i++)
        {
          ids[i] = only;
          of_ids[i] = log_probabilities[only];
        }
      return;
    }
  for (guint i = 0; i < n_forbidden; i++)
    log_probabilities[forbidden[i]] = -(PlaitScalar)INFINITY;
  if (plait_beam_samples (beam))
    sample (&all, ids, of_ids);
  else if (beam->requirements[sentence].phrases)
    take_for_phrases (&all, ids, of_ids);
  else
    take_best (&all, MIN (columns, (guint)n_words), ids, of_ids);
}
