/* SPDX-License-Identifier: MIT */
#include "contract/fixture.h"

#include <string.h>

#include "corpus/batch.h"
#include "layers/parameter-set.h"

/*
 * Settings of the decoders, one list for each
 */

static const char *const decoders[PLAIT_FIXTURE_DECODERS] = {
  "type=transformer",
  "type=transformer norm=post coverage_heads=each",
  "type=gru layers=1",
  "type=gru attention=multiplicative input_feeding=true state_width=6",
  "type=gru layers=1 query=intermediate reset=after context_width=6 state_width=5",
  "type=lstm query=current attention=dot input_feeding=true readout=attentional initial=zero",
  "type=lstm layers=1 query=intermediate attention_width=3 output_bias=true",
};

/* A smooth activation. ReLU has a kink, where finite differences are wrong. */
#define SMOOTH "gelu"

/* Settings that all decoders share; the settings of each decoder are applied after them. */
static const char small[] = "layers=2 width=8 heads=2 feed_forward=12 dropout=0 attention_dropout=0 "
                            "feed_forward_dropout=0 position_limit=32 activation=" SMOOTH;

/* Applies the settings in @text to @settings. Skips settings that @settings does not know. */
static void
set_known (PlaitSettings *settings, const char *text)
{
  g_auto (GStrv) pairs = g_strsplit (text ? text : "", " ", -1);

  for (guint i = 0; pairs[i] && *pairs[i]; i++)
    {
      char *value = strchr (pairs[i], '=');
      gboolean set;

      *value = '\0';
      if (plait_settings_find (settings, pairs[i]) < 0)
        continue;
      set = plait_settings_set (settings, pairs[i], value + 1, NULL);
      g_assert (set);
    }
}

PlaitFixtureDecoder
plait_fixture_decoder (guint i)
{
  g_autoptr (PlaitSettings) settings = plait_settings_new_for_group (&plait_decoder_group);
  PlaitDecoderSettings standard;
  PlaitFixtureDecoder found = { .parameters = decoders[i] };

  g_assert (i < PLAIT_FIXTURE_DECODERS);
  set_known (settings, small);
  set_known (settings, decoders[i]);
  plait_settings_fill_group (settings, &plait_decoder_group, &found.settings);
  /* The names of plugins in found.settings point into settings, which are freed here. Replace them by static texts. */
  plait_setting_group_defaults (&plait_decoder_group, &standard);
  found.settings.type = g_intern_string (found.settings.type);
  found.settings.combiner = standard.combiner;
  found.settings.coverage = standard.coverage;
  found.settings.output = standard.output;
  return found;
}

PlaitFixtureDecoder
plait_fixture_decoder_with (guint i, PlaitPlugin *combiner, PlaitSettings *combiner_settings, PlaitPlugin *coverage,
                            PlaitSettings *coverage_settings)
{
  PlaitFixtureDecoder decoder = plait_fixture_decoder (i);

  decoder.combiner = combiner;
  decoder.combiner_settings = combiner_settings;
  decoder.coverage = coverage;
  decoder.coverage_settings = coverage_settings;
  return decoder;
}

/*
 * Functions for components and models
 */

/* Gives @parameter, which has no default, some valid value. */
static void
set_something (PlaitSettings *settings, const PlaitSettingSpecification *parameter)
{
  g_auto (GStrv) choices = g_strsplit (parameter->choices ? parameter->choices : "", ";", 2);
  const char *value = parameter->minimum                         ? parameter->minimum
                      : choices[0]                               ? choices[0]
                      : parameter->type == PLAIT_SETTING_BOOLEAN ? "true"
                                                                 : "1";

  plait_settings_set (settings, parameter->name, value, NULL);
}

PlaitSettings *
plait_fixture_settings (PlaitPlugin *plugin)
{
  const PlaitSchema *schema = plugin->schema;
  PlaitSettings *settings = plait_settings_new (schema->parameters, schema->n_parameters);

  for (guint i = 0; i < schema->n_parameters; i++)
    {
      const PlaitSettingSpecification *parameter = schema->parameters[i];
      const char *text = plait_settings_text_at (settings, i);

      if (!text)
        {
          set_something (settings, parameter);
          continue;
        }
      /* Choose a small value, but large enough for parameters that count rows. A value below the allowed range is
       * refused, and the default stays. */
      if (parameter->type == PLAIT_SETTING_INTEGER && g_ascii_strtoll (text, NULL, 10) > 32)
        plait_settings_set (settings, parameter->name, "32", NULL);
      else if (parameter->type == PLAIT_SETTING_INTEGER && g_ascii_strtoll (text, NULL, 10) > 2)
        plait_settings_set (settings, parameter->name, "2", NULL);
      else if (parameter->type == PLAIT_SETTING_REAL && g_str_has_suffix (parameter->name, "dropout"))
        plait_settings_set (settings, parameter->name, "0", NULL);
      else if (parameter->type == PLAIT_SETTING_CHOICE && g_str_equal (parameter->name, "activation"))
        plait_settings_set (settings, parameter->name, SMOOTH, NULL);
    }
  return settings;
}

