/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "data/batch.h"
#include "models.h"
#include "reference.h"

/* Documents through the encoder hat: against the float64 reference, and what its algebra says must be equal. */

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-9
#else
#define AGREEMENT 1e-4
#endif

enum
{
  WIDTH = 8
};

/* A source of documents: hat over a Transformer, each with keys and values that end with NULL. */
typedef struct
{
  const char *const *keys;
  const char *const *leaves;
} Documents;

static const char *const none[] = { NULL };

static PlaitSettings *
settings_with (PlaitPlugin *plugin, const char *const *keys)
{
  PlaitSettings *settings = plait_specimen_settings (plugin);

  for (; *keys; keys += 2)
    CHECK (plait_settings_set (settings, keys[0], keys[1], NULL));
  return settings;
}

/* A model whose one source is @documents, or where that is NULL a Transformer with @keys. */
static PlaitSpecimen *
model_of (PlaitRegistry *registry, const Documents *documents, const char *const *keys, const char *combiner_name,
          PlaitDecoderSettings settings, GError **error)
{
  PlaitPlugin *hat = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "hat");
  PlaitPlugin *transformer = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "transformer");
  PlaitPlugin *combiner = test_plugin (registry, PLAIT_PLUGIN_COMBINER, combiner_name);
  g_autoptr (PlaitSettings) combiner_settings = plait_specimen_settings (combiner);
  g_autoptr (PlaitSettings) own = settings_with (documents ? hat : transformer, documents ? documents->keys : keys);
  g_autoptr (PlaitSettings) leaves = settings_with (transformer, documents ? documents->leaves : none);
  PlaitSpecimenSource source = { documents ? hat : transformer, own, documents ? transformer : NULL, leaves };
  PlaitSpecimenDecoder decoder = { combiner, combiner_settings, NULL, NULL, settings };

  return plait_specimen_new (&source, 1, &decoder, 6, error);
}

static PlaitSpecimen *
hat_model (PlaitRegistry *registry, const Documents *documents, PlaitDecoderSettings settings)
{
  GError *error = NULL;
  PlaitSpecimen *model = model_of (registry, documents, NULL, "serial", settings, &error);

  CHECK_NO_ERROR (error);
  return model;
}

/*
 * Against the reference
 */

/* Leaves that are the embeddings themselves. */
static const char *const embeddings[] = { "layers", "0", "positions", "none", "final_norm", "false", NULL };

typedef struct
{
  const char *name; /* of the case */
  PlaitSpecimen *model;
  gboolean checking; /* gradients, instead of setting values */
} Visit;

/* OURS/SUFFIX, from column @column on, is THEIRS/NAME of the case, if there is such a parameter. */
static void
visit (const Visit *to, const char *ours, const char *suffix, gint64 column, const char *theirs, const char *name)
{
  g_autofree char *path = g_strdup_printf ("%s/%s", ours, suffix);
  g_autofree char *array = *theirs ? g_strdup_printf ("%s/%s", theirs, name) : g_strdup (name);
  PlaitParameter *parameter = plait_parameters_find (plait_model_parameters (to->model->model), path);

  if (to->checking)
    reference_check_gradient (parameter, column, to->name, array);
  else
    reference_set (parameter, column, to->name, array);
}

static void
visit_self (const Visit *to, const char *ours, const char *theirs)
{
  visit (to, ours, "query_key_value/weight", 0, theirs, "Wq");
  visit (to, ours, "query_key_value/weight", WIDTH, theirs, "Wk");
  visit (to, ours, "query_key_value/weight", 2 * WIDTH, theirs, "Wv");
  visit (to, ours, "query_key_value/bias", 0, theirs, "bq");
  visit (to, ours, "query_key_value/bias", WIDTH, theirs, "bk");
  visit (to, ours, "query_key_value/bias", 2 * WIDTH, theirs, "bv");
  visit (to, ours, "output/weight", 0, theirs, "Wo");
  visit (to, ours, "output/bias", 0, theirs, "bo");
}

static void
visit_attention (const Visit *to, const char *ours, const char *theirs)
{
  visit (to, ours, "query/weight", 0, theirs, "Wq");
  visit (to, ours, "query/bias", 0, theirs, "bq");
  visit (to, ours, "key_value/weight", 0, theirs, "Wk");
  visit (to, ours, "key_value/weight", WIDTH, theirs, "Wv");
  visit (to, ours, "key_value/bias", 0, theirs, "bk");
  visit (to, ours, "key_value/bias", WIDTH, theirs, "bv");
  visit (to, ours, "output/weight", 0, theirs, "Wo");
  visit (to, ours, "output/bias", 0, theirs, "bo");
}

