/* SPDX-License-Identifier: MIT */
#include "bfloat16-twin.h"

#include <string.h>

#include "attention/attention.h"

/* Tests of attention with products in bfloat16. */

/* Checks a result of several products in bfloat16, whose rounding errors add up. */
static void
check_rather_close (PlaitTensor found, PlaitTensor expected)
{
  check_within (found, expected, 1. / 64);
}

/* Queries, and one or two memories under one softmax. */
typedef struct
{
  PlaitAttentionSettings settings;
  PlaitRagged query_rows;
  guint n_memories;
  PlaitAttentionMemory memories[2];
  PlaitTensor queries;
  PlaitTensor dcontext;
} Attended;

typedef struct
{
  PlaitTensor context;
  PlaitTensor log_sums;
  PlaitTensor dqueries;
  PlaitTensor dkeys[2];
  PlaitTensor dvalues[2];
} Contexts;

static Contexts
attend (Trial *trial, Attended from, PlaitPrecision precision)
{
  gint64 rows = from.queries.rows, width = from.queries.width;
  Contexts found = { .context = trial_rubbish (trial, rows, width),
                     .log_sums = trial_rubbish (trial, 1, rows * from.settings.heads),
                     .dqueries = trial_rubbish (trial, rows, width) };
  PlaitAttentionMemoryGradient gradients[2];
  PlaitAttentionJob job = { .context = found.context,
                            .queries = from.queries,
                            .query_rows = from.query_rows,
                            .memories = from.memories,
                            .n_memories = from.n_memories,
                            .settings = &from.settings,
                            .log_sums = found.log_sums.data,
                            .dcontext = from.dcontext,
                            .dqueries = { found.dqueries, 0 },
                            .dmemories = gradients };

  from.settings.precision = precision;
  for (guint m = 0; m < from.n_memories; m++)
    {
      found.dkeys[m] = trial_rubbish (trial, from.memories[m].keys.rows, width);
      found.dvalues[m] = trial_rubbish (trial, from.memories[m].keys.rows, width);
      gradients[m] = (PlaitAttentionMemoryGradient){ { found.dkeys[m], 0 }, { found.dvalues[m], 0 } };
    }
  plait_attention_forward (trial->pool, &job);
  plait_attention_backward (trial->pool, &job);
  return found;
}

static void
check_contexts (Contexts found, Contexts expected, guint n_memories, void (*check) (PlaitTensor, PlaitTensor))
{
  check (found.context, expected.context);
  check (found.log_sums, expected.log_sums);
  check (found.dqueries, expected.dqueries);
  for (guint m = 0; m < n_memories; m++)
    {
      check (found.dkeys[m], expected.dkeys[m]);
      check (found.dvalues[m], expected.dvalues[m]);
    }
}

/* Draws two sentences of at most @longest keys. */
static Attended
random_attention (Trial *trial, gint64 longest)
{
  Attended from
      = { .n_memories = (guint)trial_number (trial, 1, 2), .settings.heads = (guint)trial_number (trial, 1, 2) };
  gint64 width = from.settings.heads * trial_number (trial, 1, 80);

  from.settings.dropout = trial_flip (trial) ? .2 : 0;
  from.settings.key = plait_random_subkey (trial->key, 4);
  from.settings.causal = from.n_memories == 1 && trial_flip (trial);
  from.query_rows
      = trial_ragged (trial, 2, from.settings.causal ? longest - 3 : 1, from.settings.causal ? longest : 70);
  for (guint m = 0; m < from.n_memories; m++)
    {
      PlaitAttentionMemory *memory = &from.memories[m];
      gint64 most = m == 0 ? longest : 9;

      memory->rows = from.settings.causal ? from.query_rows : trial_ragged (trial, 2, MAX (0, most - 9), most);
      /* If keys are rounded beforehand, scores equal those of float products. */
      memory->keys = rounded (trial, trial_tensor (trial, plait_ragged_rows (memory->rows), width));
      memory->values = trial_tensor (trial, memory->keys.rows, width);
    }
  from.queries = rounded (trial, trial_tensor (trial, plait_ragged_rows (from.query_rows), width));
  from.dcontext = trial_tensor (trial, from.queries.rows, width);
  return from;
}

/* Lengths: the smallest number of keys for which bfloat16 is used, about one block, and several blocks. */
static const gint64 attended_lengths[] = { 73, 100, 265, 530 };

static void
attention_body (Trial *trial)
{
  Attended from = random_attention (trial, attended_lengths[trial_number (trial, 0, 3)]);
  Contexts numbers = attend (trial, from, PLAIT_PRECISION_FLOAT);
  Contexts emulated = attend (trial, from, PLAIT_PRECISION_BFLOAT16_EMULATED);

  check_contexts (emulated, numbers, from.n_memories, check_rather_close);
  /* Add the bits to the digest, which must be equal for all numbers of threads. */
  trial_check (trial, "context", emulated.context, emulated.context);
  trial_check (trial, "dqueries", emulated.dqueries, emulated.dqueries);
  trial_check (trial, "dkeys", emulated.dkeys[0], emulated.dkeys[0]);
  for (gint64 i = 0; i < numbers.log_sums.width; i++)
    CHECK_NEAR (emulated.log_sums.data[i], numbers.log_sums.data[i], 1e-4);
  CHECK (memcmp (emulated.context.data, numbers.context.data, sizeof (PlaitScalar) * (gsize)numbers.context.width)
         != 0);
  if (plait_precision_runs_here (PLAIT_PRECISION_BFLOAT16))
    check_contexts (attend (trial, from, PLAIT_PRECISION_BFLOAT16), emulated, from.n_memories, check_same);
}

TEST_CASE (bfloat16, attention_is_close_to_that_of_numbers_and_its_bits_are_those_of_the_emulation)
{
  trial_run (attention_body, 12);
}

static void
short_attention_body (Trial *trial)
{
  Attended from = random_attention (trial, 50);
  Contexts numbers = attend (trial, from, PLAIT_PRECISION_FLOAT);

  EACH_PRECISION (p)
  check_contexts (attend (trial, from, precisions[p]), numbers, from.n_memories, check_same);
}

TEST_CASE (bfloat16, attention_to_few_keys_is_that_of_numbers)
{
  trial_run (short_attention_body, 3);
}