PlaitComponent *
plait_fixture_part (PlaitPlugin *plugin, PlaitSettings *settings, const char *group)
{
  PlaitComponent *component = plait_component_new (plugin, group);

  plait_settings_free (component->parameters);
  component->parameters = plait_settings_share (settings);
  return component;
}

/* Adds @component (transfer full) to the fixture and opens it. Returns NULL if that fails. */
static const PlaitComponent *
keep (PlaitFixture *fixture, PlaitComponent *component, GError **error)
{
  g_ptr_array_add (fixture->parts, component);
  return plait_component_open (component, error) ? component : NULL;
}

static gboolean
keep_source (PlaitFixture *fixture, guint i, const PlaitFixtureSource *source, GError **error)
{
  static const char *const names[PLAIT_FIXTURE_MAX_SOURCES] = { "first", "second", "third", "fourth" };
  g_autofree char *group = g_strdup_printf ("source %s", names[i]);
  g_autofree char *leaves = g_strdup_printf ("%s/leaves", group);
  PlaitComponent *encoder = plait_fixture_part (source->encoder, source->settings, group);

  if (source->leaves)
    encoder->leaves = plait_fixture_part (source->leaves, source->inner_settings, leaves);
  fixture->sources[i] = (PlaitSourceSpecification){
    .name = names[i],
    .kind = encoder->schema->input,
    .encoder = keep (fixture, encoder, error),
    .vocabulary = "shared",
    .vocabulary_size = PLAIT_FIXTURE_WORDS,
    .feature_width = PLAIT_FIXTURE_FEATURE_WIDTH,
  };
  return fixture->sources[i].encoder != NULL;
}

/* Adds the component of the decoder plugin to the fixture. Returns NULL if that fails. */
static const PlaitComponent *
keep_decoder_component (PlaitFixture *fixture, const PlaitFixtureDecoder *decoder, GError **error)
{
  PlaitPlugin *plugin = decoder->plugin ? decoder->plugin
                                        : plait_registry_find (decoder->combiner->registry, PLAIT_PLUGIN_DECODER,
                                                               decoder->settings.type, error);
  g_autoptr (PlaitSettings) settings = plugin ? plait_fixture_settings (plugin) : NULL;

  if (!settings)
    return NULL;
  if (decoder->plugin_settings)
    return keep (fixture, plait_fixture_part (plugin, decoder->plugin_settings, "decoder"), error);
  set_known (settings, small);
  set_known (settings, decoder->parameters);
  set_known (settings, decoder->more);
  return keep (fixture, plait_fixture_part (plugin, settings, "decoder"), error);
}

static gboolean
keep_decoder (PlaitFixture *fixture, const PlaitFixtureDecoder *decoder, GError **error)
{
  PlaitModelSpecification *specification = &fixture->specification;

  specification->target_vocabulary = "shared";
  specification->target_vocabulary_size = PLAIT_FIXTURE_WORDS;
  specification->decoder = decoder->settings;
  specification->predict = decoder->predict;
  if (plait_target_has_labels (plait_predictions[specification->predict.kind].target))
    specification->target_vocabulary_size -= PLAIT_TOKEN_SPECIALS;
  if (specification->predict.kind != PLAIT_PREDICT_SEQUENCE)
    return TRUE;
  specification->decoder_component = keep_decoder_component (fixture, decoder, error);
  if (!specification->decoder_component)
    return FALSE;
  specification->combiner
      = keep (fixture, plait_fixture_part (decoder->combiner, decoder->combiner_settings, "combiner"), error);
  if (specification->combiner && decoder->coverage)
    specification->coverage
        = keep (fixture, plait_fixture_part (decoder->coverage, decoder->coverage_settings, "coverage"), error);
  if (specification->combiner && decoder->output)
    specification->output
        = keep (fixture, plait_fixture_part (decoder->output, decoder->output_settings, "output"), error);
  return specification->combiner && (specification->coverage || !decoder->coverage)
         && (specification->output || !decoder->output);
}

PlaitFixture *
plait_fixture_new (const PlaitFixtureSource *sources, guint n, const PlaitFixtureDecoder *decoder, guint64 seed,
                   GError **error)
{
  g_autoptr (PlaitFixture) fixture = g_new0 (PlaitFixture, 1);

  g_assert (n <= PLAIT_FIXTURE_MAX_SOURCES);
  fixture->parts = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_component_free);
  fixture->specification.sources = fixture->sources;
  fixture->specification.n_sources = n;
  for (guint i = 0; i < n; i++)
    if (!keep_source (fixture, i, &sources[i], error))
      return NULL;
  if (!keep_decoder (fixture, decoder, error))
    return NULL;
  fixture->model = plait_model_new (&fixture->specification, error);
  if (!fixture->model)
    return NULL;
  plait_fixture_initialise (fixture, seed);
  return g_steal_pointer (&fixture);
}