static void
visit_feed_forward (const Visit *to, const char *ours, const char *theirs)
{
  visit (to, ours, "inner/weight", 0, theirs, "W1");
  visit (to, ours, "inner/bias", 0, theirs, "b1");
  visit (to, ours, "outer/weight", 0, theirs, "W2");
  visit (to, ours, "outer/bias", 0, theirs, "b2");
}

static void
visit_norm (const Visit *to, const char *ours, const char *theirs)
{
  visit (to, ours, "gain", 0, theirs, "g");
  visit (to, ours, "bias", 0, theirs, "b");
}

static void
visit_top (const Visit *to)
{
  visit_self (to, "source/first/layer/0/self_attention", "encoder/layer/self");
  visit_norm (to, "source/first/layer/0/self_attention_norm", "encoder/layer/ln1");
  visit_feed_forward (to, "source/first/layer/0/feed_forward", "encoder/layer/ff");
  visit_norm (to, "source/first/layer/0/feed_forward_norm", "encoder/layer/ln2");
  visit_norm (to, "source/first/norm", "encoder/norm");
  visit_self (to, "decoder/layer/0/self_attention", "decoder/self");
  visit_norm (to, "decoder/layer/0/self_attention_norm", "decoder/ln1");
  visit_attention (to, "decoder/layer/0/combiner/attend/first.tokens", "decoder/combiner/attend/0");
  visit_norm (to, "decoder/layer/0/combiner/normalise/0", "decoder/combiner/ln/0");
  visit_attention (to, "decoder/layer/0/combiner/attend/first.sentences", "decoder/combiner/attend/1");
  visit_norm (to, "decoder/layer/0/combiner/normalise/1", "decoder/combiner/ln/1");
  visit_feed_forward (to, "decoder/layer/0/feed_forward", "decoder/ff");
  visit_norm (to, "decoder/layer/0/feed_forward_norm", "decoder/ln3");
  visit_norm (to, "decoder/norm", "decoder/norm");
}

static void
visit_layers (const Visit *to)
{
  visit_self (to, "source/first/layer/0/self_attention", "self");
  visit_norm (to, "source/first/layer/0/self_attention_norm", "ln1");
  visit_self (to, "source/first/layer/0/sentence_attention", "sentence");
  visit_norm (to, "source/first/layer/0/sentence_attention_norm", "ln2");
  visit_feed_forward (to, "source/first/layer/0/feed_forward", "ff");
  visit_norm (to, "source/first/layer/0/feed_forward_norm", "ln3");
  visit_norm (to, "source/first/norm", "norm");
}

/* A decoder of one layer that adds nothing to the embeddings of its own. */
static PlaitDecoderSettings
reference_decoder (gint norm)
{
  PlaitDecoderSettings settings = plait_specimen_decoder (0);

  settings.layers = 1;
  settings.norm = norm;
  settings.activation = 1;                           /* gelu */
  settings.attention_bias = norm == PLAIT_NORM_POST; /* so the reference has it */
  settings.positions = PLAIT_POSITIONS_NONE;
  settings.scale_embeddings = FALSE;
  settings.share_embeddings = FALSE;
  settings.tie_output = FALSE;
  return settings;
}

/* Rows ids[i] of the table @parameter become those of the case's input @name, or their gradients are checked. */
static void
visit_rows (const Visit *to, const char *parameter, const gint32 *ids, const char *name)
{
  PlaitParameter *table = plait_parameters_find (plait_model_parameters (to->model->model), parameter);
  g_autofree char *path = g_strdup_printf (to->checking ? "gradients/inputs/%s" : "inputs/%s", name);
  const ReferenceArray *array = reference (to->name, path);

  for (int i = 0; i < array->rows; i++)
    for (int k = 0; k < array->width; k++)
      {
        double number = array->numbers[i * array->width + k];

        if (to->checking)
          CHECK_NEAR ((double)plait_tensor_row (table->gradient, ids[i])[k], number, AGREEMENT);
        else
          plait_tensor_row (table->value, ids[i])[k] = (PlaitScalar)number;
      }
}

