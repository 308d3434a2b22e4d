/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "attention-twin.h"
#include "kernels/kernels.h"

#define FEW_MEMORIES 3
#define MAX_MEMORIES 20

typedef struct
{
  gint64 width;
  PlaitAttentionSettings settings;
  PlaitRagged query_rows;
  guint n_memories;
  PlaitTensor queries, context, dcontext, dqueries, slow_context, slow_dqueries;
  PlaitAttentionMemory memories[MAX_MEMORIES];
  PlaitScalar *slow_weights[MAX_MEMORIES];
  PlaitAttentionMemoryGradient gradients[MAX_MEMORIES];
  PlaitTensor slow_dkeys[MAX_MEMORIES], slow_dvalues[MAX_MEMORIES];
} Case;

static gint64
pairs_of (const Case *c, guint m)
{
  gint64 pairs = 0;

  for (gint64 s = 0; s < c->query_rows.n; s++)
    pairs += plait_ragged_length (c->query_rows, s) * plait_ragged_length (c->memories[m].rows, s);
  return pairs;
}

/* Slopes of the linear bias for 1, 2 and 3 heads, from Press et al. 2022; for 3 heads from their code. */
static const double slopes[][3] = { { 1. / 256 }, { 1. / 16, 1. / 256 }, { 1. / 16, 1. / 256, 1. / 4 } };

/* Returns the distance between query @t and key @k. In a step of search, the only query stands at the last key. */
static gint64
distance_of (const Case *c, gint64 sentence, gint64 t, gint64 k)
{
  if (!c->settings.causal)
    t += plait_ragged_length (c->memories[0].rows, sentence) - plait_ragged_length (c->query_rows, sentence);
  return ABS (t - k);
}

/* Computes attention in plain loops, as the equations read. */
static void
slow_attention (Trial *trial, Case *c, gboolean backward)
{
  gint64 width = c->width / c->settings.heads, done[MAX_MEMORIES] = { 0 };

  for (gint64 s = 0; s < c->query_rows.n && trial_compares (); s++)
    {
      gint64 queries = plait_ragged_length (c->query_rows, s), n = 0;

      for (guint m = 0; m < c->n_memories; m++)
        n += plait_ragged_length (c->memories[m].rows, s);
      for (guint head = 0; head < c->settings.heads; head++)
        for (gint64 t = 0; t < queries; t++)
          {
            gint64 row = c->query_rows.offsets[s] + t, column = head * width, j = 0;
            gsize size = sizeof (gpointer) * (gsize)(n + 1);
            Slow slow = { n,
                          trial_memory (trial, size),
                          trial_memory (trial, size),
                          trial_memory (trial, size),
                          trial_memory (trial, size),
                          c->settings.scale != 0 ? c->settings.scale : 1 / sqrt ((double)width),
                          width,
                          NULL };
            double *biases = trial_memory (trial, size);
            PlaitScalar **dkeys = trial_memory (trial, size), **dvalues = trial_memory (trial, size);

            for (guint m = 0; m < c->n_memories; m++)
              for (gint64 k = 0; k < plait_ragged_length (c->memories[m].rows, s); k++, j++)
                {
                  gint64 key = c->memories[m].rows.offsets[s] + k;

                  gint64 distance = distance_of (c, s, t, k);

                  if ((c->settings.causal && k > t) || (c->settings.window > 0 && distance >= c->settings.window))
                    continue;
                  biases[j] = -slopes[c->settings.heads - 1][head] * (double)distance;
                  if (c->memories[m].gather)
                    key = c->memories[m].gather[key];
                  slow.keys[j] = plait_tensor_row (c->memories[m].keys, key) + column;
                  slow.values[j] = plait_tensor_row (c->memories[m].values, key) + column;
                  slow.factors[j] = slow_factor (&c->settings, row, head, j);
                  if (backward)
                    {
                      dkeys[j] = plait_tensor_row (c->slow_dkeys[m], key) + column;
                      dvalues[j] = plait_tensor_row (c->slow_dvalues[m], key) + column;
                    }
                }
            slow.biases = c->settings.linear_bias ? biases : NULL;
            slow_weigh (&slow, plait_tensor_row (c->queries, row) + column);
            slow_context (&slow, plait_tensor_row (c->slow_context, row) + column);
            j = 0;
            for (guint m = 0; m < c->n_memories; m++)
              for (gint64 k = 0, keys = plait_ragged_length (c->memories[m].rows, s); k < keys; k++, j++)
                c->slow_weights[m][head * pairs_of (c, m) + done[m] + t * keys + k] = (PlaitScalar)slow.weights[j];
            if (backward)
              slow_backward (&slow, plait_tensor_row (c->queries, row) + column,
                             plait_tensor_row (c->dcontext, row) + column,
                             plait_tensor_row (c->slow_dqueries, row) + column, dkeys, dvalues);
          }
      for (guint m = 0; m < c->n_memories; m++)
        done[m] += queries * plait_ragged_length (c->memories[m].rows, s);
    }
}