void
plait_fixture_free (PlaitFixture *fixture)
{
  if (!fixture)
    return;
  plait_model_free (fixture->model);
  g_ptr_array_unref (fixture->parts);
  g_free (fixture);
}

void
plait_fixture_initialise (PlaitFixture *fixture, guint64 seed)
{
  PlaitParameters *parameters = plait_model_parameters (fixture->model);
  PlaitRandomKey key = plait_random_key (seed, "stir", NULL, 0);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  PlaitTensor values;

  plait_parameters_initialise (parameters, pool, seed);
  values = plait_parameters_write_values (parameters);
  /* Add noise to all values, since ones and zeros would hide mistakes. */
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);

      for (gint64 k = 0; k < parameter->value.rows * parameter->value.width; k++)
        values.data[parameter->offset + k]
            += (PlaitScalar)(0.1 * plait_random_normal (key, (guint64)(parameter->offset + k)));
    }
}

/*
 * Functions for batches
 */

static void
fill_source (PlaitInput *input, gint64 source, gint64 first, gint64 n, const gint64 *lengths)
{
  gint64 *offsets = plait_batch_fill (gint64, input->rows.offsets);

  offsets[0] = 0;
  input->n_missing = 0;
  for (gint64 s = 0; s < n; s++)
    {
      PlaitRandomKey key = plait_random_key (7, "source", NULL, (guint64)((first + s) * 8 + source));

      offsets[s + 1] = offsets[s] + lengths[s];
      input->n_missing += lengths[s] == 0;
      for (gint64 i = 0; i < lengths[s]; i++)
        if (plait_input_kind_is_text (input->kind))
          plait_batch_fill (gint32, input->tokens)[offsets[s] + i]
              = (gint32)(PLAIT_TOKEN_SPECIALS
                         + plait_random_below (key, (guint64)i, PLAIT_FIXTURE_WORDS - PLAIT_TOKEN_SPECIALS));
        else
          for (gint64 k = 0; k < PLAIT_FIXTURE_FEATURE_WIDTH; k++)
            plait_tensor_row (input->features, offsets[s] + i)[k]
                = (PlaitScalar)plait_random_normal (key, (guint64)(i * PLAIT_FIXTURE_FEATURE_WIDTH + k));
    }
}

/* Writes a random binary tree over each sentence by joining neighbours until one node remains. Every third sentence has
 * no tree. */
static void
fill_trees (PlaitInput *input, gint64 first)
{
  const PlaitTrees *trees = input->trees;
  gint64 *offsets = plait_batch_fill (gint64, trees->nodes.offsets);
  gint64 *left = plait_batch_fill (gint64, trees->left), *right = plait_batch_fill (gint64, trees->right);

  offsets[0] = 0;
  for (gint64 s = 0; s < input->rows.n; s++)
    {
      gint64 n = plait_ragged_length (input->rows, s), node = offsets[s];
      g_autofree gint64 *open = g_new (gint64, n + 1);
      PlaitRandomKey key = plait_random_key (7, "tree", NULL, (guint64)(first + s));

      for (gint64 i = 0; i < n; i++)
        open[i] = i;
      for (gint64 still = n; still > 1 && (first + s) % 3 != 1; still--, node++)
        {
          gint64 at = (gint64)plait_random_below (key, (guint64)still, (guint64)still - 1);

          left[node] = open[at];
          right[node] = open[at + 1];
          plait_batch_fill (const char *, trees->labels)[node] = "X";
          open[at] = n + node - offsets[s];
          memmove (open + at + 1, open + at + 2, (gsize)(still - at - 2) * sizeof *open);
        }
      offsets[s + 1] = node;
    }
}

/* Cuts document @document of @n rows into random sentences, appends them to @sentences (may be NULL), and returns their
 * number. */
static gint64
cut_document (gint64 document, gint64 n, GArray *sentences)
{
  PlaitRandomKey key = plait_random_key (7, "document", NULL, (guint64)document);
  PlaitDocumentSentence sentence = { 0, 0 };
  gint64 found = 0;

  for (gint64 row = 0; row < n; row++)
    {
      sentence.tokens++;
      if (row < n - 1 && plait_random_below (key, (guint64)row, 2) == 0)
        continue;
      if (sentences)
        g_array_append_val (sentences, sentence);
      sentence.tokens = 0;
      found++;
    }
  return found;
}

