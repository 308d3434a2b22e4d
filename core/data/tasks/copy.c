/* SPDX-License-Identifier: MIT */
/*
 * The task "copy": repeat a sentence of random symbols. Its length is drawn uniformly from shortest to longest, and
 * each symbol independently and uniformly:
 *
 *     a:        dabo tero dabo nila
 *     target:   dabo tero dabo nila
 *
 * A symbol cannot be predicted from the symbols before it, so a model that does not read the source gets at most one in
 * @symbols right. The task measures how well attention finds its position in long sentences with many equal rows.
 */
#include "tasks/generate.h"

enum
{
  SYMBOLS,
  SHORTEST,
  LONGEST,
  N_PARAMETERS,
};

static const PlaitTaskParameter parameters[N_PARAMETERS] = {
  [SYMBOLS] = { "symbols", 40, 1, 4900, "Number of different symbols" },
  [SHORTEST] = { "shortest", 10, 1, 10000, "Number of symbols in the shortest sentences" },
  [LONGEST] = { "longest", 100, 1, 10000, "Number of symbols in the longest sentences; at least that of the shortest" },
};

enum
{
  A,
  TARGET,
};

static void
generate (const gint64 *values, PlaitRandomKey key, GString *const *lines)
{
  PlaitRandomKey symbols = plait_random_subkey (key, 1);
  gint64 n = plait_task_draw_length (values[SHORTEST], values[LONGEST], plait_random_subkey (key, 0), 0);

  for (gint64 i = 0; i < n; i++)
    plait_task_append_stem (lines[A], plait_task_draw (symbols, i, values[SYMBOLS]), 97);
  g_string_append_len (lines[TARGET], lines[A]->str, (gssize)lines[A]->len);
}

const PlaitTask plait_task_copy = {
  .name = "copy",
  .summary = "A sentence of random symbols, which the target repeats",
  .streams = (const char *const[]){ "a", "target", NULL },
  .parameters = parameters,
  .n_parameters = N_PARAMETERS,
  .generate = generate,
};