/* Returns random settings of a case, still without the sentences. */
static Case
random_settings (Trial *trial)
{
  Case c = { .n_memories = (guint)trial_number (trial, 1, trial_number (trial, 0, 7) ? FEW_MEMORIES : MAX_MEMORIES) };

  c.settings.heads = (guint)trial_number (trial, 1, 3);
  c.settings.scale = trial_flip (trial) ? .3 : 0;
  c.settings.dropout = trial_flip (trial) ? .2 : 0;
  c.settings.key = plait_random_subkey (trial->key, 4);
  c.width = c.settings.heads * (trial_flip (trial) ? 16 * trial_number (trial, 1, 4) : trial_number (trial, 1, 50));
  return c;
}

/* Draws the contents of the sentences of the case. */
static void
draw_sentences (Trial *trial, Case *c)
{
  c->queries = trial_tensor (trial, plait_ragged_rows (c->query_rows), c->width);
  c->context = trial_rubbish (trial, c->queries.rows, c->width);
  c->slow_context = trial_tensor (trial, c->queries.rows, c->width);
  for (guint m = 0; m < c->n_memories; m++)
    {
      PlaitAttentionMemory *memory = &c->memories[m];
      gint64 pairs = pairs_of (c, m);

      memory->keys = trial_tensor (trial, plait_ragged_rows (memory->rows), c->width);
      memory->values = trial_tensor (trial, plait_ragged_rows (memory->rows), c->width);
      memory->weights = trial_flip (trial) ? trial_rubbish (trial, 1, c->settings.heads * pairs).data : NULL;
      c->slow_weights[m] = trial_memory (trial, sizeof (PlaitScalar) * (gsize)(c->settings.heads * pairs));
    }
}

static Case
random_case (Trial *trial, gint64 most_queries, gint64 most_keys)
{
  Case c = random_settings (trial);
  gint64 sentences = trial_number (trial, 0, 4);

  c.query_rows = trial_ragged (trial, sentences, 0, most_queries);
  for (guint m = 0; m < c.n_memories; m++)
    c.memories[m].rows = trial_ragged (trial, sentences, 0, most_keys);
  if (c.n_memories == 1)
    c.settings.causal = trial_flip (trial);
  draw_sentences (trial, &c);
  return c;
}

static void
check_forward (Trial *trial, Case *c, gboolean backward)
{
  slow_attention (trial, c, backward);
  trial_check (trial, "context", c->context, c->slow_context);
  for (guint m = 0; m < c->n_memories; m++)
    if (c->memories[m].weights)
      trial_check_vector (trial, "weights", c->memories[m].weights, c->slow_weights[m],
                          c->settings.heads * pairs_of (c, m));
}

static PlaitAttentionJob
job_of (const Case *c)
{
  return (PlaitAttentionJob){ .context = c->context,
                              .queries = c->queries,
                              .query_rows = c->query_rows,
                              .memories = c->memories,
                              .n_memories = c->n_memories,
                              .settings = &c->settings,
                              .dcontext = c->dcontext,
                              .dmemories = c->gradients };
}