/* Cuts each document into sentences that begin with a start token. */
static void
fill_documents (PlaitInput *input, gint64 first)
{
  g_autoptr (GArray) sentences = g_array_new (FALSE, FALSE, sizeof (PlaitDocumentSentence));
  gint64 n = input->rows.n;
  g_autofree gint64 *bounds = g_new0 (gint64, n + 1);

  for (gint64 d = 0; d < n; d++)
    bounds[d + 1] = bounds[d] + cut_document (first + d, plait_ragged_length (input->rows, d), sentences);
  plait_batch_fill_documents (input, (const PlaitDocumentSentence *)(gpointer)sentences->data, bounds);
  for (gint64 s = 0; s < bounds[n]; s++)
    plait_batch_fill (gint32, input->tokens)[input->documents->rows[s]] = PLAIT_TOKEN_BOS;
}

/* Returns the number of rows of a target with @words words, if the first source of its sentence has @tokens tokens. */
static gint64
target_rows (PlaitTargetKind kind, gint64 words, gint64 tokens)
{
  switch (kind)
    {
    case PLAIT_TARGET_TEXT:
      return words + 1;
    case PLAIT_TARGET_TAGS:
      return tokens;
    case PLAIT_TARGET_SPAN:
      return 2;
    default:
      return 1;
    }
}

PlaitBatch *
plait_fixture_batch (const PlaitFixture *fixture, gint64 first, gint64 n, const gint64 *const *lengths,
                     const gint64 *targets)
{
  PlaitBatchSource sources[PLAIT_FIXTURE_MAX_SOURCES] = { { NULL } };
  guint n_sources = fixture->specification.n_sources;
  PlaitTargetKind kind = plait_predictions[fixture->specification.predict.kind].target;
  gboolean documents = kind == PLAIT_TARGET_CHOICE || kind == PLAIT_TARGET_SPAN;
  gint64 rows = 0;
  gint64 row = 0;
  PlaitBatch *batch;

  for (guint i = 0; i < n_sources; i++)
    {
      sources[i].name = fixture->sources[i].name;
      sources[i].kind = fixture->sources[i].kind;
      sources[i].width = PLAIT_FIXTURE_FEATURE_WIDTH;
      for (gint64 s = 0; s < n; s++)
        {
          sources[i].rows += lengths[i][s];
          sources[i].nodes += (first + s) % 3 != 1 ? MAX (lengths[i][s] - 1, 0) : 0;
          sources[i].sentences += cut_document (first + s, lengths[i][s], NULL);
        }
      sources[i].has_trees = sources[i].kind == PLAIT_INPUT_TOKENS && !documents;
      sources[i].has_documents = sources[i].kind == PLAIT_INPUT_DOCUMENTS || documents;
      sources[i].start_tokens = TRUE;
    }
  for (gint64 s = 0; s < n; s++)
    rows += target_rows (kind, targets[s], lengths[0][s]);
  batch = plait_batch_new (n, sources, n_sources, rows, -1, NULL);
  for (guint i = 0; i < n_sources; i++)
    {
      PlaitInput *input = &plait_batch_fill (PlaitInput, batch->inputs)[i];

      fill_source (input, i, first, n, lengths[i]);
      if (input->trees)
        fill_trees (input, first);
      if (input->documents)
        fill_documents (input, first);
    }
  for (gint64 s = 0; s < n; s++)
    {
      gint32 ids[64];
      gint64 length = target_rows (kind, targets[s], lengths[0][s]) - plait_target_has_end (kind);
      PlaitRandomKey key = plait_random_key (7, "target", NULL, (guint64)(first + s));

      for (gint64 t = 0; t < length; t++)
        ids[t] = (gint32)(PLAIT_TOKEN_SPECIALS
                          + plait_random_below (key, (guint64)t, PLAIT_FIXTURE_WORDS - PLAIT_TOKEN_SPECIALS));
      if (kind == PLAIT_TARGET_CHOICE)
        ids[0] = (gint32)plait_random_below (key, 0, (guint64)cut_document (first + s, lengths[0][s], NULL));
      if (kind == PLAIT_TARGET_NUMBER)
        ids[0] = plait_id_of_number ((float)(ids[0] - PLAIT_TOKEN_SPECIALS) / 2);
      for (gint64 t = 0; kind == PLAIT_TARGET_SPAN && t < 2; t++)
        ids[t] = (gint32)(t == 0 ? 0 : lengths[0][s] - 1);
      plait_batch_fill (gint64, batch->sentence)[s] = first + s;
      plait_batch_fill (gint64, batch->target_rows.offsets)[s] = row;
      plait_batch_fill_target (batch, kind, row, ids, length);
      row += length + plait_target_has_end (kind);
    }
  plait_batch_fill (gint64, batch->target_rows.offsets)[n] = row;
  return batch;
}
