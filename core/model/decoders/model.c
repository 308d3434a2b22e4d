/* SPDX-License-Identifier: MIT */
#include "decoders/model.h"

#include "autograd/internal.h"

#include <math.h>
#include <string.h>

#include "cross-attention/rows.h"
#include "schema/schema.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"
#include "layers/embedding.h"

/* A source and its encoder. */
typedef struct
{
  const PlaitSourceSpecification *specification;
  PlaitEmbedding *embedding; /* embedding of tokens; NULL for features */
  PlaitEmbedding roles;      /* declared if documents have roles */
  PlaitInstance encoder;
  PlaitLinear projections[PLAIT_ENCODER_MAX_MEMORIES]; /* [memories]: projections to the decoder's width; not declared
                                                          if a memory has this width */
} Source;

struct PlaitModel
{
  PlaitModelSpecification specification;
  PlaitParameters *parameters;
  GHashTable *embeddings; /* name -> PlaitEmbedding */
  Source *sources;        /* [specification.n_sources] */
  PlaitMemorySpecification *memories;
  guint n_memories;
  PlaitMemorySpecification *summaries; /* [n_summaries]: summaries of the sources that give one */
  guint n_summaries;
  PlaitLossColumns losses;
  gint64 update;                   /* number of the update that is computed; 0: every loss has its weight */
  PlaitEmbedding *target;          /* target tokens; NULL if no sequence is predicted */
  const Source *role_source;       /* source whose roles the target takes, or NULL */
  PlaitEmbedding roles;            /* role embeddings in the decoder */
  PlaitDecoder *decoder;           /* or NULL */
  PlaitHead *head;                 /* takes the place of the decoder; NULL if there is a decoder */
  PlaitCrossAttentionLayer *cross; /* the decoder's last cross-attention, or NULL */
  PlaitModelOutput *output;        /* NULL if states are logits */
  PlaitOutputMemory *copyable;     /* [n_memories]: what the output may know of each memory */
  PlaitGuidedAlignment guided;     /* the loss on word alignments */
};

static PlaitEmbedding
embedding_declare (PlaitModel *model, const char *name, gint64 size)
{
  const PlaitDecoderSettings *settings = &model->specification.decoder;
  double deviation = 1 / sqrt ((double)settings->width);

  return plait_embedding_declare (model->parameters, name, size, settings->width, PLAIT_NORMAL (deviation),
                                  settings->scale_embeddings ? 1 / deviation : 1);
}

/* Returns the embedding of @vocabulary: one for all streams if embeddings are shared, else one named below @prefix. */
static PlaitEmbedding *
embedding (PlaitModel *model, const char *prefix, const char *vocabulary, gint64 size)
{
  g_autofree char *name = model->specification.decoder.share_embeddings ? g_strdup_printf ("embedding/%s", vocabulary)
                                                                        : g_strdup_printf ("%sembedding", prefix);
  PlaitEmbedding *found = g_hash_table_lookup (model->embeddings, name);

  if (!found)
    {
      found = g_new (PlaitEmbedding, 1);
      *found = embedding_declare (model, name, size);
      g_hash_table_insert (model->embeddings, g_steal_pointer (&name), found);
    }
  return found;
}

/* Appends the source's memories and summary to those of the model. Declares projections of memories to @width, the
 * decoder's width; 0: the decoder takes any width. */
static void
note_memories (PlaitModel *model, Source *source, gint64 width)
{
  if (source->encoder.shape.summary_width > 0)
    model->summaries[model->n_summaries++] = (PlaitMemorySpecification){ .name = source->specification->name,
                                                                         .width = source->encoder.shape.summary_width };
  for (guint i = 0; i < source->encoder.shape.n_memories; i++)
    {
      PlaitMemorySpecification *memory = &model->memories[model->n_memories++];
      const char *name = source->encoder.shape.memories[i].name;

      memory->name = name ? g_strdup_printf ("%s.%s", source->specification->name, name)
                          : g_strdup (source->specification->name);
      memory->structure = source->encoder.shape.memories[i].structure;
      memory->zero_output = source->encoder.shape.memories[i].zero_output;
      memory->width = width ? width : source->encoder.shape.memories[i].width;
      if (source->encoder.shape.memories[i].width != memory->width)
        {
          g_autofree char *full = g_strdup_printf ("decoder/memory/%s", memory->name);

          source->projections[i]
              = plait_linear_declare (model->parameters, full, source->encoder.shape.memories[i].width, width, TRUE);
        }
    }
}