static void
run_forward (Trial *trial, const Case *c)
{
  PlaitAttentionJob job = job_of (c);

  plait_attention_forward (trial->pool, &job);
}

static void
attention_case (Trial *trial, Case c)
{
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitScalar *log_sums = trial_vector (trial, c.queries.rows * c.settings.heads);
  PlaitGradientTarget dqueries = { .beta = beta };
  PlaitAttentionJob job;

  c.dcontext = trial_tensor (trial, c.queries.rows, c.width);
  dqueries.gradient = trial_target (trial, c.queries.rows, c.width, beta, &c.slow_dqueries);
  for (guint m = 0; m < c.n_memories; m++)
    {
      PlaitAttentionMemoryGradient *gradient = &c.gradients[m];
      gint64 rows = c.memories[m].keys.rows;

      gradient->keys.beta = gradient->values.beta = beta;
      gradient->keys.gradient = trial_target (trial, rows, c.width, beta, &c.slow_dkeys[m]);
      gradient->values.gradient = trial_target (trial, rows, c.width, beta, &c.slow_dvalues[m]);
    }
  job = job_of (&c);
  job.log_sums = log_sums;
  job.dqueries = dqueries;
  plait_attention_forward (trial->pool, &job);
  plait_attention_backward (trial->pool, &job);
  check_forward (trial, &c, TRUE);
  trial_check (trial, "dqueries", dqueries.gradient, c.slow_dqueries);
  for (guint m = 0; m < c.n_memories; m++)
    {
      trial_check (trial, "dkeys", c.gradients[m].keys.gradient, c.slow_dkeys[m]);
      trial_check (trial, "dvalues", c.gradients[m].values.gradient, c.slow_dvalues[m]);
    }
}

static void
attention_body (Trial *trial)
{
  attention_case (trial, random_case (trial, 20, 35));
}

TEST_CASE (attention, equals_its_slow_twin)
{
  trial_run (attention_body, 40);
}

static void
long_body (Trial *trial)
{
  attention_case (trial, random_case (trial, 100, 700));
}

TEST_CASE (attention, goes_through_many_queries_in_tiles)
{
  trial_run (long_body, 2);
}

/* Checks self-attention of sentences of up to @longest rows. */
static void
own_case (Trial *trial, gint64 longest, gint64 width, PlaitAttentionSettings settings)
{
  const gint64 offsets[] = { 0, longest, longest, longest + 3 };
  Case c = { .n_memories = 1, .width = width, .settings = settings };

  c.settings.key = plait_random_subkey (trial->key, 4);
  c.query_rows = c.memories[0].rows = (PlaitRagged){ 3, offsets };
  draw_sentences (trial, &c);
  attention_case (trial, c);
}

static void
own_body (Trial *trial)
{
  own_case (trial, 530, 16, (PlaitAttentionSettings){ .heads = 1, .causal = TRUE, .dropout = .2 });
  own_case (trial, 300, 5, (PlaitAttentionSettings){ .heads = 1 });
}

TEST_CASE (attention, goes_through_long_sentences_in_blocks)
{
  trial_run (own_body, 1);
}

static void
relative_body (Trial *trial)
{
  Case c = random_settings (trial);
  gboolean window = trial_flip (trial);

  c.n_memories = 1;
  c.settings.causal = trial_flip (trial);
  c.settings.window = window ? trial_number (trial, 1, 25) : 0;
  c.settings.linear_bias = !window || trial_flip (trial);
  c.query_rows = c.memories[0].rows = trial_ragged (trial, trial_number (trial, 0, 4), 0, trial_flip (trial) ? 20 : 80);
  draw_sentences (trial, &c);
  attention_case (trial, c);
}

TEST_CASE (attention, subtracts_distances_and_sees_a_window)
{
  trial_run (relative_body, 60);
}

/* Checks windows that end inside a block or span several blocks. A tile of queries may begin in another block than its
 * window. */
