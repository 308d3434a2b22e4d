/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search-fixture.h"

#include <math.h>

#include "contract/pass.h"

/* Tests of the loss on word alignments: it is computed again from recorded attention weights, and its gradients are
 * checked. */

/* Links of the three sentences to the first source, and to the second source, which only the first sentence has. */
static const gint64 first_offsets[] = { 0, 4, 6, 7 }, second_offsets[] = { 0, 2, 2, 2 };
static const gint64 first_source[] = { 0, 2, 3, 1, 1, 0, 0 }, first_target[] = { 0, 0, 0, 2, 0, 1, 3 };
static const gint64 second_source[] = { 2, 0 }, second_target[] = { 1, 3 };
static const PlaitAlignment alignments[2] = {
  { { 3, first_offsets }, first_source, first_target },
  { { 3, second_offsets }, second_source, second_target },
};

/* Replaces the model of @fixture by a model that learns alignments. */
static gboolean
learn (PlaitFixture *fixture, const PlaitAlignmentSettings *settings, GError **error)
{
  for (guint i = 0; i < fixture->specification.n_sources; i++)
    fixture->sources[i].aligned = TRUE;
  fixture->specification.alignment = *settings;
  plait_model_free (fixture->model);
  fixture->model = plait_model_new (&fixture->specification, error);
  if (fixture->model)
    plait_fixture_initialise (fixture, 11);
  return fixture->model != NULL;
}

static PlaitBatch *
aligned_batch (const SearchFixture *fixture)
{
  PlaitBatch *batch = search_fixture_batch (fixture);

  for (guint i = 0; i < 2; i++)
    ((PlaitInput *)batch->inputs)[i].alignment = &alignments[i];
  return batch;
}

typedef struct
{
  const PlaitFixture *fixture;
  const PlaitBatch *batch;
  PlaitTape *tape;
  PlaitAttentionRecord *record;
  PlaitModelSums sums;
  double root;
} Running;

static void
run (gpointer data)
{
  Running *running = data;
  PlaitOutputLossOptions options = { .scale = 1 };
  const PlaitDecoder *decoder = plait_model_decoder (running->fixture->model);

  plait_tape_begin (running->tape, PLAIT_TAPE_CHECK, plait_random_key (1, "dropout", NULL, 1));
  running->record
      = plait_attention_record_new (plait_tape_arena (running->tape), plait_decoder_n_layers (decoder), 2, FALSE);
  running->root = (double)plait_tape_value (running->tape,
                                            plait_model_loss (running->fixture->model, running->tape, running->batch,
                                                              &options, &running->sums, NULL, running->record))
                      .data[0];
}

/* Returns the loss of memory @memory by its definition, from the weights of head @head in layer @layer; -1: from the
 * mean over heads. */
static double
expected_loss (const Running *running, guint layer, guint memory, gint64 head)
{
  const PlaitAlignment *alignment = &alignments[memory];
  const PlaitRecordedLayer *recorded = plait_attention_record_find (running->record, layer, NULL, memory);
  gint64 pairs = plait_attention_record_pairs (running->record, memory), before = 0;
  double loss = 0;

  if (!recorded || recorded->heads == 0)
    return NAN;
  for (gint64 s = 0; s < 3; s++)
    {
      gint64 rows = plait_ragged_length (running->record->memories[memory].rows, s);
      gint64 targets = plait_ragged_length (running->batch->target_rows, s);

      for (gint64 t = 0; t < targets; t++)
        {
          double weights[16] = { 0 }, sum = 0, logs = 0;
          guint n = 0;

          for (gint64 i = 0; i < rows; i++)
            {
              for (guint h = 0; h < recorded->heads; h++)
                if (head < 0 || head == h)
                  weights[i] += (double)recorded->weights[h * pairs + before + t * rows + i]
                                / (head < 0 ? recorded->heads : 1);
              sum += weights[i];
            }
          for (gint64 i = alignment->links.offsets[s]; i < alignment->links.offsets[s + 1]; i++)
            if (alignment->target[i] == t)
              {
                logs += log (weights[alignment->source[i]] / sum);
                n++;
              }
          loss -= n > 0 ? logs / n : 0;
        }
      before += targets * rows;
    }
  return loss;
}