static gboolean
build_source (PlaitModel *model, Source *source, const PlaitSourceSpecification *specification, GError **error)
{
  g_autofree char *prefix = g_strdup_printf ("source/%s/", specification->name);
  PlaitEncoderBuild build = {
    .source = specification->name,
    .kind = specification->kind,
    .input_width = plait_input_kind_is_text (specification->kind) ? model->specification.decoder.width
                                                                  : specification->feature_width,
    .model_width = model->specification.decoder.width,
    .pre_norm = model->specification.decoder.norm == PLAIT_DECODER_NORM_PRE,
    .parameters = model->parameters,
    .prefix = prefix,
  };

  source->specification = specification;
  if (plait_input_kind_is_text (specification->kind))
    source->embedding = embedding (model, prefix, specification->vocabulary, specification->vocabulary_size);
  if (specification->roles > 0)
    {
      g_autofree char *name = g_strconcat (prefix, "roles", NULL);

      source->roles = embedding_declare (model, name, specification->roles);
    }
  return plait_call_build_encoder (&source->encoder, specification->encoder, &build, &model->losses, error);
}

static gboolean
note_all_memories (PlaitModel *model, GError **error)
{
  const PlaitComponent *decoder = model->specification.decoder_component;
  g_autofree gint64 *widths = g_new (gint64, model->specification.n_sources * PLAIT_ENCODER_MAX_MEMORIES);
  guint n = 0;
  gint64 width = 0;

  for (guint i = 0; i < model->specification.n_sources; i++)
    for (guint m = 0; m < model->sources[i].encoder.shape.n_memories; m++)
      widths[n++] = model->sources[i].encoder.shape.memories[m].width;
  if (model->specification.predict.kind == PLAIT_PREDICT_SEQUENCE)
    {
      width = plait_decoder_memory_width (decoder, &model->specification.decoder, widths, n, error);
      if (width == 0)
        return FALSE;
    }
  for (guint i = 0; i < model->specification.n_sources; i++)
    note_memories (model, &model->sources[i], width);
  return TRUE;
}

/* TRUE if tokens of @source are words of the target. */
static gboolean
has_target_words (const PlaitModel *model, const Source *source)
{
  const PlaitModelSpecification *specification = &model->specification;

  return plait_input_kind_is_text (source->specification->kind)
         && g_strcmp0 (source->specification->vocabulary, specification->target_vocabulary) == 0;
}

/* Notes which memories have words that an output can copy: those of tokens with the target's vocabulary. */
static void
note_copyable (PlaitModel *model)
{
  guint n = 0;

  model->copyable = g_new0 (PlaitOutputMemory, model->n_memories + 1);
  for (guint i = 0; i < model->specification.n_sources; i++)
    for (guint m = 0; m < model->sources[i].encoder.shape.n_memories; m++, n++)
      model->copyable[n]
          = (PlaitOutputMemory){ .name = model->memories[n].name,
                                 .source = model->sources[i].specification->name,
                                 .has_words = has_target_words (model, &model->sources[i])
                                              && !(model->memories[n].structure & PLAIT_STRUCTURE_SENTENCES) };
}

/* Builds the output of @component (NULL: the built-in softmax) with parameters below @prefix. @embedding: tied
 * embeddings, or NULL. */
