/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include "cross-attention/token-attention.h"
#include "trees/trees.h"
#include "vocabulary/vocabulary.h"
#include "significance/length-bins.h"
#include "layers/positions.h"

/* This file checks that the parts of an experiment fit together, from the plugins' schemas and the settings alone. */

static void
check_decoder_allowed (const PlaitResolution *resolution, const PlaitSchema *schema, const char *group, const char *key)
{
  const PlaitSchema *decoder = resolution->experiment->public.decoder_component->schema;
  g_autofree char *allowed = NULL, *needed = NULL;

  if (plait_schema_allows_decoder (schema, decoder))
    return;
  allowed = schema->decoders ? plait_choices_text (schema->decoders) : g_strdup ("any");
  needed = schema->attentions ? g_strdup_printf (" with attention=%s", schema->attentions) : g_strdup ("");
  plait_resolution_problem (
      resolution, group, key, "the %s %s cannot be used in a decoder of type %s; it needs one of: %s%s (%s)",
      plait_plugin_kind_name (schema->kind), schema->name, decoder->name, allowed, needed, schema->path);
}

/* Adds a problem unless at least one source provides the structure that the schema @reader requires of one memory.
 * @reader belongs to the combiner or coverage that @key of [decoder] names. */
static void
check_structure_of_one (const PlaitResolution *resolution, const PlaitSchema *reader, const char *key)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  PlaitStructure needed = reader->requires_structure;
  g_autofree char *text = plait_structure_text (needed);

  if (!reader->one_memory_is_enough)
    return;
  for (guint i = 0; i < experiment->n_sources; i++)
    if ((experiment->sources[i].encoder->schema->provides_structure & needed) == needed)
      return;
  plait_resolution_problem (resolution, "decoder", key,
                            "the %s %s needs at least one memory with %s, which no source provides; choose an encoder "
                            "that provides it for one of them, or another %s",
                            plait_plugin_kind_name (reader->kind), reader->name, text,
                            plait_plugin_kind_name (reader->kind));
}

/* Adds a problem unless the memories of @encoder have the structure that the schema @reader, of a combiner or coverage,
 * requires of all memories. */
static void
check_structure (const PlaitResolution *resolution, const PlaitSchema *reader, const PlaitSchema *encoder,
                 const char *group)
{
  PlaitStructure lacking = reader->requires_structure & ~encoder->provides_structure;
  g_autofree char *needed = plait_structure_text (lacking);
  const char *kind = plait_plugin_kind_name (reader->kind);

  if (lacking != PLAIT_STRUCTURE_NONE && !reader->one_memory_is_enough)
    plait_resolution_problem (resolution, group, "encoder",
                              "the %s %s needs memories with %s, which the encoder %s does not provide; choose an "
                              "encoder that provides it, or another %s",
                              kind, reader->name, needed, encoder->name, kind);
}

static void
check_source (const PlaitResolution *resolution, const PlaitExperimentSource *source)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitSchema *encoder = source->encoder->schema;
  const char *group = source->encoder->group;

  if (experiment->combiner)
    check_decoder_allowed (resolution, encoder, group, "encoder");
  if (encoder->requires_structure != PLAIT_STRUCTURE_NONE)
    {
      g_autofree char *needed = plait_structure_text (encoder->requires_structure);
      plait_resolution_problem (
          resolution, group, "encoder",
          "the encoder %s needs %s, which its input (%s) does not provide; choose another encoder", encoder->name,
          needed, plait_input_kind_name (encoder->input));
    }
  if (experiment->combiner)
    check_structure (resolution, experiment->combiner->schema, encoder, group);
  if (experiment->coverage)
    check_structure (resolution, experiment->coverage->schema, encoder, group);
  if (g_str_equal (source->stream, experiment->data.target) && experiment->predict.kind != PLAIT_PREDICT_MASKED)
    plait_resolution_problem (resolution, group, NULL,
                              "reads the stream %s, which is data.target: the model would see what it must predict; "
                              "drop the source, or set stream=",
                              source->stream);
}

