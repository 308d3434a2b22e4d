/* SPDX-License-Identifier: MIT */
#include "model/sentence-attention.h"

#include <string.h>

static void
coverage_begin (PlaitSentenceAttention *a, const PlaitCapture *capture, gint64 sentence, guint place,
                const PlaitCapturedCoverage *captured)
{
  PlaitSentenceCoverage *coverage = &a->coverage[place];
  guint m = a->memory[place % a->n_attentions];

  coverage->width = captured->width;
  coverage->states = g_new0 (PlaitScalar, (gsize)(a->length * a->rows[m] * captured->width) + 1);
  coverage->name = captured->name;
  if (captured->prepared)
    coverage->prepared
        = g_memdup2 (captured->prepared + capture->rows[m].offsets[sentence], (gsize)a->rows[m] * sizeof (PlaitScalar));
}

/* @links of the rows from @first on, as of a sentence that has @rows alone. (transfer full) */
static gint64 *
links_of (const gint64 *links, gint64 first, gint64 rows)
{
  gint64 *own = g_new (gint64, rows + 1);

  for (gint64 i = 0; i < rows; i++)
    own[i] = links[first + i] < 0 ? -1 : links[first + i] - first;
  return own;
}

static void
levels_begin (PlaitSentenceAttention *a, const PlaitCapture *capture, gint64 sentence, guint m)
{
  const PlaitLinks *links = capture->links[m];
  gint64 first = capture->rows[m].offsets[sentence];
  gsize bytes = (gsize)a->rows[m] * sizeof (gint64);

  if (!links || !links->level || !links->first_child || !links->n_children)
    return;
  a->levels[m].level = g_memdup2 (links->level + first, bytes);
  a->levels[m].n_children = g_memdup2 (links->n_children + first, bytes);
  a->levels[m].first_child = links_of (links->first_child, first, a->rows[m]);
}

static void
documents_begin (PlaitSentenceAttention *a, const PlaitCapture *capture, gint64 sentence, guint m)
{
  const PlaitLinks *links = capture->links[m];
  gint64 first = capture->rows[m].offsets[sentence];
  gsize bytes = (gsize)a->rows[m] * sizeof (gint64);

  if (!links || !links->sentence)
    return;
  a->places[m].sentence = g_memdup2 (links->sentence + first, bytes);
  if (links->token)
    a->places[m].token = g_memdup2 (links->token + first, bytes);
}

/* What one attention pays in one layer. */
static void
place_begin (PlaitSentenceAttention *a, const PlaitCapture *capture, gint64 sentence, guint place,
             const PlaitCapturedLayer *captured)
{
  gsize entries = (gsize)captured->heads * (gsize)a->length;

  a->heads[place] = captured->heads;
  a->weights[place] = g_new0 (PlaitScalar, entries * (gsize)a->rows[a->memory[place % a->n_attentions]] + 1);
  if (captured->sets)
    a->choices[place] = g_new0 (PlaitSentenceChoice, entries + 1);
  coverage_begin (a, capture, sentence, place, &captured->coverage);
}

void
plait_sentence_attention_begin (PlaitSentenceAttention *a, const PlaitCapture *capture, gint64 sentence, gint64 length)
{
  gsize places;
  guint i = 0;

  for (const PlaitCapturedAttention *of = capture->attentions; of; of = of->next)
    a->n_attentions++;
  places = (gsize)capture->n_layers * a->n_attentions;
  a->n_layers = capture->n_layers;
  a->n_memories = capture->n_memories;
  a->length = length;
  a->rows = g_new (gint64, a->n_memories);
  a->levels = g_new0 (PlaitSentenceLevels, a->n_memories);
  a->places = g_new0 (PlaitSentencePlaces, a->n_memories);
  a->memory = g_new (guint, a->n_attentions);
  a->names = g_new (const char *, a->n_attentions);
  a->heads = g_new0 (guint, places);
  a->weights = g_new0 (PlaitScalar *, places);
  a->choices = g_new0 (PlaitSentenceChoice *, places);
  a->coverage = g_new0 (PlaitSentenceCoverage, places);
  a->context_heads = g_new0 (guint, a->n_layers);
  a->contexts = g_new0 (PlaitScalar *, a->n_layers);
  a->sentinel_heads = g_new0 (guint, a->n_layers);
  a->sentinels = g_new0 (PlaitScalar *, a->n_layers);
  for (guint m = 0; m < a->n_memories; m++)
    {
      a->rows[m] = plait_ragged_length (capture->rows[m], sentence);
      levels_begin (a, capture, sentence, m);
      documents_begin (a, capture, sentence, m);
    }
  for (const PlaitCapturedAttention *of = capture->attentions; of; of = of->next, i++)
    {
      a->memory[i] = of->memory;
      a->names[i] = of->name;
      for (guint l = 0; l < a->n_layers; l++)
        place_begin (a, capture, sentence, l * a->n_attentions + i, &of->layers[l]);
    }
  for (guint l = 0; l < a->n_layers; l++)
    {
      a->context_heads[l] = capture->contexts[l].heads;
      a->contexts[l] = g_new (PlaitScalar, (gsize)(a->context_heads[l] * length * a->n_memories) + 1);
      a->sentinel_heads[l] = capture->sentinels[l].heads;
      a->sentinels[l] = g_new (PlaitScalar, (gsize)(a->sentinel_heads[l] * length) + 1);
    }
}