static void
relative_blocks_body (Trial *trial)
{
  static const gint64 windows[] = { 0, 40, 257 };

  for (guint i = 0; i < G_N_ELEMENTS (windows); i++)
    own_case (trial, 530, 16,
              (PlaitAttentionSettings){ .heads = 2,
                                        .causal = trial_flip (trial),
                                        .linear_bias = windows[i] == 0 || trial_flip (trial),
                                        .window = windows[i],
                                        .dropout = trial_flip (trial) ? .2 : 0 });
}

TEST_CASE (attention, moves_a_window_through_blocks)
{
  trial_run (relative_blocks_body, 1);
}

/* The slopes for 8 heads are 1/2, 1/4, ... 1/256, for 16 heads 2^-0.5, 2^-1, ... (Press et al. 2022, section 3). For 12
 * heads, the authors' code takes the slopes of 8 heads, then the first, third, ... slope of 16. */
TEST_CASE (attention, takes_the_slopes_of_the_paper)
{
  for (guint head = 0; head < 8; head++)
    {
      CHECK (plait_attention_slope (8, head) == pow (.5, head + 1));
      CHECK (plait_attention_slope (16, 2 * head) == pow (.5, head + .5));
      CHECK (plait_attention_slope (16, 2 * head + 1) == pow (.5, head + 1));
      CHECK (plait_attention_slope (12, head) == pow (.5, head + 1));
      if (head < 4)
        CHECK (plait_attention_slope (12, 8 + head) == pow (.5, head + .5));
    }
}

/* Scores differ between blocks of keys by more than exp can represent. The key with the largest score gets all the
 * weight, whatever block it is in. */
static void
steep_body (Trial *trial)
{
  static const gint64 one[] = { 0, 1 }, many[] = { 0, 700 };
  gint64 greatest = trial_number (trial, 0, 699);
  PlaitTensor query = trial_tensor (trial, 1, 16), keys = trial_tensor (trial, 700, 16);
  PlaitTensor values = trial_tensor (trial, 700, 16), context = trial_rubbish (trial, 1, 16);
  PlaitAttentionSettings settings = { .heads = 1, .scale = 1 };
  PlaitAttentionMemory memory = { .keys = keys, .values = values, .rows = { 1, many } };
  PlaitScalar *log_sums = trial_vector (trial, 1);
  PlaitAttentionJob job = { .context = context,
                            .queries = query,
                            .query_rows = { 1, one },
                            .memories = &memory,
                            .n_memories = 1,
                            .settings = &settings,
                            .log_sums = log_sums };

  for (gint64 j = 0; j < 16; j++)
    query.data[j] = j == 0;
  for (gint64 i = 0; i < 700; i++)
    plait_tensor_row (keys, i)[0] = (PlaitScalar)(i == greatest ? 5000 : 2000 - 3 * i);
  plait_attention_forward (trial->pool, &job);
  trial_check (trial, "context", context, plait_tensor_rows (values, greatest, 1));
  CHECK (log_sums[0] == 5000);
}

TEST_CASE (attention, finds_the_greatest_score_in_any_block)
{
  trial_run (steep_body, 8);
}

/* The workspace of a thread must grow linearly with the sentence: here it is less than half the size of one head's
 * weights. */
TEST_CASE (attention, scratch_grows_as_the_sentence)
{
  static const gint64 offsets[] = { 0, 1024, 4096 };
  const gint64 lengths[] = { 1024, 3072 };
  PlaitAttentionMemory memory = { .rows = { 2, offsets } };
  PlaitAttentionSettings settings = { .heads = 8 };
  PlaitAttentionJob job = { .queries = { .rows = 4096, .width = 512 },
                            .query_rows = { 2, offsets },
                            .memories = &memory,
                            .n_memories = 1,
                            .settings = &settings };

  for (gint64 sentence = 0; sentence < 2; sentence++)
    {
      PlaitAttentionPiece piece = { &job, sentence, 0 };
      gsize weights = sizeof (PlaitScalar) * (gsize)(lengths[sentence] * lengths[sentence]);

      CHECK (2 * plait_kernels ()->attention_forward (&piece, NULL) < weights);
      CHECK (2 * plait_kernels ()->attention_backward (&piece, NULL) < weights);
    }
}

