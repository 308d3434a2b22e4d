/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search-fixture.h"

#include <math.h>
#include <string.h>

#include "autograd/internal.h"
#include "layers/parameter-set.h"
#include "tensor/packed.h"

/*
 * Tests of the pointer-generator against its equations (See, Liu & Manning 2017), computed in doubles from the
 * parameters.
 */
enum
{
  STATE = 3,
  CONTEXT = 4,
  EMBEDDED = 2,
  WORDS = 5,
  ROWS = 3,
  IDS = 8,
};

/* Two sentences, with two target rows and one. The memories have words of their own; word 6 is above the vocabulary. */
static const gint64 query_offsets[] = { 0, 2, 3 }, first_offsets[] = { 0, 2, 3 }, second_offsets[] = { 0, 1, 3 };
static const gint32 first_ids[] = { 1, 6, 2 }, second_ids[] = { 1, 4, -1 };
static const PlaitScalar first_weights[] = { .2f, .3f, .6f, .1f, .7f }, second_weights[] = { .5f, .3f, .2f, .1f };
static const PlaitScalar states[] = { .1f, -.4f, .9f, .3f, .2f, -.7f, -.1f, .8f, .5f };
static const PlaitScalar contexts[] = { .3f, .1f, -.2f, .6f, -.5f, .4f, .2f, .1f, .7f, -.3f, .1f, .2f };
static const PlaitScalar embedded[] = { .4f, -.2f, .1f, .9f, -.6f, .3f };
static const PlaitScalar shares[] = { .25f, .75f, .6f, .4f, .1f, .9f };

typedef enum
{
  OWN_SHARES,
  GIVEN_SHARES,
  JOINT,
} Sharing;

typedef struct
{
  PlaitRegistry *registry;
  PlaitComponent *component;
  PlaitParameters *parameters;
  PlaitDecoderComponents decoder;
  PlaitMemorySpecification memories[2];
  PlaitDeclaredAttention attentions[2];
  PlaitCrossAttentionLayer cross;
  PlaitModelOutput *output;
} Pointer;

static void
pointer_clear (Pointer *pointer)
{
  plait_parameters_free (pointer->parameters);
  plait_component_free (pointer->component);
}

/* Builds the pointer over two memories. @has_words says of each memory whether its words have ids of the target's
 * vocabulary. */
static gboolean
pointer_build (Pointer *pointer, const char *source, gint64 head, const gboolean *has_words, GError **error)
{
  const PlaitOutputMemory memories[]
      = { { "first", "first", has_words[0] }, { "second.sentences", "second", has_words[1] } };
  g_autofree char *number = g_strdup_printf ("%jd", head);
  PlaitPlugin *plugin;

  *pointer = (Pointer){ .registry = test_registry (), .parameters = plait_parameters_new () };
  plugin = test_plugin (pointer->registry, PLAIT_PLUGIN_OUTPUT, "pointer");
  pointer->component = plait_component_new (plugin, "output");
  CHECK (plait_settings_set (pointer->component->parameters, "source", source, NULL));
  CHECK (plait_settings_set (pointer->component->parameters, "head", number, NULL));
  CHECK (plait_component_open (pointer->component, NO_ERROR));
  pointer->memories[0].name = "first";
  pointer->memories[1].name = "second.sentences";
  pointer->decoder = (PlaitDecoderComponents){ .memories = pointer->memories, .n_memories = 2 };
  for (guint m = 0; m < 2; m++)
    pointer->attentions[m] = (PlaitDeclaredAttention){ .kind = PLAIT_ATTEND_MEMORY, .first = m, .n = 1, .heads = 2 };
  pointer->cross = (PlaitCrossAttentionLayer){ .decoder = &pointer->decoder,
                                               .combiner.component = pointer->component,
                                               .attentions = pointer->attentions,
                                               .n_attentions = 2 };
  const PlaitOutputComponents components = {
    .component = pointer->component,
    .cross = &pointer->cross,
    .build = { .state_width = STATE,
               .context_width = CONTEXT,
               .embedded_width = EMBEDDED,
               .vocabulary_size = WORDS,
               .memories = memories,
               .n_memories = 2,
               .parameters = pointer->parameters,
               .prefix = "decoder/output/" },
  };

  pointer->output = plait_output_new (&components, error);
  return pointer->output && plait_parameters_allocate (pointer->parameters, error);
}