/* Returns the first used source that reads @stream, or NULL. (transfer none) */
static const PlaitExperimentSource *
reader_of (const PlaitExperiment *experiment, const char *stream)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    if (g_str_equal (experiment->sources[i].stream, stream))
      return &experiment->sources[i];
  return NULL;
}

static void
check_kinds (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      const PlaitExperimentSource *first = reader_of (experiment, source->stream);

      if (plait_input_kind_is_text (source->kind) != plait_input_kind_is_text (first->kind))
        plait_resolution_problem (
            resolution, source->encoder->group, "encoder",
            "the encoder %s reads %s, but [source %s] reads the same stream %s as %s; use two streams",
            source->encoder->plugin->name, plait_input_kind_name (source->kind), first->name, source->stream,
            plait_input_kind_name (first->kind));
    }
}

/* Adds a problem if @file is a features file but its stream is read as tokens or is the target. */
static void
check_file_kind (const PlaitResolution *resolution, const PlaitDataFile *file)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitExperimentSource *reader = reader_of (experiment, file->stream);
  gboolean hdf5 = g_str_has_suffix (file->paths[0], ".h5") || g_str_has_suffix (file->paths[0], ".hdf5");

  if (!hdf5 || (reader && reader->kind == PLAIT_INPUT_FEATURES))
    return;
  if (reader)
    plait_resolution_problem (resolution, "data", file->key,
                              "%s is an HDF5 file, but the encoder %s of [source %s] reads tokens; name a text file, "
                              "or choose an encoder of features",
                              file->written, reader->encoder->plugin->name, reader->name);
  else if (g_str_equal (file->stream, experiment->data.target))
    plait_resolution_problem (resolution, "data", file->key,
                              "%s is an HDF5 file, but %s is the target, which is text; name a text file",
                              file->written, file->stream);
}

const char **
plait_resolution_streams (const PlaitResolution *resolution)
{
  const PlaitExperimentPrivate *experiment = resolution->experiment;
  GPtrArray *streams = g_ptr_array_new ();

  g_ptr_array_add (streams, (gpointer)experiment->public.data.target);
  for (guint i = 0; i < experiment->sources->len; i++)
    g_ptr_array_add (streams, (gpointer)((PlaitParsedSource *)experiment->sources->pdata[i])->settings.stream);
  g_ptr_array_add (streams, NULL);
  return (const char **)g_ptr_array_free (streams, FALSE);
}

static gboolean
reads_trees (const PlaitSchema *schema, gconstpointer data)
{
  return schema->reads_trees;
}

/* TRUE if @file has the trees of a source. Adds a problem if no encoder of that source, or of another cell of the grid,
 * reads trees. */
static gboolean
check_trees_file (const PlaitResolution *resolution, const PlaitDataFile *file)
{
  const PlaitParsedSource *owner = NULL;

  for (guint i = 0; i < resolution->experiment->sources->len; i++)
    {
      const PlaitParsedSource *source = resolution->experiment->sources->pdata[i];

      if (!g_str_equal (file->stream, source->trees))
        continue;
      if (source->encoder->schema->reads_trees
          || plait_resolution_any_alternative (resolution, PLAIT_PLUGIN_ENCODER, reads_trees, NULL))
        return TRUE;
      owner = source;
    }
  if (owner)
    plait_resolution_problem (
        resolution, "data", file->key,
        "names trees, but the encoder %s of [%s] does not read trees; choose an encoder of trees, or drop the line",
        owner->encoder->plugin->name, owner->group);
  return owner != NULL;
}