/* Lets the memory gather its keys and values from eleven rows. */
static void
gather_keys (Trial *trial, const Case *c, PlaitAttentionMemory *memory)
{
  gint64 n = plait_ragged_rows (memory->rows), *gather = trial_memory (trial, sizeof (gint64) * (gsize)(n + 1));

  memory->keys = trial_tensor (trial, 11, c->width);
  memory->values = trial_tensor (trial, 11, c->width);
  for (gint64 i = 0; i < n; i++)
    gather[i] = trial_number (trial, 0, 10);
  memory->gather = gather;
}

static void
gather_case (Trial *trial, Case c)
{

  for (guint m = 0; m < c.n_memories; m++)
    gather_keys (trial, &c, &c.memories[m]);
  run_forward (trial, &c);
  check_forward (trial, &c, FALSE);
}

static void
gather_body (Trial *trial)
{
  gather_case (trial, random_case (trial, 3, 30));
}

static void
gather_blocks_body (Trial *trial)
{
  gather_case (trial, random_case (trial, 3, 500));
}

TEST_CASE (attention, reads_gathered_keys)
{
  trial_run (gather_body, 15);
  trial_run (gather_blocks_body, 1);
}

/* Checks that transposed keys, as search uses them, give equal bits. */
static void
columns_case (Trial *trial, Case c)
{
  PlaitTensor without = trial_rubbish (trial, c.queries.rows, c.width), with = c.context;

  c.context = without;
  run_forward (trial, &c);
  c.context = with;
  for (guint m = 0; m < c.n_memories; m++)
    {
      PlaitAttentionMemory *memory = &c.memories[m];
      PlaitScalar *columns = trial_vector (trial, plait_transposed_keys_size (memory->rows, c.width));

      plait_transpose_keys (trial->pool, columns, memory->keys, memory->rows);
      memory->transposed_keys = columns;
    }
  run_forward (trial, &c);
  check_forward (trial, &c, FALSE);
  for (gint64 row = 0; row < c.queries.rows; row++)
    CHECK (memcmp (plait_tensor_row (c.context, row), plait_tensor_row (without, row), sizeof (PlaitScalar) * c.width)
           == 0);
}

static void
columns_body (Trial *trial)
{
  Case c = random_case (trial, 12, 40);

  c.settings.causal = FALSE;
  columns_case (trial, c);
}

static void
columns_of_blocks_body (Trial *trial)
{
  Case c = random_case (trial, 5, 500);

  c.settings.causal = FALSE;
  columns_case (trial, c);
}

TEST_CASE (attention, reads_given_key_columns)
{
  trial_run (columns_body, 40);
  trial_run (columns_of_blocks_body, 2);
}

/* In a step of search each sentence has one query. A kernel of its own computes this. */
static void
single_body (Trial *trial)
{
  Case c = random_case (trial, 1, 40);

  c.n_memories = 1;
  c.settings.dropout = 0;
  c.settings.causal = FALSE;
  c.settings.linear_bias = trial_number (trial, 0, 2) == 0;
  c.settings.window = trial_number (trial, 0, 2) == 0 ? trial_number (trial, 1, 30) : 0;
  c.query_rows = trial_ragged (trial, c.query_rows.n, 1, 1);
  c.queries = trial_tensor (trial, c.query_rows.n, c.width);
  c.context = trial_rubbish (trial, c.query_rows.n, c.width);
  c.slow_context = trial_tensor (trial, c.query_rows.n, c.width);
  c.memories[0].weights = NULL;
  c.slow_weights[0] = trial_vector (trial, c.settings.heads * plait_ragged_rows (c.memories[0].rows));
  if (trial_flip (trial))
    gather_keys (trial, &c, &c.memories[0]);
  run_forward (trial, &c);
  check_forward (trial, &c, FALSE);
}

TEST_CASE (attention, reads_for_single_queries)
{
  trial_run (single_body, 40);
}