/* Returns the value of the parameter decoder/output/@name. */
static PlaitTensor
value_of (const Pointer *pointer, const char *name)
{
  g_autofree char *full = g_strconcat ("decoder/output/", name, NULL);

  for (guint i = 0; i < plait_parameters_n (pointer->parameters); i++)
    if (g_str_equal (plait_parameters_get (pointer->parameters, i)->name, full))
      return plait_parameters_get (pointer->parameters, i)->value;
  g_error ("there is no parameter %s", full);
}

static PlaitTensor
numbers (const PlaitScalar *values, gint64 rows, gint64 width)
{
  return plait_tensor ((PlaitScalar *)values, rows, width);
}

/* Returns w_h h* + w_s s + w_x x + b (eq. 8) for row @row, in column @column of the scores called @name. */
static double
score_of (const Pointer *pointer, const char *name, gint64 row, gint64 column)
{
  static const char *const parts[] = { "context/weight", "state/weight", "embedded/weight" };
  const PlaitTensor inputs[]
      = { numbers (contexts, ROWS, CONTEXT), numbers (states, ROWS, STATE), numbers (embedded, ROWS, EMBEDDED) };
  g_autofree char *bias = g_strconcat (name, "/state/bias", NULL);
  double sum = (double)value_of (pointer, bias).data[column];

  for (guint p = 0; p < G_N_ELEMENTS (parts); p++)
    {
      g_autofree char *weight = g_strdup_printf ("%s/%s", name, parts[p]);
      PlaitTensor w = value_of (pointer, weight);

      for (gint64 i = 0; i < w.rows; i++)
        sum += (double)plait_tensor_row (inputs[p], row)[i] * (double)plait_tensor_row (w, i)[column];
    }
  return sum;
}

/* Returns the fraction of the copied words of @row that comes from memory @memory. */
static double
share_of (const Pointer *pointer, Sharing sharing, gint64 row, gint64 memory)
{
  double a, b;

  if (sharing == JOINT)
    return 1;
  if (sharing == GIVEN_SHARES)
    return (double)shares[2 * row + memory];
  a = exp (score_of (pointer, "sources", row, 0));
  b = exp (score_of (pointer, "sources", row, 1));
  return (memory == 0 ? a : b) / (a + b);
}

/* Fills @p [IDS] with the probabilities (eq. 9) of row @row of sentence @sentence. Checks the gate that @record has,
 * and the copied part of each row of the memories. */
static void
probabilities (const Pointer *pointer, Sharing sharing, gint64 sentence, gint64 row, const PlaitAttentionRecord *record,
               double *p)
{
  const gint64 *offsets[] = { first_offsets, second_offsets };
  const gint32 *ids[] = { first_ids, second_ids };
  const PlaitScalar *weights[] = { first_weights, second_weights };
  PlaitTensor table = value_of (pointer, "weight");
  double gate = 1 / (1 + exp (-score_of (pointer, "gate", row, 0))), sum = 0, total = 0, copied[IDS] = { 0 };

  memset (p, 0, IDS * sizeof *p);
  for (gint64 v = 0; v < WORDS; v++)
    {
      for (gint64 i = 0; i < STATE; i++)
        p[v] += (double)plait_tensor_row (table, v)[i] * (double)states[STATE * row + i];
      p[v] = exp (p[v]);
      sum += p[v];
    }
  for (guint m = 0; m < 2; m++)
    {
      gint64 first = offsets[m][sentence], n = offsets[m][sentence + 1] - first, pair = 0;

      for (gint64 s = 0; s < sentence; s++)
        pair += (query_offsets[s + 1] - query_offsets[s]) * (offsets[m][s + 1] - offsets[m][s]);
      pair += (row - query_offsets[sentence]) * n;
      for (gint64 i = 0; i < n; i++)
        if (ids[m][first + i] >= 0)
          {
            double weight = share_of (pointer, sharing, row, m) * (double)weights[m][pair + i];

            copied[ids[m][first + i]] += weight;
            total += weight;
          }
    }
  CHECK_NEAR (record->gate[row], gate, 1e-6);
  for (guint m = 0; m < 2; m++)
    for (gint64 i = 0, n = offsets[m][sentence + 1] - offsets[m][sentence]; i < n; i++)
      {
        gint64 pair = i + (sentence == 0 ? row * n : 2 * offsets[m][1]);
        double weight = share_of (pointer, sharing, row, m) * (double)weights[m][pair];

        CHECK_NEAR (record->copied[m][pair], ids[m][offsets[m][sentence] + i] < 0 ? 0 : weight / total, 1e-6);
      }
  for (gint64 v = 0; v < IDS; v++)
    p[v] = gate * p[v] / sum + (1 - gate) * copied[v] / total;
}