static gboolean
build_output (PlaitModel *model, const PlaitComponent *component, const char *prefix, const PlaitEmbedding *embedding,
              gboolean bias, GError **error)
{
  const PlaitModelSpecification *specification = &model->specification;
  const PlaitOutputComponents components = {
    .component = component,
    .cross = model->cross,
    .build = { .state_width = specification->decoder.width,
               .context_width = model->cross ? model->cross->width : 0,
               .embedded_width = specification->decoder.width,
               .vocabulary_size = specification->target_vocabulary_size,
               .memories = model->copyable,
               .n_memories = model->n_memories,
               .embedding = embedding && specification->decoder.tie_output ? embedding->table : NULL,
               .bias = bias,
               .parameters = model->parameters,
               .prefix = prefix },
  };

  model->output = plait_output_new (&components, error);
  return model->output != NULL;
}

/* Builds the output that computes words or classes from states, if the states are not logits already. */
static gboolean
build_prediction (PlaitModel *model, GError **error)
{
  const PlaitModelSpecification *specification = &model->specification;

  switch (specification->predict.kind)
    {
    case PLAIT_PREDICT_SEQUENCE:
      return build_output (model, specification->output, "decoder/output/", model->target,
                           specification->decoder.output_bias, error);
    case PLAIT_PREDICT_MASKED:
      return build_output (model, NULL, "masked/output/", model->sources[0].embedding, TRUE, error);
    case PLAIT_PREDICT_CLASS:
      return build_output (model, NULL, "class/output/", NULL, TRUE, error);
    case PLAIT_PREDICT_TAGS:
      return build_output (model, NULL, "tags/output/", NULL, TRUE, error);
    default:
      return TRUE;
    }
}

/* Lets the target take the roles of the first source that has roles. */
static gboolean
find_roles (PlaitModel *model, PlaitDecoderComponents *build, GError **error)
{
  const Source *source = model->sources, *end = model->sources + model->specification.n_sources;

  if (model->specification.decoder.roles == PLAIT_DECODER_ROLES_NONE
      || model->specification.predict.kind != PLAIT_PREDICT_SEQUENCE)
    return TRUE;
  while (source < end && source->specification->roles == 0)
    source++;
  if (source == end)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "decoder.roles takes the roles of a source, but no source has roles: set data.document_roles, "
                       "or decoder.roles=none");
  model->role_source = source;
  model->roles = model->specification.decoder.roles == PLAIT_DECODER_ROLES_SHARED
                     ? source->roles
                     : embedding_declare (model, "decoder/roles", source->specification->roles);
  build->roles = &model->roles;
  return TRUE;
}

static gboolean
build_decoder (PlaitModel *model, GError **error)
{
  const PlaitModelSpecification *specification = &model->specification;
  PlaitDecoderComponents build = {
    .settings = &specification->decoder,
    .predict = &specification->predict,
    .decoder = specification->decoder_component,
    .combiner = specification->combiner,
    .coverage = specification->coverage,
    .losses = &model->losses,
    .memories = model->memories,
    .n_memories = model->n_memories,
    .summaries = model->summaries,
    .n_summaries = model->n_summaries,
    .parameters = model->parameters,
    .last_cross = &model->cross,
  };

  if (model->specification.predict.kind == PLAIT_PREDICT_SEQUENCE)
    model->target
        = embedding (model, "decoder/", specification->target_vocabulary, specification->target_vocabulary_size);
  build.embedding = model->target;
  if (!find_roles (model, &build, error))
    return FALSE;
  if (build.decoder)
    model->decoder = plait_decoder_new (&build, error);
  else
    model->head = plait_head_new (&build, error);
  if (!model->decoder && !model->head)
    return FALSE;
  note_copyable (model);
  return build_prediction (model, error);
}