/* One document of six rows in which sentences begin at rows 0, 3 and 4, and a target of three rows. */
static PlaitBatch *
reference_batch (const gint32 *tokens, const gint32 *target)
{
  static const gint64 begins[] = { 0, 3, 4, 6 };
  PlaitBatchSource source = {
    .name = "first", .kind = PLAIT_INPUT_DOCUMENTS, .rows = 6, .has_documents = TRUE, .sentences = 3, .starts = TRUE
  };
  PlaitBatch *batch = plait_batch_new (1, &source, 1, 3, NULL);
  PlaitInput *input = plait_batch_fill (PlaitInput, batch->inputs);

  plait_batch_fill (gint64, batch->sentence)[0] = 0;
  memcpy (plait_batch_fill (gint64, input->rows.offsets), (gint64[]){ 0, 6 }, 2 * sizeof (gint64));
  memcpy (plait_batch_fill (gint32, input->tokens), tokens, 6 * sizeof (gint32));
  input->n_missing = 0;
  memcpy (plait_batch_fill (gint64, input->documents->sentences.offsets), (gint64[]){ 0, 3 }, 2 * sizeof (gint64));
  memcpy (plait_batch_fill (gint64, input->documents->rows), begins, sizeof begins);
  memcpy (plait_batch_fill (gint64, batch->target_rows.offsets), (gint64[]){ 0, 3 }, 2 * sizeof (gint64));
  plait_batch_fill_target (batch, PLAIT_TARGET_TEXT, 0, target, 2);
  return batch;
}

static void
check_states (const char *the_case, const char *output, const PlaitNode *states)
{
  g_autofree char *path = g_strdup_printf ("outputs/%s", output);
  const ReferenceArray *array = reference (the_case, path);

  CHECK_INT (states->value.rows, array->rows);
  check_tensor (output, states->value, array->numbers, AGREEMENT);
}

/* Encoder, and where the case has one the decoder: values, and all gradients. */
static void
check_case (const char *name, const Documents *documents, gint norm, void (*visit_parameters) (const Visit *to),
            const char *first_output, gboolean decodes)
{
  static const gint32 tokens[] = { 4, 5, 6, 7, 8, 9 }, target[] = { PLAIT_TOKEN_BOS, 4, 5 };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitSpecimen) model = hat_model (registry, documents, reference_decoder (norm));
  g_autoptr (PlaitBatch) batch = reference_batch (tokens, target + 1);
  Visit to = { name, model, FALSE };
  PlaitParameters *parameters = plait_model_parameters (model->model);
  PlaitNode *states, *terms[2];
  PlaitReading reading;
  CONTEXT ("%s", name);

  plait_parameters_write_values (parameters);
  visit_rows (&to, "source/first/embedding/table", tokens, "tokens");
  if (decodes)
    visit_rows (&to, "decoder/embedding/table", target, "x");
  visit_parameters (&to);
  plait_parameters_zero_gradients (parameters);
  bench_begin (&bench, PLAIT_TAPE_CHECK);
  reading = plait_model_read (model->model, bench.tape, batch, NULL);
  CHECK_INT (reading.n_memories, 2);
  check_states (name, "sentences", reading.memories[1].states);
  states = reading.memories[0].states;
  if (decodes)
    {
      PlaitDecoderSources sources = plait_reading_sources (&reading);

      states = plait_decoder_forward (plait_model_decoder (model->model), bench.tape, &sources, batch->target_rows,
                                      batch->target_inputs, NULL);
    }
  check_states (name, first_output, states);
  terms[0] = reference_weigh (&bench, states, name, first_output, 0);
  terms[1] = reference_weigh (&bench, reading.memories[1].states, name, "sentences", 0);
  plait_tape_backward (bench.tape, plait_sum (bench.tape, terms, 2));
  to.checking = TRUE;
  visit_rows (&to, "source/first/embedding/table", tokens, "tokens");
  if (decodes)
    visit_rows (&to, "decoder/embedding/table", target, "x");
  visit_parameters (&to);
}

static const char *const small[] = { "layers", "1", "heads", "2", "feed_forward", "12", NULL };
static const char *const small_biased[]
    = { "layers", "1", "heads", "2", "feed_forward", "12", "attention_bias", "true", NULL };

