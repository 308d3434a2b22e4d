/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "bench.h"
#include "layers/tree.h"
#include "layers/parameter-set.h"
#include "layers/internal.h"

/* Tests that recurrences and trees give equal bits with any number of threads. Each thread takes a bundle of
 * sentences. */

enum
{
  SENTENCES = 40, /* enough for five bundles of at least eight sentences */
  MAX_LENGTH = 6,
  INPUT = 3,
  WIDTH = 10, /* not a multiple of the size of a vector */
};

/* A batch of sentences with 0 to 6 rows. Every third sentence has no tree; the trees of the others branch to the right
 * or to the left. */
typedef struct
{
  gint64 leaves[SENTENCES + 1];
  gint64 words[SENTENCES];
  gint64 nodes[SENTENCES + 1];
  gint64 left[SENTENCES * MAX_LENGTH];
  gint64 right[SENTENCES * MAX_LENGTH];
} Sentences;

static void
set_sentences (Sentences *sentences)
{
  sentences->leaves[0] = sentences->nodes[0] = 0;
  for (gint64 s = 0; s < SENTENCES; s++)
    {
      gint64 n = s * 5 % (MAX_LENGTH + 1), first = sentences->nodes[s], inner = s % 3 == 2 ? 0 : MAX (n - 1, 0);

      sentences->leaves[s + 1] = sentences->leaves[s] + n;
      sentences->words[s] = n;
      sentences->nodes[s + 1] = first + inner;
      for (gint64 i = 0; i < inner; i++)
        {
          gint64 below = i == 0 ? (s % 3 == 0 ? n - 1 : 0) : n + i - 1;

          sentences->left[first + i] = s % 3 == 0 ? n - 2 - i : below;
          sentences->right[first + i] = s % 3 == 0 ? below : i + 1;
        }
    }
}

typedef struct
{
  const char *name;
  PlaitCellDeclaration cell;
  PlaitTreeUnitDeclaration unit;
} Kind;

static const Kind kinds[] = {
  { "GRU, reset before",
    { .kind = PLAIT_CELL_GRU, .input_width = INPUT, .width = WIDTH },
    { .kind = PLAIT_TREE_GRU, .width = WIDTH } },
  { "GRU, reset after",
    { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_AFTER, .input_width = INPUT, .width = WIDTH },
    { .kind = PLAIT_TREE_GRU, .reset = PLAIT_RESET_AFTER, .width = WIDTH } },
  { "LSTM",
    { .kind = PLAIT_CELL_LSTM, .input_width = INPUT, .width = WIDTH },
    { .kind = PLAIT_TREE_LSTM, .width = WIDTH } },
};

static void
append (GArray *numbers, PlaitTensor tensor)
{
  for (gint64 row = 0; row < tensor.rows; row++)
    g_array_append_vals (numbers, plait_tensor_row (tensor, row), (guint)tensor.width);
}

/* Returns the states of all rows and all gradients. (transfer full) */
static GArray *
compute (const Kind *kind, guint threads)
{
  g_auto (Bench) bench = bench_new (threads);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitCellDeclaration down
      = { .kind = PLAIT_CELL_GRU, .reset = kind->cell.reset, .input_width = WIDTH, .width = WIDTH };
  PlaitCell cell = plait_cell_declare (parameters, "cell", &kind->cell);
  PlaitTreeUnit unit = plait_tree_unit_declare (parameters, "unit", &kind->unit);
  PlaitTreeHeadWords heads = plait_tree_head_words_declare (parameters, "heads", WIDTH);
  PlaitTreeTopDown way = plait_tree_top_down_declare (parameters, "down", &down, PLAIT_ROOT_TANH);
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (PlaitScalar));
  Sentences sentences;
  PlaitRagged leaves = { SENTENCES, sentences.leaves }, nodes = { SENTENCES, sentences.nodes };
  PlaitCellState states, initial = { NULL, NULL };
  const PlaitTreeRows *tree;
  PlaitNode *x, *rows[3];

  set_sentences (&sentences);
  CHECK (plait_parameters_allocate (parameters, NULL));
  plait_parameters_initialise (parameters, bench.pool, 1);
  x = bench_random (&bench, plait_ragged_rows (leaves), INPUT, 1);
  initial.state = bench_random (&bench, SENTENCES, WIDTH, 2);
  states = plait_cell_run (bench.tape, &cell, plait_cell_project (bench.tape, &cell, x), leaves, TRUE, initial);
  tree = plait_tree_rows (bench.tape, leaves, sentences.words, nodes, sentences.left, sentences.right);
  rows[0] = plait_tree_unit_apply (bench.tape, &unit, tree, states, NULL).state;
  rows[1] = plait_tree_head_words_apply (bench.tape, &heads, tree, states.state);
  rows[2] = plait_tree_top_down_apply (bench.tape, &way, tree, plait_add_n (bench.tape, rows, 2));
  append (numbers, states.state->value);
  for (gint64 i = 0; i < 3; i++)
    append (numbers, rows[i]->value);
  plait_tape_backward (
      bench.tape,
      plait_reduce_sum (bench.tape, plait_multiply (bench.tape, plait_add_n (bench.tape, rows, 3), rows[2])));
  append (numbers, x->gradient);
  append (numbers, initial.state->gradient);
  append (numbers, plait_parameters_gradients (parameters));
  return numbers;
}

TEST_CASE (bundles, have_the_same_bits_on_any_number_of_threads)
{
  static const guint threads[] = { 2, 3, 5, 6 };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (GArray) alone = compute (&kinds[i], 1);
      double sum = 0;

      for (guint k = 0; k < alone->len; k++)
        sum += fabs ((double)g_array_index (alone, PlaitScalar, k));
      CHECK (isfinite (sum) && sum > 0);
      for (guint t = 0; t < G_N_ELEMENTS (threads); t++)
        {
          CONTEXT ("%s, %u threads", kinds[i].name, threads[t]);
          g_autoptr (GArray) found = compute (&kinds[i], threads[t]);

          CHECK_INT (found->len, alone->len);
          CHECK (memcmp (found->data, alone->data, alone->len * sizeof (PlaitScalar)) == 0);
        }
    }
}
