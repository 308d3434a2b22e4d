/* SPDX-License-Identifier: MIT */

/*
 * Translation edit rate (Snover et al. 2006): the insertions, deletions, substitutions and shifts of words that turn
 * the hypothesis into a reference, divided by the length of the reference. Uses Tercom's heuristic as sacreBLEU 2 does
 * (Post 2018), so scores are equal. A shift moves up to 10 words over up to 50. The best shift is applied until no
 * shift lowers the edit distance, or until 1000 shifts have been tried. The edit distance is computed in a beam around
 * the diagonal.
 *
 * A row is [edits to the nearest reference, mean length of the references].
 */
#include "metrics/metric-kind.h"

#include "process/unicode.h"
#include "words/text.h"

#include <math.h>
#include <string.h>

#define WIDTH 2
#define MAX_BYTES (64 * 1024) /* maximum bytes of a text: time grows with the product of both texts' lengths */
#define MAX_SHIFTED 10        /* maximum words of a shift */
#define MAX_DISTANCE 50       /* maximum words between the beginning of a phrase and its position in the reference */
#define BEAM 25               /* minimum half width of the beam around the diagonal, in words */
#define MAX_TRIED 1000        /* maximum shifts tried for a hypothesis and a reference */
#define FAR (G_MAXINT / 2)

typedef struct
{
  PlaitMetric parent;
  gboolean case_sensitive;
  gboolean no_punctuation;
} Ter;

static const PlaitMetricOption options[] = {
  { "case-sensitive", PLAIT_METRIC_SWITCH, G_STRUCT_OFFSET (Ter, case_sensitive),
    .summary = "Distinguish upper and lower case" },
  { "no-punctuation", PLAIT_METRIC_SWITCH, G_STRUCT_OFFSET (Ter, no_punctuation), .summary = "Leave punctuation out" },
  { NULL },
};

typedef enum
{
  EDIT_NONE, /* equal words */
  EDIT_SUBSTITUTE,
  EDIT_DROP, /* delete a word of the hypothesis */
  EDIT_ADD,  /* insert a word of the reference */
} Edit;

/* Row i belongs to the first i words of the hypothesis and has the columns first .. end - 1, near the diagonal. */
typedef struct
{
  gsize start;
  gint first, end;
} Row;

typedef struct
{
  const guint32 *reference;
  gint length;            /* words of the reference */
  gint words;             /* words of the hypothesis */
  Row *rows;              /* [words + 1] range of columns of each row */
  gint *costs, *trial;    /* costs for the current hypothesis, and for one with a trial shift */
  guint8 *edits, *trials; /* last edit (Edit) of each cell: @edits for @costs, @trials for @trial */
} Distance;

static void
distance_clear (Distance *distance)
{
  g_free (distance->rows);
  g_free (distance->costs);
  g_free (distance->trial);
  g_free (distance->edits);
  g_free (distance->trials);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Distance, distance_clear)

static Distance
distance_new (const guint32 *reference, gint length, gint words)
{
  Distance distance = { .reference = reference, .length = length, .words = words };
  double ratio = words > 0 ? (double)length / words : 1;
  gint beam = BEAM < ratio / 2 ? (gint)ceil (ratio / 2 + BEAM) : BEAM;
  gsize cells = 0;

  distance.rows = g_new (Row, (gsize)words + 1);
  for (gint i = 0; i <= words; i++)
    {
      gint diagonal = (gint)floor (i * ratio);
      gboolean whole = i == 0 || i == words;
      Row *row = &distance.rows[i];

      row->start = cells;
      row->first = i == 0 ? 0 : MAX (0, diagonal - beam);
      row->end = whole ? length + 1 : MIN (length + 1, diagonal + beam);
      cells += (gsize)(row->end - row->first);
    }
  distance.costs = g_new (gint, cells);
  distance.trial = g_new (gint, cells);
  distance.edits = g_new (guint8, cells);
  distance.trials = g_new (guint8, cells);
  for (gint j = 0; j <= length; j++)
    {
      distance.costs[j] = j;
      distance.edits[j] = EDIT_ADD;
    }
  memcpy (distance.trial, distance.costs, ((gsize)length + 1) * sizeof *distance.costs);
  return distance;
}

static gint
cost_at (const Row *row, const gint *costs, gint j)
{
  return j < row->first || j >= row->end ? FAR : costs[row->start + (gsize)(j - row->first)];
}

/* Fills the rows after row @known for the hypothesis @words. Among equally cheap edits the first of substitute, delete,
 * insert is taken. */