TEST_CASE (hat, rohde2021_section_3_sentence_memory_and_decoder_layer)
{
  check_case ("hat/top_pre", &(Documents){ small, embeddings }, PLAIT_NORM_PRE, visit_top, "y", TRUE);
  check_case ("hat/top_post", &(Documents){ small_biased, embeddings }, PLAIT_NORM_POST, visit_top, "y", TRUE);
}

/* The rows that are not gathered are masked: the same numbers. */
TEST_CASE (hat, rohde2021_section_3_2_by_masking)
{
  static const char *const masked[] = { "layers", "1", "heads", "2", "feed_forward", "12", "readers", "all", NULL };

  check_case ("hat/top_pre", &(Documents){ masked, embeddings }, PLAIT_NORM_PRE, visit_top, "y", TRUE);
}

TEST_CASE (hat, rohde2021_section_7_attention_in_each_layer)
{
  static const char *const all[] = { "place", "layers", "layers", "1", "heads", "2", "feed_forward", "12", NULL };
  static const char *const starts[] = { "place", "layers",         "layers", "1",       "heads",  "2", "feed_forward",
                                        "12",    "attention_bias", "true",   "readers", "starts", NULL };

  check_case ("hat/layers_pre_all", &(Documents){ all, embeddings }, PLAIT_NORM_PRE, visit_layers, "tokens", FALSE);
  check_case ("hat/layers_post_starts", &(Documents){ starts, embeddings }, PLAIT_NORM_POST, visit_layers, "tokens",
              FALSE);
}

/*
 * Identities
 */

static const gint64 lengths[] = { 6, 0, 1, 5 }, targets[] = { 3, 1, 2, 4 };
static const gint64 *const of_source[] = { lengths };
#define DOCUMENTS 4

static void
losses_of (const PlaitSpecimen *model, const PlaitBatch *batch, double *losses)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitVocabularyLossOptions options = { .scale = 1 };
  PlaitModelSums sums;

  bench_begin (&bench, PLAIT_TAPE_TRAIN);
  plait_tape_backward (bench.tape, plait_model_loss (model->model, bench.tape, batch, &options, &sums, losses, NULL));
}

static void
check_losses (const double *losses, const double *expected, const PlaitBatch *batch)
{
  for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
    CHECK_NEAR (losses[row], expected[row], AGREEMENT * (1 + expected[row]));
}

/* Losses and all gradients: parameters of the same names begin alike. */
TEST_CASE (hat, masking_equals_gathering)
{
  static const char *const masked[] = { "layers", "2", "readers", "all", NULL };
  static const char *const gathered[] = { "layers", "2", "readers", "starts", NULL };

  for (gint norm = PLAIT_NORM_PRE; norm <= PLAIT_NORM_POST; norm++)
    {
      g_autoptr (PlaitRegistry) registry = plait_registry_new ();
      PlaitDecoderSettings settings = plait_specimen_decoder (0);
      g_autoptr (PlaitSpecimen) one = NULL;
      g_autoptr (PlaitSpecimen) other = NULL;
      g_autoptr (PlaitBatch) batch = NULL;
      PlaitParameters *parameters;
      double losses[32], expected[32];
      CONTEXT ("norm %d", norm);

      settings.norm = norm;
      one = hat_model (registry, &(Documents){ masked, none }, settings);
      other = hat_model (registry, &(Documents){ gathered, none }, settings);
      batch = plait_specimen_batch (one, 0, DOCUMENTS, of_source, targets);
      parameters = plait_model_parameters (one->model);
      plait_parameters_zero_gradients (parameters);
      plait_parameters_zero_gradients (plait_model_parameters (other->model));
      losses_of (one, batch, losses);
      losses_of (other, batch, expected);
      check_losses (losses, expected, batch);
      for (guint i = 0; i < plait_parameters_n (parameters); i++)
        {
          const PlaitParameter *parameter = plait_parameters_get (parameters, i);
          const PlaitParameter *same = plait_parameters_find (plait_model_parameters (other->model), parameter->name);

          REQUIRE (same != NULL);
          for (gint64 k = 0; k < parameter->value.rows * parameter->value.width; k++)
            CHECK_NEAR ((double)parameter->gradient.data[k], (double)same->gradient.data[k],
                        AGREEMENT * (1 + fabs ((double)same->gradient.data[k])));
        }
    }
}

