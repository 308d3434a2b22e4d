/* SPDX-License-Identifier: MIT */
#include "search/beam-private.h"

/*
 * Dynamic beam allocation (Post & Vilar 2018, section 3). Hypotheses are sorted into banks by the number of phrase
 * tokens that they contain. Hypotheses compete only within their bank, and the beam is divided among the banks.
 */

typedef struct
{
  PlaitBeamCandidate candidate;
  gint64 bank; /* plait_phrases_tokens - plait_phrases_missing, in the state after the candidate's token */
} Entry;

/* Compares entries: a lower bank comes first; in one bank, a better candidate comes first. */
static gint
compare_entries (gconstpointer a_pointer, gconstpointer b_pointer)
{
  const Entry *a = a_pointer;
  const Entry *b = b_pointer;

  if (a->bank != b->bank)
    return a->bank < b->bank ? -1 : 1;
  return plait_beam_precedes (&a->candidate, &b->candidate) ? -1 : plait_beam_precedes (&b->candidate, &a->candidate);
}

static gint
compare_candidates (gconstpointer a, gconstpointer b)
{
  return plait_beam_precedes (a, b) ? -1 : plait_beam_precedes (b, a);
}

/* Adds @candidate to @entries, unless it is there already. */
static void
add_candidate (const PlaitBeam *beam, gint64 sentence, GArray *entries, const PlaitBeamCandidate *candidate)
{
  const PlaitPhrases *phrases = beam->requirements[sentence].phrases;
  PlaitPhraseState state = plait_beam_hypotheses (beam, sentence)[candidate->from].state;
  Entry entry = { *candidate };

  for (guint i = 0; i < entries->len; i++)
    {
      const PlaitBeamCandidate *other = &g_array_index (entries, Entry, i).candidate;

      if (other->from == candidate->from && other->token == candidate->token)
        return;
    }
  if (candidate->token >= 0)
    state = plait_phrases_advance (phrases, state, candidate->token);
  entry.bank = plait_phrases_tokens (phrases) - plait_phrases_missing (phrases, state);
  g_array_append_val (entries, entry);
}

/*
 * Divides @places among @n banks. Bank i has @counts[i] candidates and gets @sizes[i] places. First each bank gets
 * @places / @n places, and the last bank also gets the remainder. Then, from the last bank to the first, a bank with
 * more places than candidates gives its free places to bank i - 1. Finally, the free places of bank 0 go to banks with
 * more candidates than places, again from the last bank to the first.
 */
static void
allocate (guint places, gint64 n, const guint *counts, guint *sizes)
{
  guint left = 0;

  for (gint64 i = n - 1; i >= 0; i--)
    {
      guint size = places / (guint)n + left + (i == n - 1 ? places % (guint)n : 0);

      sizes[i] = MIN (size, counts[i]);
      left = size - sizes[i];
    }
  for (gint64 i = n - 1; i >= 0 && left > 0; i--)
    {
      guint more = MIN (left, counts[i] - sizes[i]);

      sizes[i] += more;
      left -= more;
    }
}

void
plait_beam_propose_by_bank (PlaitBeam *beam, gint64 sentence, guint best, const gint32 *ids,
                            const PlaitScalar *log_probabilities)
{
  const PlaitBeamHypothesis *hypotheses = plait_beam_hypotheses (beam, sentence);
  gint64 n_banks = plait_phrases_tokens (beam->requirements[sentence].phrases) + 1;
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_autofree guint *counts = g_new0 (guint, n_banks), *sizes = g_new (guint, n_banks);

  /* Add the best candidates of the whole beam. */
  plait_beam_propose (beam, sentence, best, 0, beam->width, ids, log_probabilities);
  for (guint i = 0; i < beam->n_candidates; i++)
    add_candidate (beam, sentence, entries, &beam->candidates[i]);
  /* For each hypothesis, add the best word, and the words that lower the number of missing phrase tokens. */
  for (guint i = 0; i < beam->n[sentence]; i++)
    for (guint k = 0; !hypotheses[i].ended && k < best; k = k == 0 ? beam->width : k + 1)
      {
        gint64 at = hypotheses[i].row * best + k;
        PlaitBeamCandidate candidate;

        if (ids[at] < 0)
          continue;
        candidate = plait_beam_candidate (beam, sentence, i, ids[at], (double)log_probabilities[at]);
        add_candidate (beam, sentence, entries, &candidate);
      }
  g_array_sort (entries, compare_entries);
  for (guint i = 0; i < entries->len; i++)
    counts[g_array_index (entries, Entry, i).bank]++;
  allocate (beam->max_candidates, n_banks, counts, sizes);
  beam->n_candidates = 0;
  for (guint i = 0, bank = 0; bank < n_banks; i += counts[bank++])
    for (guint k = 0; k < sizes[bank]; k++)
      beam->candidates[beam->n_candidates++] = g_array_index (entries, Entry, i + k).candidate;
  qsort (beam->candidates, beam->n_candidates, sizeof *beam->candidates, compare_candidates);
}