/* Returns the reason why @source cannot read the word alignments @file; NULL if it can. */
static const char *
refuse_alignment (const PlaitExperiment *experiment, const PlaitParsedSource *source, const PlaitDataFile *file)
{
  if (g_str_equal (file->split, "validation"))
    return "validation does not read word alignments; drop the line, and give alignments to a test split for AER";
  if (!plait_experiment_has_decoder (experiment))
    return "with this [predict] there is no decoder that attends to words; drop the line";
  if (plait_experiment_is_documents (experiment, source->settings.stream)
      || plait_experiment_is_documents (experiment, experiment->data.target))
    return "words of documents cannot be aligned; drop the line, or give sentences";
  if (source->encoder && source->encoder->schema->input != PLAIT_INPUT_TOKENS)
    return "the source has features, and only words can be aligned; drop the line";
  return NULL;
}

/* TRUE if @file has the word alignments of a source. Adds a problem if that source cannot read them. */
static gboolean
check_alignment_file (const PlaitResolution *resolution, const PlaitDataFile *file)
{
  for (guint i = 0; i < resolution->experiment->sources->len; i++)
    {
      const PlaitParsedSource *source = resolution->experiment->sources->pdata[i];
      const char *reason = g_str_equal (file->stream, source->alignment)
                               ? refuse_alignment (&resolution->experiment->public, source, file)
                               : NULL;

      if (reason)
        plait_resolution_problem (resolution, "data", file->key, "%s", reason);
      if (g_str_equal (file->stream, source->alignment))
        return TRUE;
    }
  return FALSE;
}

/* TRUE if @file has further references. Adds a problem if no score uses them: there is no decoder, or they are for
 * training. */
static gboolean
check_reference_file (const PlaitResolution *resolution, const PlaitDataFile *file)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  if (!plait_experiment_reference_name (experiment, file->stream))
    return FALSE;
  if (!plait_experiment_has_decoder (experiment))
    plait_resolution_problem (resolution, "data", file->key,
                              "only translations have several references, but there is no decoder; drop the line");
  else if (g_str_equal (file->split, "train"))
    plait_resolution_problem (resolution, "data", file->key,
                              "training compares with no reference; name the file for validation or a test split");
  return TRUE;
}

static void
check_file (const PlaitResolution *resolution, const PlaitDataFile *file)
{
  g_autofree const char **known = plait_resolution_streams (resolution);

  if (g_str_equal (file->stream, PLAIT_LOSS_WEIGHTS) && !g_strv_contains (known, PLAIT_LOSS_WEIGHTS))
    {
      if (!g_str_equal (file->split, "train"))
        plait_resolution_problem (resolution, "data", file->key,
                                  "names weights of tuples, which only training has; drop the line");
      return;
    }
  if (check_trees_file (resolution, file) || check_alignment_file (resolution, file)
      || check_reference_file (resolution, file))
    return;
  if (g_strv_contains (known, file->stream))
    {
      check_file_kind (resolution, file);
      return;
    }
  g_autofree char *otherwise = g_strdup_printf ("add [source %s], or drop the line", file->stream);
  g_autofree char *remedy = plait_name_remedy (file->stream, known, otherwise);
  plait_resolution_problem (resolution, "data", file->key,
                            "no source reads the stream \"%s\", nor is it the target; %s", file->stream, remedy);
}

static void
need_file (const PlaitResolution *resolution, const char *split, const char *stream)
{
  if (!*plait_experiment_data_files (&resolution->experiment->public, split, stream))
    plait_resolution_problem (resolution, "data", NULL, "there is no file for %s.%s; add %s.%s=FILE", split, stream,
                              split, stream);
}

static void
need_trees (const PlaitResolution *resolution, const char *split, const PlaitExperimentSource *source)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  if (source->trees && experiment->data.trees == PLAIT_TREES_GIVEN
      && !*plait_experiment_data_files (experiment, split, source->trees))
    plait_resolution_problem (resolution, "data", NULL,
                              "there is no file for %s.%s, but the encoder %s of [source %s] reads trees; add "
                              "%s.%s=FILE, set trees=right for trees without a file, or choose another encoder",
                              split, source->trees, source->encoder->plugin->name, source->name, split, source->trees);
}