TEST_CASE (hat, without_layers_sentences_are_the_first_rows)
{
  static const char *const keys[] = { "layers", "0", "final_norm", "false", NULL };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitSpecimen) model = hat_model (registry, &(Documents){ keys, none }, plait_specimen_decoder (0));
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (model, 0, DOCUMENTS, of_source, targets);
  const PlaitDocuments *documents = batch->inputs[0].documents;
  g_auto (Bench) bench = bench_new (1);
  PlaitReading reading;
  gint64 sentences = plait_ragged_rows (documents->sentences);

  bench_begin (&bench, PLAIT_TAPE_EVALUATE);
  reading = plait_model_read (model->model, bench.tape, batch, NULL);
  CHECK (sentences > DOCUMENTS && sentences < plait_ragged_rows (batch->inputs[0].rows));
  CHECK_INT (plait_ragged_rows (reading.memories[1].rows), sentences);
  for (gint64 s = 0; s < sentences; s++)
    CHECK (memcmp (plait_tensor_row (reading.memories[1].states->value, s),
                   plait_tensor_row (reading.memories[0].states->value, documents->rows[s]),
                   WIDTH * sizeof (PlaitScalar))
           == 0);
}

/* Numbers of sentences, places of tokens; and the same without the start tokens. */
TEST_CASE (hat, memories_know_their_sentences)
{
  static const char *const without[] = { "starts_in_tokens", "false", NULL };

  for (int drops = 0; drops < 2; drops++)
    {
      g_autoptr (PlaitRegistry) registry = plait_registry_new ();
      g_autoptr (PlaitSpecimen) model
          = hat_model (registry, &(Documents){ drops ? without : none, none }, plait_specimen_decoder (0));
      g_autoptr (PlaitBatch) batch = plait_specimen_batch (model, 0, DOCUMENTS, of_source, targets);
      const PlaitInput *input = &batch->inputs[0];
      const PlaitDocuments *documents = input->documents;
      g_auto (Bench) bench = bench_new (1);
      PlaitReading reading;
      const PlaitLinks *tokens, *sentences;
      gint64 row = 0;
      CONTEXT ("start tokens dropped: %d", drops);

      bench_begin (&bench, PLAIT_TAPE_EVALUATE);
      reading = plait_model_read (model->model, bench.tape, batch, NULL);
      tokens = reading.memories[0].links;
      sentences = reading.memories[1].links;
      for (gint64 d = 0; d < DOCUMENTS; d++)
        {
          CHECK_INT (reading.memories[0].rows.offsets[d], row);
          for (gint64 s = documents->sentences.offsets[d]; s < documents->sentences.offsets[d + 1]; s++)
            {
              CHECK_INT (sentences->sentence[s], s - documents->sentences.offsets[d]);
              for (gint64 at = documents->rows[s] + drops; at < documents->rows[s + 1]; at++, row++)
                {
                  CHECK_INT (tokens->sentence[row], s - documents->sentences.offsets[d]);
                  CHECK_INT (tokens->token[row], at - input->rows.offsets[d]);
                }
            }
        }
      CHECK_INT (plait_ragged_rows (reading.memories[0].rows), row);
      CHECK_INT (reading.memories[0].states->value.rows, row);
    }
}

/* Makes @batch one in which each document is one sentence. */
static void
join_sentences (PlaitBatch *batch)
{
  const PlaitInput *input = &batch->inputs[0];
  gint64 *offsets = plait_batch_fill (gint64, input->documents->sentences.offsets);
  gint64 *rows = plait_batch_fill (gint64, input->documents->rows);
  gint64 sentences = 0;

  for (gint64 d = 0; d < input->rows.n; d++)
    {
      offsets[d] = sentences;
      if (plait_ragged_length (input->rows, d) > 0)
        rows[sentences++] = input->rows.offsets[d];
    }
  offsets[input->rows.n] = sentences;
  rows[sentences] = plait_ragged_rows (input->rows);
}

/* The sentence layers see that sentence alone: of leaves that see nothing but their token, it is what a document of
 * its first token would give. */