TEST_CASE (pointer, is_equations_8_and_9)
{
  const gboolean both[] = { TRUE, TRUE };
  const PlaitRagged queries = { 2, query_offsets }, rows[] = { { 2, first_offsets }, { 2, second_offsets } };
  g_autoptr (PlaitPool) pool = NULL;

  for (gint sharing = OWN_SHARES; sharing <= JOINT; sharing++)
    {
      Pointer pointer;
      g_autoptr (PlaitArena) arena = plait_arena_new (0);
      PlaitMemory memories[] = { { .rows = rows[0] }, { .rows = rows[1] } };
      CONTEXT ("sharing %d", sharing);

      REQUIRE (pointer_build (&pointer, "all", 0, both, NO_ERROR));
      for (guint i = 0; i < plait_parameters_n (pointer.parameters); i++)
        {
          PlaitTensor value = plait_parameters_get (pointer.parameters, i)->value;

          for (gint64 k = 0; k < value.rows * value.width; k++)
            value.data[k] = (PlaitScalar)sin ((double)(k + 7 * i + 1));
        }
      if (!pool)
        pool = plait_pool_new (2, NULL);
      g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);

      plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
      PlaitReadings readings = { .embedded = plait_leaf (tape, numbers (embedded, ROWS, EMBEDDED), NULL) };
      PlaitCrossReading *reading = plait_readings_add (&readings, tape, queries, 2);
      reading->context = plait_leaf (tape, numbers (contexts, ROWS, CONTEXT), NULL);
      reading->weights[0] = plait_leaf (tape, numbers (first_weights, 5, 1), NULL);
      reading->weights[1] = plait_leaf (tape, numbers (second_weights, 4, 1), NULL);
      reading->shares = sharing == GIVEN_SHARES ? plait_leaf (tape, numbers (shares, ROWS, 2), NULL) : NULL;
      reading->joint = sharing == JOINT;
      PlaitAttentionRecord *record = plait_attention_record_new (arena, 1, 2, FALSE);
      record->queries = queries;
      record->memories = memories;
      const PlaitOutputInputs inputs
          = { &readings, memories,
              plait_copyable_words_new (arena, rows, (const gint32 *const[]){ first_ids, second_ids }, 2), queries,
              record };
      PlaitWordDistribution words
          = plait_output_apply (pointer.output, tape, plait_leaf (tape, numbers (states, ROWS, STATE), NULL), &inputs);
      for (gint32 id = 0; id < WORDS; id++)
        {
          gint32 ids[ROWS] = { id, id, id };
          double losses[ROWS];

          plait_word_distribution_losses (&words, tape, ids, losses);
          for (gint64 row = 0; row < ROWS; row++)
            {
              double p[IDS], sum = 0;

              probabilities (&pointer, (Sharing)sharing, row < 2 ? 0 : 1, row, record, p);
              for (gint64 v = 0; v < IDS; v++)
                sum += p[v];
              CHECK_NEAR (sum, 1, 1e-6);
              CHECK_NEAR (losses[row], -log (p[id]), 1e-5);
              /* Only the first sentence has word 6. */
              CHECK ((p[6] > 0) == (row < 2));
            }
        }
      pointer_clear (&pointer);
    }
}