/* Declares the loss on the alignments of sources that are aligned, for their memories of tokens. */
static gboolean
build_guided (PlaitModel *model, GError **error)
{
  PlaitGuidedAlignment *guided = &model->guided;
  guint memory = 0;

  guided->settings = model->specification.alignment;
  guided->sources = plait_parameters_memory (model->parameters, (model->n_memories + 1) * sizeof *guided->sources);
  for (guint i = 0; i < model->specification.n_sources; i++)
    for (guint m = 0; m < model->sources[i].encoder.shape.n_memories; m++, memory++)
      guided->sources[memory]
          = model->sources[i].specification->aligned && !(model->memories[memory].structure & PLAIT_STRUCTURE_SENTENCES)
                ? (gint)i
                : -1;
  return plait_guided_alignment_build (guided, model->decoder, model->memories, model->n_memories, &model->losses,
                                       error);
}

PlaitModel *
plait_model_new (const PlaitModelSpecification *specification, GError **error)
{
  g_autoptr (PlaitModel) model = g_new0 (PlaitModel, 1);

  model->specification = *specification;
  model->parameters = plait_parameters_new ();
  plait_parameters_set_norm_epsilon (model->parameters, model->specification.decoder.norm_epsilon);
  model->embeddings = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  model->sources = g_new0 (Source, specification->n_sources);
  model->memories = g_new0 (PlaitMemorySpecification, specification->n_sources * PLAIT_ENCODER_MAX_MEMORIES);
  model->summaries = g_new0 (PlaitMemorySpecification, specification->n_sources);
  for (guint i = 0; i < specification->n_sources; i++)
    if (!build_source (model, &model->sources[i], &specification->sources[i], error))
      return NULL;
  if (!note_all_memories (model, error) || !build_decoder (model, error) || !build_guided (model, error)
      || !plait_parameters_allocate (model->parameters, error))
    return NULL;
  return g_steal_pointer (&model);
}

void
plait_model_free (PlaitModel *model)
{
  if (!model)
    return;
  for (guint i = 0; i < model->n_memories; i++)
    g_free ((char *)model->memories[i].name);
  plait_loss_columns_clear (&model->losses);
  g_free (model->memories);
  g_free (model->copyable);
  g_free (model->summaries);
  g_free (model->sources);
  g_hash_table_unref (model->embeddings);
  plait_parameters_free (model->parameters);
  g_free (model);
}

const PlaitModelSpecification *
plait_model_specification (const PlaitModel *model)
{
  return &model->specification;
}

PlaitParameters *
plait_model_parameters (const PlaitModel *model)
{
  return model->parameters;
}

const PlaitMemorySpecification *
plait_model_memories (const PlaitModel *model, guint *n)
{
  *n = model->n_memories;
  return model->memories;
}

const PlaitMemorySpecification *
plait_model_summaries (const PlaitModel *model, guint *n)
{
  *n = model->n_summaries;
  return model->summaries;
}

gboolean
plait_model_memory_is_of (const PlaitMemorySpecification *memory, const char *source)
{
  gsize length = strlen (source);

  return strncmp (memory->name, source, length) == 0 && (memory->name[length] == '\0' || memory->name[length] == '.');
}

const PlaitLossColumns *
plait_model_losses (const PlaitModel *model)
{
  return &model->losses;
}

void
plait_model_set_update (PlaitModel *model, gint64 update)
{
  model->update = update;
}

const PlaitDecoder *
plait_model_decoder (const PlaitModel *model)
{
  return model->decoder;
}

const PlaitModelOutput *
plait_model_output (const PlaitModel *model)
{
  return model->output;
}

/* Checks that @ids of the sentences @rows are below @size, the size of the vocabulary, or own words of their sentence;
 * @own has no offsets if there are no own words. */
static gboolean
check_ids (const char *what, const gint32 *ids, PlaitRagged rows, const gint64 *sentence, gint64 size, PlaitRagged own,
           GError **error)
{
  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s], end = size + (own.offsets ? plait_ragged_length (own, s) : 0);
         row < rows.offsets[s + 1]; row++)
      if (ids[row] < 0 || ids[row] >= end)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s, sentence %jd: token id %d is outside the vocabulary of %jd pieces: use the vocabulary "
                           "that the model was trained with",
                           what, sentence[s] + 1, ids[row], size);
  return TRUE;
}