static void
need_split (const PlaitResolution *resolution, const char *split)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  for (guint i = 0; i < experiment->n_sources; i++)
    if (reader_of (experiment, experiment->sources[i].stream) == &experiment->sources[i])
      need_file (resolution, split, experiment->sources[i].stream);
  for (guint i = 0; i < experiment->n_sources; i++)
    need_trees (resolution, split, &experiment->sources[i]);
  if (!reader_of (experiment, experiment->data.target))
    need_file (resolution, split, experiment->data.target);
}

static gboolean
has_split (const PlaitResolution *resolution, const char *split)
{
  const GArray *files = resolution->experiment->data->files;

  for (guint i = 0; i < files->len; i++)
    if (g_str_equal (g_array_index (files, PlaitDataFile, i).split, split))
      return TRUE;
  return FALSE;
}

/* Adds a problem if a test split is called SPLIT-forced, since a run stores the attention of forced decoding of SPLIT
 * under this name. */
static void
check_name_of_split (const PlaitResolution *resolution, const char *split)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  g_autofree char *forced = g_strconcat (split, "-forced", NULL);

  if (g_strv_contains (experiment->test_splits, forced))
    plait_resolution_problem (resolution, "data", NULL,
                              "\"%s\" is the name of forced decoding of %s in the file of a run; rename that split",
                              forced, split);
}

/* Checks that every split with a file, and always train, has a file for each used stream. */
static void
check_files (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const GArray *files = resolution->experiment->data->files;

  for (guint i = 0; i < files->len; i++)
    check_file (resolution, &g_array_index (files, PlaitDataFile, i));
  need_split (resolution, "train");
  if (has_split (resolution, "validation"))
    need_split (resolution, "validation");
  for (guint i = 0; experiment->test_splits[i]; i++)
    {
      need_split (resolution, experiment->test_splits[i]);
      check_name_of_split (resolution, experiment->test_splits[i]);
    }
}

static void
check_generated_stream (const PlaitResolution *resolution, const char *group, const char *key, const char *stream)
{
  const PlaitTask *task = resolution->experiment->public.task;

  if (g_strv_contains (task->streams, stream))
    return;
  g_autofree char *remedy = plait_name_remedy (stream, task->streams, NULL);
  plait_resolution_problem (resolution, group, key, "the task %s makes no stream \"%s\"; %s", task->name, stream,
                            remedy);
}

static void
check_generated (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const GArray *files = resolution->experiment->data->files;

  for (guint i = 0; i < files->len; i++)
    plait_resolution_problem (resolution, "data", g_array_index (files, PlaitDataFile, i).key,
                              "names a file, but generate=%s makes the corpus; keep one of the two",
                              experiment->task->name);
  check_generated_stream (resolution, "data", "target", experiment->data.target);
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      const char *group = source->encoder->group;

      check_generated_stream (resolution, group, NULL, source->stream);
      if (source->trees && experiment->data.trees == PLAIT_TREES_GIVEN)
        check_generated_stream (resolution, group, "encoder", source->trees);
      if (!plait_input_kind_is_text (source->kind))
        plait_resolution_problem (
            resolution, group, "encoder",
            "the encoder %s reads %s, but a generated corpus is text; choose an encoder of tokens",
            source->encoder->plugin->name, plait_input_kind_name (source->kind));
    }
}

/* Adds a problem for each of @files whose key is vocabulary.NAME or vocabulary_text.NAME but whose NAME is not a
 * vocabulary of the experiment. */