/* Checks the loss and its gradients, in a model with @combiner, test decoder @decoder and @coverage (or NULL). */
static void
check_model (const char *combiner, guint decoder, const char *coverage, PlaitAlignmentSettings settings)
{
  g_auto (SearchFixture) fixture = search_fixture_new (combiner, decoder, coverage, FALSE);
  g_autoptr (PlaitBatch) batch = aligned_batch (&fixture);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (fixture.pool, arena);
  Running running = { fixture.model, batch, tape, NULL, { { 0 } }, 0 };
  const PlaitLossColumns *columns;
  guint layer, column = 0;
  double expected = 0;

  CONTEXT ("combiner %s, decoder %u, coverage %s, layer %jd, head %jd", combiner, decoder, coverage ? coverage : "none",
           settings.layer, settings.head);
  REQUIRE (learn (fixture.model, &settings, NO_ERROR));
  REQUIRE (plait_arena_protect (arena, run, &running, NO_ERROR));
  columns = plait_model_losses (fixture.model->model);
  while (column < columns->n && !g_str_equal (columns->columns[column].name, "alignment"))
    column++;
  REQUIRE (column < columns->n);
  layer = settings.layer < 0 ? plait_decoder_n_layers (plait_model_decoder (fixture.model->model)) - 1
                             : (guint)settings.layer;
  for (guint m = 0; m < 2; m++)
    expected += expected_loss (&running, layer, m, settings.head);
  /* Descent selects rows, whose weights the record keeps in another place, so check only its gradients. */
  if (!g_str_equal (combiner, "descent"))
    CHECK_NEAR (running.sums.losses[column], expected, 1e-4 * fabs (expected));
  CHECK (running.sums.losses[column] > 1);
  CHECK_NEAR (running.sums.auxiliary, settings.weight * running.sums.losses[column], 1e-4);
  CHECK_NEAR (running.root, running.sums.words.loss + running.sums.auxiliary, 1e-3);
  for (guint64 seed = 1; seed < 3; seed++)
    {
      if (plait_pass_has_gradients (fixture.model, batch, PLAIT_TAPE_CHECK, 2, NULL))
        return;
      plait_fixture_initialise (fixture.model, seed);
    }
  CHECK (plait_pass_has_gradients (fixture.model, batch, PLAIT_TAPE_CHECK, 2, NO_ERROR));
}

/* Every decoder with every combiner, on whole targets or step by step. */
TEST_CASE (guided_alignment, equals_its_definition_in_all_decoders)
{
  for (guint c = 0; c < SEARCH_FIXTURE_COMBINERS; c++)
    for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
      check_model (search_fixture_combiners[c], d, NULL, (PlaitAlignmentSettings){ 3, -1, -1, NULL });
}

TEST_CASE (guided_alignment, teaches_the_layer_and_head_that_are_named)
{
  for (gint64 head = 0; head < 2; head++)
    for (guint c = 0; c < SEARCH_FIXTURE_COVERED; c++)
      check_model (search_fixture_combiners[c], PLAIT_FIXTURE_TRANSFORMER, NULL,
                   (PlaitAlignmentSettings){ 3, 0, head, NULL });
  check_model ("serial", PLAIT_FIXTURE_GRU, NULL, (PlaitAlignmentSettings){ 3, 0, 0, NULL });
}

/* A Transformer with a coverage runs step by step. */
TEST_CASE (guided_alignment, works_with_coverage)
{
  check_model ("serial", PLAIT_FIXTURE_TRANSFORMER, "word", (PlaitAlignmentSettings){ 2, -1, -1, NULL });
  check_model ("hierarchical", PLAIT_FIXTURE_GRU, "word", (PlaitAlignmentSettings){ 2, -1, -1, NULL });
}