static void
fill (const Distance *distance, const guint32 *words, gint known, gint *costs, guint8 *edits)
{
  for (gint i = known + 1; i <= distance->words; i++)
    {
      const Row *above = &distance->rows[i - 1], *row = &distance->rows[i];

      for (gint j = row->first; j < row->end; j++)
        {
          gboolean same = j > 0 && words[i - 1] == distance->reference[j - 1];
          gint least = FAR;
          Edit edit = EDIT_SUBSTITUTE;
          gint found[] = { j > 0 ? cost_at (above, costs, j - 1) + !same : FAR, cost_at (above, costs, j) + 1,
                           j > row->first ? costs[row->start + (gsize)(j - row->first) - 1] + 1 : FAR };
          const Edit names[] = { same ? EDIT_NONE : EDIT_SUBSTITUTE, EDIT_DROP, EDIT_ADD };

          for (guint k = 0; k < G_N_ELEMENTS (found); k++)
            if (found[k] < least)
              {
                least = found[k];
                edit = names[k];
              }
          costs[row->start + (gsize)(j - row->first)] = least;
          edits[row->start + (gsize)(j - row->first)] = (guint8)edit;
        }
    }
}

static gint
last_cost (const Distance *distance, const gint *costs)
{
  return cost_at (&distance->rows[distance->words], costs, distance->length);
}

/* The alignment that the edits describe. */
typedef struct
{
  gint *position; /* [length] for each word of the reference: index of the hypothesis word that is aligned with it or,
                     if it is inserted, before it; -1 if there is none */
  gint *hypothesis_bad; /* [words + 1], for each word of the hypothesis: number of edited words before it */
  gint *reference_bad;  /* [length + 1], for each word of the reference: number of edited words before it */
} Alignment;

static void
align (const Distance *distance, Alignment *alignment)
{
  gint i = distance->words, j = distance->length;

  memset (alignment->hypothesis_bad, 0, ((gsize)i + 1) * sizeof (gint));
  memset (alignment->reference_bad, 0, ((gsize)j + 1) * sizeof (gint));
  while (i > 0 || j > 0)
    {
      const Row *row = &distance->rows[i];
      Edit edit = distance->edits[row->start + (gsize)(j - row->first)];

      if (edit != EDIT_DROP)
        {
          alignment->position[j - 1] = i - 1;
          alignment->reference_bad[j] = edit != EDIT_NONE;
        }
      if (edit != EDIT_ADD)
        alignment->hypothesis_bad[i] = edit != EDIT_NONE;
      i -= edit != EDIT_ADD;
      j -= edit != EDIT_DROP;
    }
  for (i = 1; i <= distance->words; i++)
    alignment->hypothesis_bad[i] += alignment->hypothesis_bad[i - 1];
  for (j = 1; j <= distance->length; j++)
    alignment->reference_bad[j] += alignment->reference_bad[j - 1];
}

typedef struct
{
  gint gain, length, start, target;
} Shift;

static gint *
sized (gint n)
{
  return g_new (gint, (gsize)n + 1);
}

/* Copies @words [n] to @shifted [n], but with the @length words at @start moved to before the word at index @target. If
 * @target is inside or at the end of the moved words, moves them right by @target - @start, at most to the end of the
 * text. */
static void
move (const guint32 *words, gint n, gint start, gint length, gint target, guint32 *shifted)
{
  gint before = target < start ? target : target > start + length ? target - length : MIN (target, n - length);
  gint at = 0;

  for (gint i = 0; i <= n; i++)
    {
      if (at == before)
        {
          memcpy (shifted + at, words + start, (gsize)length * sizeof *words);
          at += length;
        }
      if (i < n && (i < start || i >= start + length))
        shifted[at++] = words[i];
    }
}

static gboolean
is_better (const Shift *shift, const Shift *best)
{
  if (shift->gain != best->gain)
    return shift->gain > best->gain;
  if (shift->length != best->length)
    return shift->length > best->length;
  return shift->start != best->start ? shift->start < best->start : shift->target < best->target;
}

/* Tries to shift the @length words at @start to the equal words of the reference, which begin at @position. */
static void
try_shifts (const Distance *distance, const guint32 *words, const Alignment *alignment, gint start, gint position,
            gint length, guint32 *shifted, Shift *best, guint *tried)
{
  gint before = -1;

  if (alignment->hypothesis_bad[start + length] == alignment->hypothesis_bad[start]
      || alignment->reference_bad[position + length] == alignment->reference_bad[position]
      || (alignment->position[position] >= start && alignment->position[position] < start + length))
    return;
  for (gint offset = -1; offset < length; offset++)
    {
      gint target = position + offset < 0 ? 0 : alignment->position[position + offset] + 1;
      gint known = 0;

      if (target == before)
        continue;
      before = target;
      move (words, distance->words, start, length, target, shifted);
      while (known < distance->words && words[known] == shifted[known])
        known++;

      const Row *row = &distance->rows[known];
      memcpy (distance->trial + row->start, distance->costs + row->start,
              (gsize)(row->end - row->first) * sizeof *distance->costs);
      fill (distance, shifted, known, distance->trial, distance->trials);
      Shift shift
          = { last_cost (distance, distance->costs) - last_cost (distance, distance->trial), length, start, target };
      if (*tried == 0 || best->length == 0 || is_better (&shift, best))
        *best = shift;
      (*tried)++;
    }
}