static void
check_vocabulary_files (const PlaitResolution *resolution, const GArray *files)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  g_autofree const char **known = plait_resolution_streams (resolution);

  for (guint i = 0; i < files->len; i++)
    {
      const PlaitDataFile *file = &g_array_index (files, PlaitDataFile, i);

      if (experiment->data.vocabulary == PLAIT_DATA_VOCABULARY_SHARED && !g_str_equal (file->stream, "shared"))
        plait_resolution_problem (
            resolution, "data", file->key,
            "there is one vocabulary for all streams, called shared; name that one, or set vocabulary=separate");
      else if (experiment->data.vocabulary == PLAIT_DATA_VOCABULARY_SEPARATE && !g_strv_contains (known, file->stream))
        plait_resolution_problem (resolution, "data", file->key,
                                  "no source reads a stream \"%s\", nor is it the target; name a stream", file->stream);
    }
}

void
plait_resolution_check_decoder (const PlaitResolution *resolution)
{
  const PlaitDecoderSettings *decoder = &resolution->experiment->public.decoder;
  const PlaitComponent *component = resolution->experiment->public.decoder_component;

  if (!plait_experiment_has_decoder (&resolution->experiment->public) || !component)
    return;
  if (component->schema->scores == PLAIT_SCORES_HEADS && decoder->width % decoder->heads != 0)
    plait_resolution_problem (resolution, "decoder", "heads",
                              "%jd heads do not divide the width %jd; choose heads and width so that they do",
                              decoder->heads, decoder->width);
}

/* Adds a problem if a key of [train] needs validation text that [data] does not name. */
static void
check_validation (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitTrainSettings *train = &experiment->train;
  const char *key = *train->metric != '\0' ? "metric" : train->patience > 0 ? "patience" : NULL;
  g_autofree char *file = g_strconcat ("validation.", experiment->data.target, NULL);

  if (key && *experiment->data.target != '\0' && !experiment->task
      && !plait_key_file_value (resolution->file, "data", file))
    plait_resolution_problem (
        resolution, "train", key,
        "needs validation text, but [data] has none; add %s=FILE and files for the sources, or drop the key", file);
}

static void
check_unit (const PlaitResolution *resolution, const char *group, const char *key, const PlaitMetric *metric)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const char *target = experiment->data.target;

  if (plait_metric_is_of_documents (metric) && *target != '\0' && !plait_experiment_is_documents (experiment, target))
    plait_resolution_problem (resolution, group, key,
                              "%s scores documents, but the target %s has sentences; leave unit=document out, or name "
                              "the target in data.documents or data.documents_by_line",
                              plait_metric_text (metric), target);
  if (plait_metric_model (metric) && !g_path_is_absolute (plait_metric_model (metric)))
    plait_resolution_problem (resolution, group, key,
                              "%s: a run is read from any folder, so the path of a model must be absolute; write "
                              "model=/...",
                              plait_metric_text (metric));
}

static void
check_schedule (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitTrainSettings *train = &experiment->train;
  g_autofree char *file = g_strconcat ("validation.", experiment->data.target, NULL);
  g_autoptr (GError) fault = NULL;

  if (train->schedule == PLAIT_TRAIN_SCHEDULE_STEPS && !plait_rates_check (train->rates, &fault))
    plait_resolution_problem (resolution, "train", "rates", "%s", fault->message);
  if (train->schedule != PLAIT_TRAIN_SCHEDULE_STEPS && *train->rates != '\0')
    plait_resolution_problem (resolution, "train", "rates", "are for schedule=steps; set it, or drop the key");
  if (train->schedule == PLAIT_TRAIN_SCHEDULE_PLATEAU && !experiment->task
      && !plait_key_file_value (resolution->file, "data", file))
    plait_resolution_problem (resolution, "train", "schedule",
                              "plateau needs validation text, but [data] has none; add %s=FILE and files for the "
                              "sources, or choose another schedule",
                              file);
}