gboolean
plait_model_check_length (const PlaitModel *model, guint source, gint64 rows, GError **error)
{
  if (source == model->specification.n_sources)
    return !model->decoder || plait_decoder_check_length (model->decoder, rows, error);
  return plait_call_check_length (&model->sources[source].encoder, rows, error);
}

/* Returns @input as the encoder reads it. For choices, each sentence of a document is read by itself. */
static PlaitInput
input_read (const PlaitModel *model, const PlaitInput *input)
{
  PlaitInput apart = *input;

  if (model->specification.predict.kind != PLAIT_PREDICT_CHOICE)
    return apart;
  apart.rows = (PlaitRagged){ plait_ragged_rows (input->documents->sentences), input->documents->rows };
  apart.n_missing = 0; /* each sentence has at least one row */
  apart.documents = NULL;
  return apart;
}

static gboolean
check_choices (const PlaitBatch *batch, GError **error)
{
  for (gint64 s = 0; s < batch->n_sentences; s++)
    {
      gint64 n = plait_ragged_length (batch->inputs[0].documents->sentences, s);

      if (batch->target_outputs[s] < 0 || batch->target_outputs[s] >= n)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "the target, document %jd: sentence %d is the answer, but there are %jd sentences, counted from 0",
            batch->sentence[s] + 1, batch->target_outputs[s], n);
    }
  return TRUE;
}

gboolean
plait_model_check_input (const PlaitModel *model, guint source, const PlaitInput *input, GError **error)
{
  PlaitInput read = input_read (model, input);

  return plait_model_check_length (model, source, plait_ragged_longest (read.rows), error)
         && plait_call_check_input (&model->sources[source].encoder, &read, error);
}

gboolean
plait_model_check_batch (const PlaitModel *model, const PlaitBatch *batch, GError **error)
{
  if (batch->n_sources != model->specification.n_sources)
    return plait_fail (error, PLAIT_ERROR_INPUT, "the model reads %u sources, but %jd were given",
                       model->specification.n_sources, batch->n_sources);
  for (guint i = 0; i < model->specification.n_sources; i++)
    {
      const PlaitSourceSpecification *expected = model->sources[i].specification;
      const PlaitInput *input = &batch->inputs[i];

      if (input->kind != expected->kind)
        return plait_fail (error, PLAIT_ERROR_INPUT, "source \"%s\" must have %s, but has %s", expected->name,
                           plait_input_kind_name (expected->kind), plait_input_kind_name (input->kind));
      if (input->kind == PLAIT_INPUT_FEATURES && input->n_missing < batch->n_sentences
          && input->features.width != expected->feature_width)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "source \"%s\": features are %jd wide, but the model was built for %jd", expected->name,
                           input->features.width, expected->feature_width);
      if (plait_input_kind_is_text (input->kind)
          && !check_ids (expected->name, input->tokens, input->rows, batch->sentence, expected->vocabulary_size,
                         (PlaitRagged){ 0 }, error))
        return FALSE;
      if (!plait_model_check_input (model, i, input, error))
        return FALSE;
    }
  if (!batch->target_rows.offsets)
    return TRUE;
  if (!plait_model_check_length (model, model->specification.n_sources, plait_ragged_longest (batch->target_rows),
                                 error))
    return FALSE;
  if (model->specification.predict.kind == PLAIT_PREDICT_CHOICE)
    return check_choices (batch, error);
  if (model->specification.predict.kind == PLAIT_PREDICT_SPAN)
    return TRUE; /* already checked when the corpus was read */
  return check_ids ("the target", batch->target_outputs, batch->target_rows, batch->sentence,
                    model->specification.target_vocabulary_size, batch->own_words, error);
}