TEST_CASE (hat, of_one_sentence_the_first_row_is_all)
{
  static const gint64 one_row[] = { 1, 0, 1, 1 };
  static const gint64 *const shorter[] = { one_row };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitSpecimen) model = hat_model (registry, &(Documents){ none, embeddings }, plait_specimen_decoder (0));
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (model, 0, DOCUMENTS, of_source, targets);
  g_autoptr (PlaitBatch) first_rows = plait_specimen_batch (model, 0, DOCUMENTS, shorter, targets);
  g_auto (Bench) bench = bench_new (1);
  PlaitTensor found, expected;

  join_sentences (batch);
  bench_begin (&bench, PLAIT_TAPE_EVALUATE);
  found = plait_model_read (model->model, bench.tape, batch, NULL).memories[1].states->value;
  expected = plait_model_read (model->model, bench.tape, first_rows, NULL).memories[1].states->value;
  CHECK_INT (found.rows, 3);
  CHECK_INT (expected.rows, 3);
  for (gint64 row = 0; row < 3; row++)
    for (gint64 i = 0; i < WIDTH; i++)
      CHECK_NEAR ((double)plait_tensor_row (found, row)[i], (double)plait_tensor_row (expected, row)[i], AGREEMENT);
}

/* The parameter of hat's model @model that the plain model's @name stands for: of the leaves, if they have it. */
static PlaitParameter *
counterpart (const PlaitSpecimen *model, const char *name)
{
  PlaitParameters *parameters = plait_model_parameters (model->model);
  g_auto (GStrv) below_source = g_strsplit (name, "source/first/", 2);
  g_auto (GStrv) below_combiner = g_strsplit (name, "/attend/first/", 2);
  g_autofree char *leaves = g_strjoinv ("source/first/leaves/", below_source);
  g_autofree char *tokens = g_strjoinv ("/attend/first.tokens/", below_combiner);
  PlaitParameter *found = plait_parameters_find (parameters, leaves);

  return found ? found : plait_parameters_find (parameters, tokens);
}

/* As training begins, with the output projections of all that is new at zero, the model is @plain's. */
static void
check_beginning (const Documents *documents, const char *const *plain_keys, const char *combiner)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  GError *error = NULL;
  g_autoptr (PlaitSpecimen) model = model_of (registry, documents, NULL, combiner, plait_specimen_decoder (0), &error);
  g_autoptr (PlaitSpecimen) plain = model_of (registry, NULL, plain_keys, combiner, plait_specimen_decoder (0), &error);
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (model, 0, DOCUMENTS, of_source, targets);
  g_autoptr (PlaitBatch) flat = plait_specimen_batch (plain, 0, DOCUMENTS, of_source, targets);
  PlaitParameters *parameters = plait_model_parameters (plain->model);
  double losses[32], expected[32];
  gboolean differs = FALSE;
  CONTEXT ("%s", combiner);

  CHECK_NO_ERROR (error);
  plait_parameters_initialise (plait_model_parameters (model->model), pool, 3);
  plait_parameters_write_values (parameters);
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);
      PlaitParameter *from = counterpart (model, parameter->name);
      CONTEXT ("%s", parameter->name);

      REQUIRE (from != NULL);
      CHECK_INT (from->value.rows * from->value.width, parameter->value.rows * parameter->value.width);
      memcpy (parameter->value.data, from->value.data,
              (gsize)(from->value.rows * from->value.width) * sizeof (PlaitScalar));
    }
  memcpy (plait_batch_fill (gint32, flat->inputs[0].tokens), batch->inputs[0].tokens,
          (gsize)plait_ragged_rows (batch->inputs[0].rows) * sizeof (gint32));
  losses_of (model, batch, losses);
  losses_of (plain, flat, expected);
  check_losses (losses, expected, batch);

  /* What begins at zero is there: with other numbers in it the losses are others. */
  for (guint i = 0; i < plait_parameters_n (plait_model_parameters (model->model)); i++)
    {
      PlaitParameter *parameter = plait_parameters_get (plait_model_parameters (model->model), i);

      for (gint64 k = 0; strstr (parameter->name, "sentence") && k < parameter->value.rows * parameter->value.width;
           k++)
        parameter->value.data[k] += (PlaitScalar)(k % 3);
    }
  plait_parameters_write_values (plait_model_parameters (model->model));
  losses_of (model, batch, losses);
  for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
    differs |= fabs (losses[row] - expected[row]) > 1e-3;
  CHECK (differs);
}

TEST_CASE (hat, begins_as_the_plain_model_with_zero_output)
{
  static const char *const top[] = { "zero_output", "true", NULL };
  static const char *const layers[]
      = { "place", "layers", "zero_output", "true", "layers", "2", "readers", "all", NULL };
  static const char *const starts[]
      = { "place", "layers", "zero_output", "true", "layers", "2", "readers", "starts", NULL };
  static const char *const placed[] = { "layers", "0", "final_norm", "false", NULL };
  static const char *const gelu[] = { "activation", "gelu", NULL };

  check_beginning (&(Documents){ top, none }, none, "serial");
  check_beginning (&(Documents){ top, none }, none, "parallel");
  check_beginning (&(Documents){ layers, placed }, gelu, "serial");
  check_beginning (&(Documents){ starts, placed }, gelu, "serial");
}