TEST_CASE (pointer, refuses_in_words)
{
  static const struct
  {
    const char *source;
    gint64 head;
    gboolean has_words[2];
    const char *sentence; /* part of the error; NULL: the pointer is accepted */
  } cases[] = {
    { "all", 0, { TRUE, FALSE }, NULL },
    { "first", 2, { TRUE, TRUE }, NULL },
    { "second",
      0,
      { TRUE, FALSE },
      "source=second: the words of this source cannot be copied, because it does not have the vocabulary of the "
      "target, or has rows of sentences; set data.vocabulary=shared" },
    { "all",
      0,
      { FALSE, FALSE },
      "no source has the vocabulary of the target and rows of words, so no word can be copied" },
    { "third", 0, { TRUE, TRUE }, "source=third is not a source of the experiment; name one of its sources, or all" },
    { "all",
      3,
      { TRUE, TRUE },
      "this output copies words by head 3, but the attention to memory \"first\" has only heads 1 to 2" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Pointer pointer;
      g_autoptr (GError) error = NULL;
      CONTEXT ("case %u", i);

      CHECK (pointer_build (&pointer, cases[i].source, cases[i].head, cases[i].has_words, &error)
             == !cases[i].sentence);
      if (cases[i].sentence)
        {
          REQUIRE (error != NULL);
          CHECK (error->code == PLAIT_ERROR_INPUT);
          CHECK (g_str_has_prefix (error->message, "output \"pointer\" of [output]: "));
          CHECK_CONTAINS (error->message, cases[i].sentence);
        }
      pointer_clear (&pointer);
    }
}

/* Refuses a combiner that does not have the attention that the output reads. */
TEST_CASE (pointer, needs_an_attention)
{
  const gboolean both[] = { TRUE, TRUE };
  const PlaitReadRequest request = { .attention = TRUE, .name = "second" };
  g_autoptr (GError) error = NULL;
  Pointer pointer;

  REQUIRE (pointer_build (&pointer, "all", 0, both, NO_ERROR));
  CHECK (!plait_cross_layer_read (&pointer.cross, &request, both, "output", &error));
  CHECK_CONTAINS (error->message, "has no attention called second to this memory; choose another combiner");
  pointer_clear (&pointer);
}

/* Returns a model with the pointer, test decoder @d and @coverage (or NULL). The plugins of @registry must outlive
 * it. */
static SearchFixture
pointer_model (PlaitRegistry *registry, const char *combiner, guint d, const char *coverage, PlaitSettings **settings)
{
  PlaitFixtureDecoder decoder = plait_fixture_decoder (d);

  decoder.output = test_plugin (registry, PLAIT_PLUGIN_OUTPUT, "pointer");
  decoder.output_settings = *settings = plait_fixture_settings (decoder.output);
  return search_fixture_with (g_str_equal (combiner, "descent") ? "pyramid" : NULL, combiner, decoder, coverage, FALSE);
}

/* Every hypothesis of a beam has the score of forced decoding, even if the limit ends it. */
static void
check_beams (const char *combiner, guint d, PlaitPrecision precision, const char *output_name)
{
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitSettings) output = NULL;
  g_auto (SearchFixture) fixture = output_name ? pointer_model (registry, combiner, d, NULL, &output)
                                               : search_fixture_new (combiner, d, NULL, FALSE);
  CONTEXT ("%s, decoder %u, precision %u", combiner, d, (guint)precision);

  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  g_autoptr (PlaitSearch) search = plait_search_new (fixture.model->model, fixture.pool, precision, 0, NO_ERROR);

  REQUIRE (search != NULL);
  for (gint limit = PLAIT_DECODE_AT_LIMIT_CUT; limit <= PLAIT_DECODE_AT_LIMIT_END; limit++)
    {
      PlaitDecodeSettings settings = search_fixture_settings (4);
      PlaitHypotheses *found;

      settings.at_limit = limit;
      if (limit == PLAIT_DECODE_AT_LIMIT_END)
        settings.maximum_length = 3;
      found = plait_search_batch (search, batch, &settings, NO_ERROR);
      REQUIRE (found != NULL);
      for (guint place = 0; place < 4; place++)
        search_fixture_check (&fixture, search, found, place);
      plait_hypotheses_free (found, 3);
    }
}

TEST_CASE (pointer, beams_score_as_forced_decoding_does)
{
  for (guint c = 0; c < SEARCH_FIXTURE_COMBINERS; c++)
    for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
      check_beams (search_fixture_combiners[c], d, PLAIT_PRECISION_FLOAT, "pointer");
}

/* If weights are int8, states and logits are rounded; the gate and copied words are mixed with them in floats. */
TEST_CASE (pointer, beams_score_as_forced_decoding_does_with_bytes)
{
  if (!plait_precision_runs_here (PLAIT_PRECISION_INT8))
    SKIP_TEST ("this processor has no AVX-512 VNNI");
  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    {
      check_beams ("hierarchical", d, PLAIT_PRECISION_INT8, "pointer");
      check_beams ("serial", d, PLAIT_PRECISION_INT8, NULL);
    }
}

/* Checks a record: each gate is between 0 and 1, and the copied words of a row sum to one over all memories. */
TEST_CASE (pointer, records_what_it_copies)
{
  for (guint d = 0; d < 3; d += 2)
    {
      PlaitRegistry *registry = test_registry ();
      g_autoptr (PlaitSettings) output = NULL;
      g_auto (SearchFixture) fixture = pointer_model (registry, "parallel", d, NULL, &output);
      g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
      g_autoptr (PlaitSearch) search
          = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
      g_autoptr (PlaitAttentionRecords) records = NULL;
      double rows[64];

      REQUIRE (plait_search_forced (search, batch, rows, &records, FALSE, NO_ERROR));
      for (gint64 s = 0; s < 3; s++)
        {
          const PlaitAttentionRecord *record = records->of[s];

          for (gint64 t = 0; t < plait_ragged_length (batch->target_rows, s); t++)
            {
              double sum = 0;

              REQUIRE (record->gate != NULL);
              CHECK (record->gate[t] > 0 && record->gate[t] < 1);
              for (guint m = 0; m < 2; m++)
                for (gint64 i = 0, n = plait_ragged_rows (record->memories[m].rows); i < n; i++)
                  sum += (double)record->copied[m][t * n + i];
              CHECK_NEAR (sum, 1, 1e-5);
            }
        }
    }
}