/* Adds role embeddings to @embedded: the segment embeddings of Rohde, Wu & Liu 2021, section 4.1. */
static PlaitNode *
add_roles (const Source *source, PlaitTape *tape, const PlaitInput *input, PlaitNode *embedded)
{
  const PlaitDocuments *documents = input->documents;
  gint64 n = plait_ragged_rows (input->rows);
  gint32 *roles = plait_arena_new_array (plait_tape_arena (tape), gint32, n);

  for (gint64 i = 0; i < plait_ragged_rows (documents->sentences); i++)
    for (gint64 row = documents->rows[i]; row < documents->rows[i + 1]; row++)
      roles[row] = documents->roles[i];
  return plait_add (tape, embedded, plait_embedding_apply (tape, &source->roles, roles, n));
}

static void
encode_source (const PlaitModel *model, const Source *source, PlaitTape *tape, const PlaitInput *input,
               PlaitEncoderOutputs *encoded)
{
  const PlaitSourceSpecification *specification = source->specification;
  PlaitInput *read = plait_arena_new_array (plait_tape_arena (tape), PlaitInput, 1);
  PlaitEncoding encoding = { .tape = tape, .input = read };

  *read = input_read (model, input);
  if (plait_input_kind_is_text (input->kind))
    encoding.embedded = plait_embedding_apply (tape, source->embedding, input->tokens, plait_ragged_rows (input->rows));
  else if (plait_ragged_rows (input->rows) > 0)
    encoding.embedded = plait_leaf (tape, input->features, NULL);
  else /* all sentences are missing, and perhaps no file gives the width, so take it from the specification */
    encoding.embedded = plait_leaf (tape, plait_tensor (NULL, 0, specification->feature_width), NULL);
  if (specification->roles > 0)
    encoding.embedded = add_roles (source, tape, input, encoding.embedded);
  plait_call_encode (&source->encoder, &encoding, encoded->losses);
  for (guint i = 0; i < source->encoder.shape.n_memories; i++)
    {
      PlaitMemory *memory = &encoded->memories[encoded->n_memories++];

      *memory = encoding.memories[i];
      if (source->projections[i].weight)
        memory->states = plait_linear_apply (tape, &source->projections[i], memory->states, PLAIT_ACTIVATION_NONE);
    }
  if (source->encoder.shape.summary_width > 0)
    encoded->summaries[encoded->n_summaries++] = encoding.summary;
}

/* Returns the id of the word of each row of @memory, a token of @input or an own word of its sentence; -1 for a row
 * that is not a token. */
static const gint32 *
words_of_rows (PlaitArena *arena, const PlaitMemory *memory, const PlaitInput *input)
{
  const gint64 *token = memory->links ? memory->links->token : NULL;
  const gint32 *words = input->own_ids ? input->own_ids : input->tokens;
  gint32 *ids = plait_arena_new_array (arena, gint32, plait_ragged_rows (memory->rows) + 1);

  for (gint64 s = 0; s < memory->rows.n; s++)
    for (gint64 row = memory->rows.offsets[s]; row < memory->rows.offsets[s + 1]; row++)
      ids[row] = token && token[row] >= 0 ? words[input->rows.offsets[s] + token[row]] : -1;
  return ids;
}

/* Prepares what the output reads of sources and decoder. */
static void
begin_output (const PlaitModel *model, PlaitArena *arena, const PlaitBatch *batch, PlaitEncoderOutputs *encoded)
{
  PlaitRagged *rows = plait_arena_new_array (arena, PlaitRagged, model->n_memories + 1);
  const gint32 **ids = plait_arena_new_array (arena, const gint32 *, model->n_memories + 1);
  guint n = 0, memory = 0;

  encoded->readings[PLAIT_READER_OUTPUT] = plait_arena_new_array0 (arena, PlaitReadings, 1);
  for (guint i = 0; i < model->specification.n_sources; i++)
    for (guint m = 0; m < model->sources[i].encoder.shape.n_memories; m++, memory++)
      if (memory < PLAIT_OUTPUT_MAX_MEMORIES && model->output->shape.copies[memory])
        {
          rows[n] = encoded->memories[memory].rows;
          ids[n++] = words_of_rows (arena, &encoded->memories[memory], &batch->inputs[i]);
        }
  if (n > 0)
    encoded->words = plait_copyable_words_new (arena, rows, ids, n);
}