/* As training begins all norms are alike: the tokens are the same wherever theirs stands, and so are the sentences that
 * are made of normed tokens. */
TEST_CASE (hat, token_norm_is_the_leaves_or_this_encoders)
{
  static const char *const bare[] = { "final_norm", "false", NULL };
  static const char *const before[] = { "token_norm", "before", NULL };
  static const char *const after[] = { "token_norm", "after", NULL };
  const char *const *const own[] = { none, before, after };
  PlaitScalar tokens[3][12 * WIDTH], sentences[3][12 * WIDTH];
  gint64 n_sentences = 0;

  for (int i = 0; i < 3; i++)
    {
      g_autoptr (PlaitRegistry) registry = plait_registry_new ();
      g_autoptr (PlaitSpecimen) model
          = hat_model (registry, &(Documents){ own[i], i == 0 ? none : bare }, plait_specimen_decoder (0));
      g_autoptr (PlaitBatch) batch = plait_specimen_batch (model, 0, DOCUMENTS, of_source, targets);
      g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
      g_auto (Bench) bench = bench_new (1);
      PlaitReading reading;

      plait_parameters_initialise (plait_model_parameters (model->model), pool, 3);
      bench_begin (&bench, PLAIT_TAPE_EVALUATE);
      reading = plait_model_read (model->model, bench.tape, batch, NULL);
      n_sentences = reading.memories[1].states->value.rows;
      CHECK_INT (reading.memories[0].states->value.rows, 12);
      memcpy (tokens[i], reading.memories[0].states->value.data, sizeof tokens[i]);
      memcpy (sentences[i], reading.memories[1].states->value.data, (gsize)n_sentences * WIDTH * sizeof (PlaitScalar));
    }
  for (int i = 1; i < 3; i++)
    for (int k = 0; k < 12 * WIDTH; k++)
      CHECK_NEAR ((double)tokens[i][k], (double)tokens[0][k], AGREEMENT);
  for (gint64 k = 0; k < n_sentences * WIDTH; k++)
    CHECK_NEAR ((double)sentences[2][k], (double)sentences[0][k], AGREEMENT);
  CHECK (memcmp (sentences[1], sentences[2], (gsize)n_sentences * WIDTH * sizeof (PlaitScalar)) != 0);
}

/*
 * What does not fit
 */

static void
check_refused (const char *const *keys, const char *message)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  GError *error = NULL;
  g_autoptr (PlaitSpecimen) model
      = model_of (registry, &(Documents){ keys, none }, NULL, "serial", plait_specimen_decoder (0), &error);

  CHECK (!model);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
}

TEST_CASE (hat, refuses_settings_that_mean_nothing_together)
{
  check_refused ((const char *const[]){ "place", "layers", "token_norm", "after", NULL }, "set token_norm=leaves");
  check_refused ((const char *const[]){ "place", "layers", "sentence_positions", "learned", NULL },
                 "set sentence_positions=none");
  check_refused ((const char *const[]){ "readers", "all", "sentence_positions", "learned", NULL },
                 "set readers=starts");
  check_refused ((const char *const[]){ "heads", "3", NULL }, "heads=3 do not divide the width of 8 that they read");
}

TEST_CASE (hat, refuses_more_sentences_than_learned_positions)
{
  static const char *const keys[] = { "sentence_positions", "learned", "sentence_limit", "1", NULL };
  static const char *const enough[] = { "sentence_positions", "learned", "sentence_limit", "6", NULL };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitSpecimen) model = hat_model (registry, &(Documents){ keys, none }, plait_specimen_decoder (0));
  g_autoptr (PlaitSpecimen) longer = hat_model (registry, &(Documents){ enough, none }, plait_specimen_decoder (0));
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (model, 0, DOCUMENTS, of_source, targets);
  GError *error = NULL;

  CHECK (plait_model_check_batch (longer->model, batch, NULL));
  CHECK (!plait_model_check_batch (model->model, batch, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "sentence_limit=1");
}