/* The sets of one entry end to end, their rows those of a sentence that begins at row @first. */
static void
copy_choice (PlaitSentenceChoice *choice, const PlaitCapturedSets *sets, gint64 first)
{
  gint64 n = 0, at = 0;

  for (const PlaitCapturedSet *set = sets->first; set; set = set->next, choice->n++)
    n += set->n;
  choice->offset = g_new0 (gint64, choice->n + 1);
  choice->row = g_new (gint64, n + 1);
  choice->weights = g_new (PlaitScalar, n + 1);
  for (const PlaitCapturedSet *set = sets->first; set; set = set->next, at++)
    {
      gint64 *to = choice->row + choice->offset[at];

      for (gint64 i = 0; i < set->n; i++)
        to[i] = set->row[i] - first;
      memcpy (choice->weights + choice->offset[at], set->weights, (gsize)set->n * sizeof (PlaitScalar));
      choice->offset[at + 1] = choice->offset[at] + set->n;
    }
}

/* What the query @row of @capture, whose pairs with the rows begin at @before, paid in one layer; a combiner need not
 * call each attention in each pass. */
static void
copy_place (PlaitSentenceAttention *a, const PlaitCapture *capture, gint64 sentence, guint place,
            const PlaitCapturedLayer *captured, gint64 row, gint64 before, gint64 target)
{
  guint m = a->memory[place % a->n_attentions];
  gint64 rows = a->rows[m], pairs = plait_capture_pairs (capture, m), width;

  if (!captured)
    return;
  width = captured->coverage.width;
  for (guint h = 0; h < captured->heads && h < a->heads[place]; h++)
    {
      memcpy (a->weights[place] + (h * a->length + target) * rows, captured->weights + h * pairs + before,
              (gsize)rows * sizeof (PlaitScalar));
      if (captured->sets && a->choices[place])
        copy_choice (&a->choices[place][h * a->length + target], &captured->sets[row * captured->heads + h],
                     capture->rows[m].offsets[sentence]);
    }
  if (width > 0 && width == a->coverage[place].width)
    memcpy (a->coverage[place].states + target * rows * width, captured->coverage.states + before * width,
            (gsize)(rows * width) * sizeof (PlaitScalar));
}

void
plait_sentence_attention_copy (PlaitSentenceAttention *a, const PlaitCapture *capture, gint64 sentence, gint64 row,
                               gint64 target)
{
  gint64 query = row - capture->queries.offsets[sentence];
  gint64 queries = plait_ragged_rows (capture->queries);

  for (guint i = 0; i < a->n_attentions; i++)
    {
      gint64 before = query * a->rows[a->memory[i]];

      for (gint64 s = 0; s < sentence; s++)
        before += plait_ragged_length (capture->queries, s) * plait_ragged_length (capture->rows[a->memory[i]], s);
      for (guint l = 0; l < a->n_layers; l++)
        copy_place (a, capture, sentence, l * a->n_attentions + i,
                    plait_capture_find (capture, l, a->names[i], a->memory[i]), row, before, target);
    }
  for (guint l = 0; l < a->n_layers; l++)
    {
      for (guint h = 0; h < a->context_heads[l]; h++)
        memcpy (a->contexts[l] + (h * a->length + target) * a->n_memories,
                capture->contexts[l].weights + (h * queries + row) * a->n_memories,
                a->n_memories * sizeof (PlaitScalar));
      for (guint h = 0; h < a->sentinel_heads[l]; h++)
        a->sentinels[l][h * a->length + target] = capture->sentinels[l].weights[h * queries + row];
    }
}

static void
place_free (PlaitSentenceAttention *a, guint place)
{
  for (gint64 e = 0; a->choices[place] && e < a->heads[place] * a->length; e++)
    {
      g_free (a->choices[place][e].offset);
      g_free (a->choices[place][e].row);
      g_free (a->choices[place][e].weights);
    }
  g_free (a->choices[place]);
  g_free (a->weights[place]);
  g_free (a->coverage[place].states);
  g_free (a->coverage[place].prepared);
}

void
plait_sentence_attention_free (PlaitSentenceAttention *attention, gint64 n)
{
  for (gint64 s = 0; attention && s < n; s++)
    {
      PlaitSentenceAttention *a = &attention[s];

      for (guint i = 0; i < a->n_layers * a->n_attentions; i++)
        place_free (a, i);
      for (guint l = 0; l < a->n_layers; l++)
        {
          g_free (a->contexts[l]);
          g_free (a->sentinels[l]);
        }
      for (guint m = 0; m < a->n_memories; m++)
        {
          g_free (a->levels[m].level);
          g_free (a->levels[m].first_child);
          g_free (a->levels[m].n_children);
          g_free (a->places[m].sentence);
          g_free (a->places[m].token);
        }
      g_free (a->levels);
      g_free (a->places);
      g_free (a->coverage);
      g_free (a->rows);
      g_free (a->memory);
      g_free (a->names);
      g_free (a->heads);
      g_free (a->weights);
      g_free (a->choices);
      g_free (a->context_heads);
      g_free (a->contexts);
      g_free (a->sentinel_heads);
      g_free (a->sentinels);
    }
  g_free (attention);
}