PlaitEncoderOutputs
plait_model_encode (const PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch, PlaitLossPass *losses)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitEncoderOutputs encoded = {
    .memories = plait_arena_new_array (arena, PlaitMemory, model->n_memories),
    .summaries = plait_arena_new_array (arena, PlaitNode *, model->specification.n_sources),
    .multiplications = plait_arena_new_array (arena, double, model->specification.n_sources),
    .losses = losses,
  };

  for (guint i = 0; i < model->specification.n_sources; i++)
    {
      double before = plait_tape_multiplications (tape);

      encode_source (model, &model->sources[i], tape, &batch->inputs[i], &encoded);
      encoded.multiplications[i] = plait_tape_multiplications (tape) - before;
    }
  if (model->specification.predict.kind == PLAIT_PREDICT_CHOICE)
    encoded.candidates = batch->inputs[0].documents->sentences;
  if (model->specification.predict.kind == PLAIT_PREDICT_TAGS)
    plait_tag_head_find_tokens (&batch->inputs[0], arena, &encoded);
  if (model->role_source)
    encoded.documents = batch->inputs[model->role_source - model->sources].documents;
  if (model->output && model->output->reads)
    begin_output (model, arena, batch, &encoded);
  return encoded;
}

PlaitNode *
plait_model_states (const PlaitModel *model, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                    const PlaitBatch *batch, PlaitAttentionRecord *record)
{
  if (model->decoder)
    return plait_decoder_forward (model->decoder, tape, encoded, batch->target_rows, batch->target_inputs, record);
  return model->head->predict (model->head, tape, encoded, batch->target_rows, batch->target_inputs);
}

PlaitWordDistribution
plait_model_words (const PlaitModel *model, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitNode *states,
                   PlaitRagged rows, PlaitAttentionRecord *record)
{
  const PlaitOutputInputs inputs
      = { encoded->readings[PLAIT_READER_OUTPUT], encoded->memories, encoded->words, rows, record };

  return plait_output_apply (model->output, tape, states, &inputs);
}

/* Returns @root plus the losses of plugins, times their weights and @scale; stores the losses in @sums. */
static PlaitNode *
add_losses (const PlaitModel *model, PlaitTape *tape, PlaitNode *root, const PlaitLossPass *losses, double scale,
            PlaitModelSums *sums)
{
  if (isfinite (plait_tape_value (tape, root).data[0]))
    plait_loss_pass_expect_finite (losses, tape);
  sums->auxiliary = 0;
  for (guint i = 0; i < model->losses.n; i++)
    {
      const PlaitLossColumn *column = &model->losses.columns[i];
      double weight = model->update == 0 || model->update >= column->start ? column->weight : 0;
      PlaitNode *loss = plait_loss_pass_sum (losses, tape, i);

      sums->losses[i] = loss ? (double)plait_tape_value (tape, loss).data[0] : 0;
      sums->auxiliary += weight * sums->losses[i];
      if (loss && weight != 0)
        root = plait_add (tape, root, plait_scale (tape, loss, weight * scale));
    }
  return root;
}

/* Returns an identity matrix, as output layer for states that are logits. */
static PlaitNode *
identity (PlaitTape *tape, gint64 width)
{
  PlaitScalar *ones = plait_arena_new_array0 (plait_tape_arena (tape), PlaitScalar, width * width);

  for (gint64 i = 0; i < width; i++)
    ones[i * width + i] = 1;
  return plait_leaf (tape, plait_tensor (ones, width, width), NULL);
}

/* Returns the rows of @states of the sentences whose labels are known: for tags the rows of @tagged, else one a
 * sentence. */