/* In evaluation, and in batches without alignments, the loss is 0 and takes no time. */
TEST_CASE (guided_alignment, is_only_of_training)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("serial", PLAIT_FIXTURE_TRANSFORMER, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = aligned_batch (&fixture), plain = search_fixture_batch (&fixture);
  PlaitAlignmentSettings settings = { 1, -1, -1, NULL };
  PlaitPass evaluated, trained, without;

  REQUIRE (learn (fixture.model, &settings, NO_ERROR));
  CHECK (plait_pass_run (fixture.model, batch, PLAIT_TAPE_EVALUATE, 1, 1, &evaluated, NO_ERROR));
  CHECK (plait_pass_run (fixture.model, batch, PLAIT_TAPE_TRAIN, 1, 1, &trained, NO_ERROR));
  CHECK (plait_pass_run (fixture.model, plain, PLAIT_TAPE_TRAIN, 1, 1, &without, NO_ERROR));
  CHECK (evaluated.sums.auxiliary == 0 && without.sums.auxiliary == 0 && trained.sums.auxiliary > 0);
}

/* A memory with random weights and random links, for the loss without a model. */
typedef struct
{
  gint64 tokens, targets; /* numbers of tokens and targets in the first sentence; the second has half as many */
  gint64 every;           /* only tokens whose number is a multiple of this have a row in the memory */
  PlaitTape *tape;
  double loss, expected;
} Direct;

#define SENTENCES 2

/* Returns the rows of two sentences: @n rows in the first, half as many in the second. */
static PlaitRagged
two_sentences (PlaitArena *arena, gint64 n)
{
  gint64 *offsets = plait_arena_new_array0 (arena, gint64, SENTENCES + 1);

  offsets[1] = n;
  offsets[2] = n + n / 2;
  return (PlaitRagged){ SENTENCES, offsets };
}

/* Links random pairs. The links are in the order of the tokens, so links of one target row are not neighbours. */
static PlaitAlignment
random_links (PlaitArena *arena, PlaitRagged tokens, PlaitRagged targets)
{
  gint64 *offsets = plait_arena_new_array0 (arena, gint64, SENTENCES + 1), n = 0;
  gint64 *source = plait_arena_new_array (arena, gint64, plait_ragged_rows (tokens) * plait_ragged_rows (targets));
  gint64 *target = plait_arena_new_array (arena, gint64, plait_ragged_rows (tokens) * plait_ragged_rows (targets));
  PlaitRandomKey key = plait_random_key (3, "links", NULL, 1);

  for (gint64 s = 0; s < SENTENCES; s++)
    {
      for (gint64 i = 0; i < plait_ragged_length (tokens, s); i++)
        for (gint64 t = 0; t < plait_ragged_length (targets, s); t++)
          if (plait_random_below (key, (guint64)((s * 1000 + i) * 1000 + t), 4) == 0)
            {
              source[n] = i;
              target[n++] = t;
            }
      offsets[s + 1] = n;
    }
  return (PlaitAlignment){ { SENTENCES, offsets }, source, target };
}

/* Returns the loss by its definition, computed pair by pair. */
static double
loss_of_pairs (const Direct *direct, const PlaitAlignment *alignment, PlaitRagged rows, PlaitRagged targets,
               const PlaitScalar *weights)
{
  double loss = 0;

  for (gint64 s = 0, pair = 0; s < SENTENCES; s++)
    for (gint64 t = 0; t < plait_ragged_length (targets, s); t++, pair += plait_ragged_length (rows, s))
      {
        double sum = 0, logs = 0;
        gint64 n = 0;

        for (gint64 i = 0; i < plait_ragged_length (rows, s); i++)
          sum += (double)weights[pair + i];
        for (gint64 i = alignment->links.offsets[s]; i < alignment->links.offsets[s + 1]; i++)
          if (alignment->target[i] == t && alignment->source[i] % direct->every == 0)
            {
              logs += log ((double)weights[pair + alignment->source[i] / direct->every] / sum);
              n++;
            }
        loss -= n > 0 ? logs / (double)n : 0;
      }
  return loss;
}