/* A sentence computed separately has the bits that it has alone, whether other sentences have one query or several. */
static void
separate_body (Trial *trial)
{
  Case c = random_case (trial, 2, 40);
  PlaitAttentionJob job = job_of (&c);

  c.n_memories = job.n_memories = 1;
  c.settings.dropout = 0;
  c.settings.causal = FALSE;
  c.memories[0].weights = NULL;
  job.separate = TRUE;
  plait_attention_forward (trial->pool, &job);
  check_forward (trial, &c, FALSE);
  for (gint64 s = 0; s < c.query_rows.n; s++)
    {
      gint64 first = c.query_rows.offsets[s], n = plait_ragged_length (c.query_rows, s);
      gint64 first_key = c.memories[0].rows.offsets[s], keys = plait_ragged_length (c.memories[0].rows, s);
      gint64 query_offsets[] = { 0, n }, key_offsets[] = { 0, keys };
      PlaitAttentionMemory memory = { .keys = plait_tensor_rows (c.memories[0].keys, first_key, keys),
                                      .values = plait_tensor_rows (c.memories[0].values, first_key, keys),
                                      .rows = { 1, key_offsets } };
      PlaitAttentionJob alone = job;

      alone.context = trial_rubbish (trial, n, c.width);
      alone.queries = plait_tensor_rows (c.queries, first, n);
      alone.query_rows = (PlaitRagged){ 1, query_offsets };
      alone.memories = &memory;
      plait_attention_forward (trial->pool, &alone);
      for (gint64 i = 0; i < n; i++)
        CHECK (memcmp (plait_tensor_row (c.context, first + i), plait_tensor_row (alone.context, i),
                       sizeof (PlaitScalar) * (gsize)c.width)
               == 0);
    }
}

TEST_CASE (attention, separates_sentences)
{
  trial_run (separate_body, 60);
}

/* Queries, keys and values are one tensor, and their gradients are one tensor. */
static void
shared_body (Trial *trial)
{
  PlaitRagged rows = trial_ragged (trial, 3, 0, 20);
  gint64 n = plait_ragged_rows (rows), width = 24;
  PlaitTensor x = trial_tensor (trial, n, width), context = trial_rubbish (trial, n, width);
  PlaitTensor dcontext = trial_tensor (trial, n, width), shared = trial_rubbish (trial, n, width);
  PlaitTensor apart[3], sum = trial_rubbish (trial, n, width);
  PlaitAttentionSettings settings = { .heads = 2 };
  PlaitAttentionMemory memory = { .keys = x, .values = x, .rows = rows };
  PlaitScalar *log_sums = trial_vector (trial, n * 2);
  PlaitAttentionMemoryGradient gradient = { { shared, 1 }, { shared, 1 } };
  PlaitAttentionJob job = { .context = context,
                            .queries = x,
                            .query_rows = rows,
                            .memories = &memory,
                            .n_memories = 1,
                            .settings = &settings,
                            .log_sums = log_sums,
                            .dcontext = dcontext,
                            .dqueries = { shared, 0 },
                            .dmemories = &gradient };

  plait_attention_forward (trial->pool, &job);
  plait_attention_backward (trial->pool, &job);
  for (guint i = 0; i < 3; i++)
    apart[i] = trial_rubbish (trial, n, width);
  gradient = (PlaitAttentionMemoryGradient){ { apart[1], 0 }, { apart[2], 0 } };
  job.dqueries = (PlaitGradientTarget){ apart[0], 0 };
  plait_attention_backward (trial->pool, &job);
  for (gint64 i = 0; i < n; i++)
    for (gint64 j = 0; j < width; j++)
      plait_tensor_row (sum, i)[j]
          = plait_tensor_row (apart[0], i)[j] + plait_tensor_row (apart[1], i)[j] + plait_tensor_row (apart[2], i)[j];
  trial_check (trial, "shared gradient", shared, sum);
}

TEST_CASE (attention, adds_up_gradients_of_one_tensor)
{
  trial_run (shared_body, 5);
}