static PlaitNode *
of_known_labels (PlaitTape *tape, PlaitNode *states, PlaitRagged target_rows, const PlaitRagged *tagged)
{
  gint64 *known = plait_arena_new_array (plait_tape_arena (tape), gint64, states->value.rows + 1), n = 0;

  for (gint64 s = 0; s < target_rows.n; s++)
    if (plait_ragged_length (target_rows, s) > 0)
      for (gint64 i = tagged ? tagged->offsets[s] : s; i < (tagged ? tagged->offsets[s + 1] : s + 1); i++)
        known[n++] = i;
  return n == states->value.rows ? states : plait_gather_rows (tape, states, known, n);
}

/* Returns the negative log-likelihood of the targets of @batch if all words, or candidates, are equally probable. */
static double
loss_of_guessing (const PlaitModel *model, const PlaitBatch *batch, const PlaitEncoderOutputs *encoded)
{
  PlaitRagged said
      = model->specification.predict.kind == PLAIT_PREDICT_CHOICE ? encoded->candidates : encoded->memories[0].rows;
  double loss = 0;

  if (model->output)
    return (double)plait_ragged_rows (batch->target_rows) * log ((double)model->specification.target_vocabulary_size);
  for (gint64 s = 0; s < batch->n_sentences; s++)
    loss += (double)plait_ragged_length (batch->target_rows, s) * log ((double)MAX (1, plait_ragged_length (said, s)));
  return loss;
}

/* Returns the weight of each target row of @batch; NULL if all are 1. */
static const double *
row_weights (PlaitTape *tape, const PlaitBatch *batch)
{
  PlaitRagged rows = batch->target_rows;
  double *weights = NULL;
  gboolean equal = TRUE;

  for (gint64 s = 0; s < rows.n && batch->weights; s++)
    equal &= batch->weights[s] == 1;
  if (equal)
    return NULL;
  weights = plait_arena_new_array (plait_tape_arena (tape), double, plait_ragged_rows (rows) + 1);
  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      weights[row] = batch->weights[s];
  return weights;
}

PlaitNode *
plait_model_loss (const PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch,
                  const PlaitOutputLossOptions *options, PlaitModelSums *sums, double *row_losses,
                  PlaitAttentionRecord *record)
{
  PlaitEncoderOutputs encoded = plait_model_encode (model, tape, batch, plait_loss_pass_new (tape));
  PlaitOutputLossOptions suited = *options;
  PlaitNode *states, *root;
  GError *fault = NULL;

  plait_guided_alignment_begin (&model->guided, tape, batch, &encoded);
  states = plait_model_states (model, tape, &encoded, batch, record);
  plait_guided_alignment_end (&model->guided, tape, batch, &encoded);
  suited.weights = row_weights (tape, batch);
  if (model->specification.predict.kind == PLAIT_PREDICT_CLASS)
    states = of_known_labels (tape, states, batch->target_rows, NULL);
  if (model->specification.predict.kind == PLAIT_PREDICT_TAGS)
    states = of_known_labels (tape, states, batch->target_rows, &encoded.tagged);
  if (model->output)
    {
      PlaitWordDistribution words = plait_model_words (model, tape, &encoded, states, batch->target_rows, record);

      root = plait_word_distribution_loss (&words, tape, batch->target_outputs, &suited, &sums->words, row_losses);
    }
  else
    {
      suited.smoothing = 0; /* padding must not get probability */
      root = plait_output_loss (tape, states, identity (tape, states->value.width), NULL, batch->target_outputs,
                                &suited, &sums->words, row_losses);
    }
  sums->guessing = loss_of_guessing (model, batch, &encoded);
  /* A parameter that a plugin declares while running is an error. */
  if (!plait_parameters_check (model->parameters, &fault))
    plait_arena_fail (plait_tape_arena (tape), fault);
  return add_losses (model, tape, root, encoded.losses, options->scale, sums);
}