/* Returns the best shift; length 0 if there is no shift to try. */
static Shift
find_shift (const Distance *distance, const guint32 *words, const Alignment *alignment, guint32 *shifted, guint *tried)
{
  Shift best = { 0 };

  for (gint start = 0; start < distance->words; start++)
    for (gint position = MAX (0, start - MAX_DISTANCE); position < distance->length && position <= start + MAX_DISTANCE;
         position++)
      for (gint length = 1;
           length <= MAX_SHIFTED && start + length <= distance->words && position + length <= distance->length
           && words[start + length - 1] == distance->reference[position + length - 1];
           length++)
        {
          try_shifts (distance, words, alignment, start, position, length, shifted, &best, tried);
          if (*tried >= MAX_TRIED)
            return best;
        }
  return best;
}

static gint
count_edits (const guint32 *hypothesis, gint words, const guint32 *reference, gint length)
{
  if (length == 0)
    return words;

  g_auto (Distance) distance = distance_new (reference, length, words);
  g_autofree gint *position = sized (length), *hypothesis_bad = sized (words), *reference_bad = sized (length);
  g_autofree guint32 *now = g_new (guint32, (gsize)words + 1), *shifted = g_new (guint32, (gsize)words + 1);
  Alignment alignment = { position, hypothesis_bad, reference_bad };
  guint tried = 0;
  gint shifts = 0;

  if (words > 0)
    memcpy (now, hypothesis, (gsize)words * sizeof *now);
  fill (&distance, now, 0, distance.costs, distance.edits);
  for (;;)
    {
      align (&distance, &alignment);
      Shift best = { 0 };
      if (last_cost (&distance, distance.costs) > 0)
        best = find_shift (&distance, now, &alignment, shifted, &tried);
      if (tried >= MAX_TRIED || best.gain <= 0)
        return shifts + last_cost (&distance, distance.costs);
      move (now, words, best.start, best.length, best.target, shifted);
      memcpy (now, shifted, (gsize)words * sizeof *now);
      fill (&distance, now, 0, distance.costs, distance.edits);
      shifts++;
    }
}

static void
add_words (const Ter *ter, PlaitNgrams *words, const char *text)
{
  g_autofree char *line = ter->case_sensitive ? g_strdup (text) : plait_text_lower (text);

  if (ter->no_punctuation)
    {
      char *to = line;

      for (const char *from = line; *from; from++)
        if (!strchr (".,?:;!\"()", *from))
          *to++ = *from;
      *to = '\0';
    }
  plait_ngrams_add_words (words, line);
}

static void
row (const PlaitMetric *metric, const PlaitSentence *sentence, double *values)
{
  PlaitNgrams *words = sentence->words;
  gint fewest = G_MAXINT;
  gsize lengths = 0;

  for (guint k = 0; k <= sentence->count; k++)
    add_words ((const Ter *)metric, words, sentence->texts[k]);
  for (guint k = 1; k <= sentence->count; k++)
    {
      gint edits = count_edits (plait_ngrams_symbols (words, 0), (gint)plait_ngrams_length (words, 0),
                                plait_ngrams_symbols (words, k), (gint)plait_ngrams_length (words, k));

      fewest = MIN (fewest, edits);
      lengths += plait_ngrams_length (words, k);
    }
  values[0] = fewest;
  values[1] = (double)lengths / sentence->count;
}

static double
score (const PlaitMetric *metric, const double *sums)
{
  if (sums[1] > 0)
    return 100 * (sums[0] / sums[1]);
  return sums[0] > 0 ? 100 : 0;
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  const Ter *ter = (const Ter *)metric;

  g_string_append_printf (signature, "case:%s|tok:tercom|norm:no|punct:%s|asian:no|",
                          ter->case_sensitive ? "mixed" : "lc", ter->no_punctuation ? "no" : "yes");
}

static gboolean
finish (PlaitMetric *metric, GError **error)
{
  return ((const Ter *)metric)->case_sensitive || plait_unicode_open (error);
}

const PlaitMetricKind plait_metric_ter = {
  .name = "ter",
  .summary = "Translation edit rate, as sacreBLEU; smaller is better",
  .title = "TER",
  .width = WIDTH,
  .max_bytes = MAX_BYTES,
  .size = sizeof (Ter),
  .options = options,
  .finish = finish,
  .row = row,
  .score = score,
  .append_signature = append_signature,
};