void
plait_resolution_check_train (const PlaitResolution *resolution)
{
  const PlaitTrainSettings *train = &resolution->experiment->public.train;
  PlaitAttentionSelection selection;
  g_autoptr (GError) fault = NULL;

  check_validation (resolution);
  if (!plait_attention_selection_parse (train->alignment_attention, "the value", &selection, &fault))
    plait_resolution_problem (resolution, "train", "alignment_attention", "%s", fault->message);
  else if (selection.layer == PLAIT_ATTENTION_MEAN)
    plait_resolution_problem (resolution, "train", "alignment_attention",
                              "the mean of all layers does not learn alignments; name a layer, such as last");
  g_clear_error (&fault);
  if (*train->metric != '\0' && resolution->experiment->public.predict.kind == PLAIT_PREDICT_MASKED)
    plait_resolution_problem (resolution, "train", "metric",
                              "[predict] kind=masked gives no text to score during training; drop the key: loss, "
                              "perplexity and accuracy of masked tokens are always reported");
  if (train->epochs == 0 && train->updates == 0)
    plait_resolution_problem (resolution, "train", "epochs",
                              "epochs=0 and updates=0: training would never end; limit one of them");
  if (train->source_dropout > 0 && plait_predictions[resolution->experiment->public.predict.kind].of_source)
    plait_resolution_problem (resolution, "train", "source_dropout",
                              "%g would drop the first source too, whose tokens are predicted or get predictions; set "
                              "it to 0",
                              train->source_dropout);
  else if (train->source_dropout > 0 && resolution->experiment->public.n_sources == 1)
    plait_resolution_problem (resolution, "train", "source_dropout",
                              "%g would leave out a source, but there is only one, without which there is nothing to "
                              "read; drop the key, or add a source",
                              train->source_dropout);
  check_schedule (resolution);
  if (train->optimizer == PLAIT_TRAIN_OPTIMIZER_ADADELTA && train->schedule == PLAIT_TRAIN_SCHEDULE_NOAM)
    plait_resolution_problem (
        resolution, "train", "schedule",
        "the learning rates of noam are made for adam; adadelta finds its step sizes itself and would hardly move: "
        "drop the key, which gives constant, or use linear to decrease the steps");
  if (*train->metric != '\0')
    {
      g_autoptr (PlaitMetric) metric = plait_metric_new (train->metric, &fault);
      if (!metric)
        plait_resolution_problem (resolution, "train", "metric", "%s", fault->message);
      else
        check_unit (resolution, "train", "metric", metric);
    }
  else if (train->best_by == PLAIT_TRAIN_BEST_BY_METRIC)
    plait_resolution_problem (resolution, "train", "best_by",
                              "best_by=metric needs a metric; add metric=bleu, or set best_by=loss");
}

static void
check_length_bins (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  g_autoptr (GError) fault = NULL;
  gboolean reads_text = FALSE;

  if (*experiment->evaluate.length_bins == '\0')
    return;
  for (guint i = 0; i < experiment->n_sources; i++)
    reads_text |= plait_input_kind_is_text (experiment->sources[i].kind);
  g_autoptr (PlaitLengthBins) bins = plait_length_bins_new (experiment->evaluate.length_bins, &fault);
  if (!bins)
    plait_resolution_problem (resolution, "evaluate", "length_bins", "%s", fault->message);
  else if (!reads_text)
    plait_resolution_problem (resolution, "evaluate", "length_bins",
                              "no source is text, so there are no words to count; add one, or drop the key");
}