static void
run_directly (gpointer data)
{
  Direct *direct = data;
  PlaitTape *tape = direct->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitRagged tokens = two_sentences (arena, direct->tokens), targets = two_sentences (arena, direct->targets);
  PlaitRagged rows = two_sentences (arena, direct->tokens / direct->every);
  PlaitAlignment alignment = random_links (arena, tokens, targets);
  PlaitInput input = { .rows = tokens, .alignment = &alignment };
  gint64 pairs
      = rows.offsets[1] * targets.offsets[1] + plait_ragged_length (rows, 1) * plait_ragged_length (targets, 1);
  gint64 *token = plait_arena_new_array (arena, gint64, plait_ragged_rows (rows));
  PlaitScalar *weights = plait_arena_new_array (arena, PlaitScalar, pairs);
  PlaitLinks links = { .token = token };
  PlaitMemory memory = { .rows = rows, .links = &links };
  gint source = 0;
  PlaitGuidedAlignment guided = { .sources = &source, .n = 1, .losses = { 1, { { .name = "alignment" } } } };
  PlaitReadings readings = { NULL };
  PlaitEncoderOutputs encoded = { .memories = &memory, .n_memories = 1 };
  PlaitBatch batch = { .n_sentences = SENTENCES, .target_rows = targets, .n_sources = 1, .inputs = &input };
  PlaitRandomKey key = plait_random_key (3, "weights", NULL, 1);

  for (gint64 s = 0; s < SENTENCES; s++)
    for (gint64 i = 0; i < plait_ragged_length (rows, s); i++)
      token[rows.offsets[s] + i] = i * direct->every;
  for (gint64 i = 0; i < pairs; i++)
    weights[i] = (PlaitScalar)((double)(1 + plait_random_below (key, (guint64)i, 1000)) / 1000);
  encoded.readings[PLAIT_READER_ALIGNMENT] = &readings;
  encoded.losses = plait_loss_pass_new (tape);
  plait_readings_add (&readings, tape, targets, 1)->weights[0]
      = plait_leaf (tape, plait_tensor (weights, pairs, 1), NULL);
  plait_guided_alignment_end (&guided, tape, &batch, &encoded);
  direct->loss = (double)plait_tape_value (tape, plait_loss_pass_sum (encoded.losses, tape, 0)).data[0];
  direct->expected = loss_of_pairs (direct, &alignment, rows, targets, weights);
}

static void
check_directly (gint64 tokens, gint64 targets, gint64 every)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NO_ERROR);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  Direct direct = { tokens, targets, every, tape, 0, 0 };

  plait_tape_begin (tape, PLAIT_TAPE_CHECK, (PlaitRandomKey){ 0 });
  REQUIRE (plait_arena_protect (arena, run_directly, &direct, NO_ERROR));
  CHECK (direct.expected > 1);
  CHECK_NEAR (direct.loss, direct.expected, 1e-4 * direct.expected);
}

TEST_CASE (guided_alignment, of_long_documents_equals_its_definition)
{
  check_directly (400, 300, 1);
  check_directly (7, 300, 1);
  check_directly (300, 2, 1);
}

/* Links of tokens that have no row in the memory are not learnt. */
TEST_CASE (guided_alignment, learns_the_rows_of_a_memory_that_lacks_tokens)
{
  check_directly (12, 10, 2);
  check_directly (400, 30, 4);
}

TEST_CASE (guided_alignment, refuses_attention_that_is_not_there)
{
  static const struct
  {
    PlaitAlignmentSettings settings;
    const char *message;
  } cases[] = {
    { { 1, 9, -1, NULL }, "train.alignment_attention: there is no layer 9: the decoder has" },
    { { 1, -1, 7, NULL }, "train.alignment_attention: there is no head 7: the attention to the memory first has 2" },
    { { 1, -1, -1, "hop" }, "has no attention called hop that can learn the alignments to the memory first; choose" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (SearchFixture) fixture = search_fixture_new ("serial", PLAIT_FIXTURE_TRANSFORMER, NULL, FALSE);
      g_autoptr (GError) error = NULL;

      CHECK (!learn (fixture.model, &cases[i].settings, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].message);
    }
}
