/* SPDX-License-Identifier: MIT */
#include "model/sentence-attention.h"

#include <string.h>

/* @n zeroed items of @size bytes that @a owns. */
static gpointer
zeroed (PlaitSentenceAttention *a, gsize n, gsize size)
{
  gpointer items = g_malloc0_n (n + 1, size);

  g_ptr_array_add (a->owned, items);
  return items;
}

/* The rows of sentence @sentence in @from, which has a number a row of memory @m. */
static gint64 *
rows_of (PlaitSentenceAttention *a, const PlaitCapture *capture, gint64 sentence, guint m, const gint64 *from)
{
  gint64 *own = zeroed (a, (gsize)a->rows[m], sizeof *own);

  return memcpy (own, from + capture->memories[m].rows.offsets[sentence], (gsize)a->rows[m] * sizeof *own);
}

static void
memory_begin (PlaitSentenceAttention *a, const PlaitCapture *capture, gint64 sentence, guint m)
{
  const PlaitLinks *links = capture->memories[m].links;
  PlaitSentenceLevels *levels = &a->levels[m];
  gint64 first = capture->memories[m].rows.offsets[sentence];

  a->rows[m] = plait_ragged_length (capture->memories[m].rows, sentence);
  if (links && links->level && links->first_child && links->n_children)
    {
      levels->level = rows_of (a, capture, sentence, m, links->level);
      levels->n_children = rows_of (a, capture, sentence, m, links->n_children);
      levels->first_child = rows_of (a, capture, sentence, m, links->first_child);
      for (gint64 i = 0; i < a->rows[m]; i++)
        levels->first_child[i] = levels->first_child[i] < 0 ? -1 : levels->first_child[i] - first;
    }
  if (links && links->sentence)
    a->places[m].sentence = rows_of (a, capture, sentence, m, links->sentence);
  if (links && links->sentence && links->token)
    a->places[m].token = rows_of (a, capture, sentence, m, links->token);
}

/* What one attention pays in one layer. */
static void
place_begin (PlaitSentenceAttention *a, const PlaitCapture *capture, gint64 sentence, guint place,
             const PlaitCapturedLayer *captured)
{
  const PlaitCapturedCoverage *covered = &captured->coverage;
  PlaitSentenceCoverage *coverage = &a->coverage[place];
  guint m = a->memory[place % a->n_attentions];
  gsize entries = (gsize)captured->heads * (gsize)a->length, rows = (gsize)a->rows[m];

  a->heads[place] = captured->heads;
  a->weights[place] = zeroed (a, entries * rows, sizeof (PlaitScalar));
  if (captured->sets)
    a->choices[place] = zeroed (a, entries, sizeof (PlaitSentenceChoice));
  coverage->width = covered->width;
  coverage->states = zeroed (a, (gsize)(a->length * covered->width) * rows, sizeof (PlaitScalar));
  coverage->name = covered->name;
  if (covered->prepared)
    {
      coverage->prepared = zeroed (a, rows, sizeof (PlaitScalar));
      memcpy (coverage->prepared, covered->prepared + capture->memories[m].rows.offsets[sentence],
              rows * sizeof (PlaitScalar));
    }
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
  a->owned = g_ptr_array_new_with_free_func (g_free);
  a->rows = zeroed (a, a->n_memories, sizeof *a->rows);
  a->levels = zeroed (a, a->n_memories, sizeof *a->levels);
  a->places = zeroed (a, a->n_memories, sizeof *a->places);
  a->memory = zeroed (a, a->n_attentions, sizeof *a->memory);
  a->names = zeroed (a, a->n_attentions, sizeof *a->names);
  a->heads = zeroed (a, places, sizeof *a->heads);
  a->weights = zeroed (a, places, sizeof *a->weights);
  a->choices = zeroed (a, places, sizeof *a->choices);
  a->coverage = zeroed (a, places, sizeof *a->coverage);
  a->context_heads = zeroed (a, a->n_layers, sizeof *a->context_heads);
  a->contexts = zeroed (a, a->n_layers, sizeof *a->contexts);
  a->sentinel_heads = zeroed (a, a->n_layers, sizeof *a->sentinel_heads);
  a->sentinels = zeroed (a, a->n_layers, sizeof *a->sentinels);
  for (guint m = 0; m < a->n_memories; m++)
    memory_begin (a, capture, sentence, m);
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
      a->contexts[l] = zeroed (a, (gsize)a->context_heads[l] * (gsize)length * a->n_memories, sizeof *a->contexts[l]);
      a->sentinel_heads[l] = capture->sentinels[l].heads;
      a->sentinels[l] = zeroed (a, (gsize)a->sentinel_heads[l] * (gsize)length, sizeof *a->sentinels[l]);
    }
}

/* The sets of one entry end to end, their rows those of a sentence that begins at row @first. */
static void
copy_choice (PlaitSentenceAttention *a, PlaitSentenceChoice *choice, const PlaitCapturedSets *sets, gint64 first)
{
  gint64 n = 0, at = 0;

  for (const PlaitCapturedSet *set = sets->first; set; set = set->next, choice->n++)
    n += set->n;
  choice->offset = zeroed (a, (gsize)choice->n + 1, sizeof *choice->offset);
  choice->row = zeroed (a, (gsize)n, sizeof *choice->row);
  choice->weights = zeroed (a, (gsize)n, sizeof *choice->weights);
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
        copy_choice (a, &a->choices[place][h * a->length + target], &captured->sets[row * captured->heads + h],
                     capture->memories[m].rows.offsets[sentence]);
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
        before += plait_ragged_length (capture->queries, s)
                  * plait_ragged_length (capture->memories[a->memory[i]].rows, s);
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

void
plait_sentence_attention_free (PlaitSentenceAttention *attention, gint64 n)
{
  for (gint64 s = 0; attention && s < n; s++)
    g_clear_pointer (&attention[s].owned, g_ptr_array_unref);
  g_free (attention);
}