/* Returns the bytes of memory that a training step of a Transformer with the pointer takes. */
static gsize
memory_of_step (gboolean recompute)
{
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitSettings) output = NULL;
  PlaitFixtureDecoder decoder = plait_fixture_decoder (PLAIT_FIXTURE_TRANSFORMER);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitModelSums sums;

  decoder.more = "layers=12";
  decoder.output = test_plugin (registry, PLAIT_PLUGIN_OUTPUT, "pointer");
  decoder.output_settings = output = plait_fixture_settings (decoder.output);
  g_auto (SearchFixture) fixture = search_fixture_with (NULL, "serial", decoder, NULL, FALSE);
  const gint64 lengths[] = { 2, 2, 2, 2, 2, 2, 2, 2 }, targets[] = { 60, 60, 60, 60, 60, 60, 60, 60 };
  g_autoptr (PlaitBatch) batch
      = plait_fixture_batch (fixture.model, 0, 8, (const gint64 *const[]){ lengths, lengths }, targets);
  g_autoptr (PlaitTape) tape = plait_tape_new (fixture.pool, arena);

  plait_tape_begin (tape, PLAIT_TAPE_TRAIN, (PlaitRandomKey){ 0 });
  if (recompute)
    plait_tape_enable_recompute (tape);
  plait_tape_backward (tape, plait_model_loss (fixture.model->model, tape, batch, &options, &sums, NULL, NULL));
  return plait_arena_peak (arena);
}

/* All layers are computed again, except the last one, which the pointer reads. */
TEST_CASE (pointer, leaves_layers_to_recompute)
{
  CHECK (memory_of_step (TRUE) < memory_of_step (FALSE) / 2);
}

/* The coverage loss (eq. 12) over all steps, the last step of each target included, is what the recorded attention
 * gives. It does not depend on whether attention is recorded. */
TEST_CASE (coverage_loss, is_equation_12)
{
  for (guint d = 0; d < 3; d += 2)
    {
      g_auto (SearchFixture) fixture = search_fixture_new ("serial", d, "loss", FALSE);
      g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
      g_autoptr (PlaitArena) arena = plait_arena_new (0);
      g_autoptr (PlaitTape) tape = plait_tape_new (fixture.pool, arena);
      PlaitOutputLossOptions options = { .scale = 1 };
      PlaitModel *model = fixture.model->model;
      PlaitModelSums with, without;
      PlaitAttentionRecord *record;
      guint layers = plait_decoder_n_layers (plait_model_decoder (model));
      double expected = 0;
      CONTEXT ("decoder %u", d);

      plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
      record = plait_attention_record_new (arena, layers, 2, TRUE);
      plait_model_loss (model, tape, batch, &options, &with, NULL, record);
      for (guint l = 0; l < layers; l++)
        for (guint m = 0; m < 2; m++)
          {
            const PlaitRecordedLayer *layer = plait_attention_record_find (record, l, NULL, m);
            gint64 pairs = plait_attention_record_pairs (record, m), before = 0;

            for (gint64 s = 0; s < 3; s++)
              {
                gint64 n = plait_ragged_length (record->memories[m].rows, s),
                       steps = plait_ragged_length (batch->target_rows, s);

                for (gint64 i = 0; i < n; i++)
                  for (gint64 t = 0; t < steps; t++)
                    {
                      double a = 0, c = 0;

                      for (guint h = 0; h < layer->heads; h++)
                        for (gint64 k = 0; k <= t; k++)
                          *(k == t ? &a : &c) += (double)layer->weights[h * pairs + before + k * n + i] / layer->heads;
                      expected += MIN (a, c);
                    }
                before += n * steps;
              }
          }
      CHECK_NEAR (with.losses[0], expected, 1e-4 * (1 + expected));
      CHECK (expected > 0.5);
      plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
      plait_model_loss (model, tape, batch, &options, &without, NULL, NULL);
      CHECK_NEAR (without.losses[0], with.losses[0], 1e-5 * (1 + expected));
    }
}