void
plait_resolution_check_evaluate (const PlaitResolution *resolution)
{
  const PlaitEvaluateSettings *evaluate = &resolution->experiment->public.evaluate;
  PlaitAttentionSelection selection;
  g_autoptr (GError) fault = NULL;
  g_autoptr (GPtrArray) metrics = plait_metric_new_list (evaluate->metrics, &fault);

  if (!metrics)
    plait_resolution_problem (resolution, "evaluate", "metrics", "%s", fault->message);
  for (guint i = 0; metrics && i < metrics->len; i++)
    check_unit (resolution, "evaluate", "metrics", metrics->pdata[i]);
  check_length_bins (resolution);
  g_clear_error (&fault);
  if (!plait_attention_selection_parse (evaluate->alignment_attention, "the value", &selection, &fault))
    plait_resolution_problem (resolution, "evaluate", "alignment_attention", "%s", fault->message);
  if (*evaluate->translation_rates != '\0' && !plait_experiment_has_decoder (&resolution->experiment->public))
    plait_resolution_problem (
        resolution, "evaluate", "translation_rates",
        "are measured on a decoder's attention, but with this [predict] there is no decoder; drop the key");
  if (evaluate->translation_rate_under > evaluate->translation_rate_over)
    plait_resolution_problem (resolution, "evaluate", "translation_rate_under",
                              "%g is above translation_rate_over=%g, so a word could be both; lower it",
                              evaluate->translation_rate_under, evaluate->translation_rate_over);
}

void
plait_resolution_check_bench (const PlaitResolution *resolution)
{
  const PlaitBenchSettings *bench = &resolution->experiment->public.bench;

  if (bench->shortest_length > bench->longest_length)
    plait_resolution_problem (resolution, "bench", "shortest_length",
                              "%jd is above longest_length=%jd; lower one or raise the other", bench->shortest_length,
                              bench->longest_length);
}

static void
check_vocabulary_size (const PlaitResolution *resolution)
{
  const PlaitDataSettings *data = &resolution->experiment->public.data;
  gint64 size = data->vocabulary_size;

  if (data->vocabulary_type == PLAIT_DATA_VOCABULARY_TYPE_WORDS && size > 0 && size <= PLAIT_TOKEN_SPECIALS)
    plait_resolution_problem (
        resolution, "data", "vocabulary_size",
        "%jd entries leave no room for words after the %d special ones; give more, or 0 for all words", size,
        PLAIT_TOKEN_SPECIALS);
  else if (data->vocabulary_type != PLAIT_DATA_VOCABULARY_TYPE_WORDS && (size < 8 || size > PLAIT_VOCABULARY_MAX_SIZE))
    plait_resolution_problem (resolution, "data", "vocabulary_size",
                              "%jd entries are too %s for SentencePiece; give from 8 to %d, or vocabulary_type=words",
                              size, size < 8 ? "few" : "many", PLAIT_VOCABULARY_MAX_SIZE);
}

/* Checks that the decoder's type and the memories of the sources suit the combiner, the coverage and the output. */
static void
check_combiner (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  check_decoder_allowed (resolution, experiment->combiner->schema, "decoder", "combiner");
  check_structure_of_one (resolution, experiment->combiner->schema, "combiner");
  check_decoder_allowed (resolution, experiment->output->schema, "decoder", "output");
  check_structure_of_one (resolution, experiment->output->schema, "output");
  if (!experiment->coverage)
    return;
  check_decoder_allowed (resolution, experiment->coverage->schema, "decoder", "coverage");
  check_structure_of_one (resolution, experiment->coverage->schema, "coverage");
  if (experiment->combiner->schema->refuses_coverage)
    plait_resolution_problem (
        resolution, "decoder", "coverage",
        "the combiner %s cannot be used with a coverage; set coverage=none, or choose another combiner (%s)",
        experiment->combiner->schema->name, experiment->combiner->schema->path);
}

void
plait_resolution_check_compatibility (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  if (experiment->combiner)
    check_combiner (resolution);
  for (guint i = 0; i < experiment->n_sources; i++)
    check_source (resolution, &experiment->sources[i]);
  plait_resolution_check_prediction (resolution);
  check_kinds (resolution);
  plait_resolution_check_documents (resolution);
  if (experiment->task)
    check_generated (resolution);
  else if (!(resolution->resolver->flags & PLAIT_RESOLVE_WITHOUT_DATA))
    check_files (resolution);
  check_vocabulary_files (resolution, resolution->experiment->data->vocabulary_files);
  check_vocabulary_files (resolution, resolution->experiment->data->vocabulary_texts);
  check_vocabulary_size (resolution);
}
