/* SPDX-License-Identifier: MIT */
#include "layers/blocks.h"

#include "bench.h"

/* Tests of blocks whose borders come from halting numbers (act) or from firing weights (cif). */

/* Returns the blocks of sentence @s as text. Each block has its rows with weights, '|' and its number of children: "[0
 * 1|2][2 3|2]". */
static char *
blocks_text (const PlaitBlocks *blocks, gint64 s)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (gint64 b = blocks->rows.offsets[s]; b < blocks->rows.offsets[s + 1]; b++)
    {
      const gint64 *offsets = blocks->halting_weights.blocks.offsets;

      g_string_append_c (text, '[');
      for (gint64 i = offsets[b]; i < offsets[b + 1]; i++)
        g_string_append_printf (text, "%s%d", i > offsets[b] ? " " : "", (int)blocks->halting_weights.row[i]);
      g_string_append_printf (text, "|%d]", (int)blocks->n_children[b]);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Checks that the parent of a row is the first block that has the row as a child. */
static void
check_parents (const PlaitBlocks *blocks, gint64 n)
{
  for (gint64 row = 0; row < n; row++)
    {
      CONTEXT ("row %d", (int)row);
      gint64 parent = -1;

      for (gint64 b = blocks->halting_weights.blocks.n - 1; b >= 0; b--)
        if (row >= blocks->first_child[b] && row < blocks->first_child[b] + blocks->n_children[b])
          parent = b;
      CHECK_INT (blocks->parent[row], parent);
    }
}

typedef struct
{
  double numbers[6];
  gint64 n;
  const char *blocks;
} Cut;

/* Checks the blocks of @cuts [n]. Each cut is a sentence between two empty sentences. Texts count rows from 0. */
static void
hold_cuts (const Cut *cuts, guint n, gboolean halts, gint64 longest)
{
  g_auto (Bench) bench = bench_new (1);

  for (guint i = 0; i < n; i++)
    {
      CONTEXT ("cut %u", i);
      PlaitRagged rows = { 3, (gint64[]){ 0, 0, cuts[i].n, cuts[i].n } };
      PlaitTensor numbers = bench_tensor (&bench, cuts[i].n, 1, cuts[i].numbers);
      PlaitBlocks blocks = halts ? plait_blocks_halt (bench.tape, rows, numbers, 0.01, longest)
                                 : plait_blocks_fire (bench.tape, rows, numbers, 0.5);
      g_autofree char *text = blocks_text (&blocks, 1);

      CHECK_STRING (text, cuts[i].blocks);
      check_parents (&blocks, cuts[i].n);
      CHECK_INT (plait_ragged_length (blocks.rows, 0) + plait_ragged_length (blocks.rows, 2), 0);
    }
}

TEST_CASE (blocks, act_cuts_where_the_numbers_reach_one)
{
  static const Cut cuts[] = {
    { { .5, .5, .5, .25 }, 4, "[0 1|2][2 3|2]" },
    { { .5, .49, .5, .6 }, 4, "[0 1|2][2 3|2]" }, /* a sum of 1 - epsilon ends a block */
    { { .1, .1, .1, .1 }, 4, "[0 1 2 3|4]" }, /* the sum never reaches 1, and the end of the sentence ends the block */
    { { .995, .2, .2, .2 }, 4, "[0|1][1 2 3|3]" },
    { { .2, .2, .995, .995 }, 4, "[0 1 2|3][3|1]" },
    { { .995, .995, .995 }, 3, "" }, /* there would be as many blocks as rows, so there is no level */
    { { .5 }, 1, "" },
    { { 0 }, 0, "" },
  };

  hold_cuts (cuts, G_N_ELEMENTS (cuts), TRUE, 100);
}

TEST_CASE (blocks, act_has_blocks_of_so_many_rows_at_most)
{
  static const Cut cuts[] = {
    { { .1, .1, .1, .1, .1 }, 5, "[0 1|2][2 3|2][4|1]" },
    { { .1, .9, .1, .1, .9 }, 5, "[0 1|2][2 3|2][4|1]" },
  };

  hold_cuts (cuts, G_N_ELEMENTS (cuts), TRUE, 2);
}

TEST_CASE (blocks, cif_carries_the_surplus_and_judges_the_tail)
{
  static const Cut cuts[] = {
    { { .5, .5, .5, .5 }, 4, "[0 1|2][2 3|2]" },    /* blocks reach exactly 1 and leave no surplus */
    { { .75, .75, .5, .25 }, 4, "[0 1|2][1 2|3]" }, /* the rest of .25 is dropped; row 3 joins the last block */
    { { .75, .75, .5, .25, .5 }, 5, "[0 1|2][1 2|2][3 4|2]" }, /* the rest of .75 becomes a block */
    { { .5, .5, .5 }, 3, "[0 1|3]" },                          /* the rest of .5 does not become a block */
    { { .75, .75, .25, .25 }, 4, "[0 1|2][1 2 3|3]" },         /* the second block reaches exactly 1 */
    { { .25, .25, .25, .125, .5 }, 5, "[0 1 2 3 4|5]" }, /* the rest is only the surplus of row 4 and is dropped */
    { { .25, .25, .375, .875, .0 },
      5,
      "[0 1 2 3|4][3 4|2]" }, /* the rest is only the surplus of row 3 and becomes a block */
    { { .25, .125 }, 2, "" }, /* the sum never reaches 1 */
    { { .25, .5 }, 2, "[0 1|2]" },
    { { .75, .9 }, 2, "" }, /* there would be two blocks for two rows, so there is no level */
    { { .9 }, 1, "" },
    { { 0 }, 0, "" },
  };

  hold_cuts (cuts, G_N_ELEMENTS (cuts), FALSE, 0);
}
