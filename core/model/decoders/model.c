/* SPDX-License-Identifier: MIT */
#include "decoders/model-private.h"

#include "layers/parameter-set.h"

#include <math.h>
#include <string.h>

/* Declares an embedding of @width columns. The deviation of its initial values depends on the decoder's width, not on
 * @width. */
static PlaitEmbedding
embedding_declare (PlaitModel *model, const char *name, gint64 size, gint64 width)
{
  const PlaitDecoderSettings *settings = &model->specification.decoder;
  double deviation = 1 / sqrt ((double)settings->width);

  return plait_embedding_declare (model->parameters, name, size, width, PLAIT_NORMAL (deviation),
                                  settings->scale_embeddings ? 1 / deviation : 1);
}

/* Returns the embedding of @vocabulary. If embeddings are shared, all streams of @vocabulary use one embedding, else
 * each has its own with a name below @prefix. Fails if a shared embedding would need two widths. */
static PlaitEmbedding *
embedding (PlaitModel *model, const char *prefix, const char *vocabulary, gint64 size, gint64 width, GError **error)
{
  g_autofree char *name = model->specification.decoder.share_embeddings ? g_strdup_printf ("embedding/%s", vocabulary)
                                                                        : g_strdup_printf ("%sembedding", prefix);
  PlaitEmbedding *found = g_hash_table_lookup (model->embeddings, name);

  if (!found)
    {
      found = g_new (PlaitEmbedding, 1);
      *found = embedding_declare (model, name, size, width);
      g_hash_table_insert (model->embeddings, g_steal_pointer (&name), found);
    }
  if (found->table->value.width != width)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "streams share the embedding of vocabulary %s, but with factor_join=concat one stream needs the width %jd and "
        "another the width %jd: set decoder.share_embeddings=false, or factor_join=sum",
        vocabulary, found->table->value.width, width);
  return found;
}

/* Declares the embeddings of the tokens of @source and of their factors. If these embeddings are concatenated, their
 * widths add up to the decoder's width. */
static gboolean
build_embeddings (PlaitModel *model, PlaitModelSource *source, const char *prefix, GError **error)
{
  const PlaitSourceSpecification *specification = source->specification;
  gint64 width = model->specification.decoder.width, left = width;

  source->factors
      = plait_parameters_memory (model->parameters, (specification->n_factors + 1) * sizeof (PlaitEmbedding));
  for (guint f = 0; f < specification->n_factors; f++)
    {
      const PlaitFactorSpecification *factor = &specification->factors[f];
      g_autofree char *name = g_strdup_printf ("%sfactor/%s", prefix, factor->name);

      source->factors[f]
          = embedding_declare (model, name, factor->vocabulary_size, factor->width > 0 ? factor->width : width);
      left -= factor->width;
    }
  if (left < 1)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the factors of the source \"%s\" need a width of %jd, so decoder.width=%jd leaves no width for "
                       "its words: lower factor_widths, or raise decoder.width",
                       specification->name, width - left, width);
  source->embedding = embedding (model, prefix, specification->vocabulary, specification->vocabulary_size, left, error);
  return source->embedding != NULL;
}

/* Appends the memories and the summary of the source to those of the model. Declares projections of memories to @width;
 * 0: no projections, because a head reads memories of any width. */
static void
note_memories (PlaitModel *model, PlaitModelSource *source, gint64 width)
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
build_source (PlaitModel *model, PlaitModelSource *source, const PlaitSourceSpecification *specification,
              GError **error)
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
  if (plait_input_kind_is_text (specification->kind) && !build_embeddings (model, source, prefix, error))
    return FALSE;
  if (specification->roles > 0)
    {
      g_autofree char *name = g_strconcat (prefix, "roles", NULL);

      source->roles = embedding_declare (model, name, specification->roles, model->specification.decoder.width);
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

/* TRUE if the tokens of @source are from the target's vocabulary. */
static gboolean
has_target_words (const PlaitModel *model, const PlaitModelSource *source)
{
  const PlaitModelSpecification *specification = &model->specification;

  return plait_input_kind_is_text (source->specification->kind)
         && g_strcmp0 (source->specification->vocabulary, specification->target_vocabulary) == 0;
}

/* Sets model->copyable: which memories have words that an output can copy. These are the memories of sources with the
 * target's vocabulary, except those whose rows are sentences. */
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

/* Builds the output of @component (NULL: the built-in softmax) with parameters below @prefix. @embedding: the embedding
 * whose table the output shares if decoder.tie_output is set; NULL: the output has its own table. */
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

/* Builds the output that computes words, classes or tags from states, unless the states are logits or numbers. */
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

/* Sets the roles of the target to those of the first source with roles, if decoder.roles asks for roles. */
static gboolean
find_roles (PlaitModel *model, PlaitDecoderComponents *build, GError **error)
{
  const PlaitModelSource *source = model->sources, *end = model->sources + model->specification.n_sources;

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
                     : embedding_declare (model, "decoder/roles", source->specification->roles,
                                          model->specification.decoder.width);
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
    {
      model->target = embedding (model, "decoder/", specification->target_vocabulary,
                                 specification->target_vocabulary_size, specification->decoder.width, error);
      if (!model->target)
        return FALSE;
    }
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

/* Declares the loss on word alignments, for the memories of aligned sources, except those whose rows are sentences. */
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

/* Declares the outputs that predict tags from the first memory of each source. */
static gboolean
build_tags (PlaitModel *model, GError **error)
{
  guint n = 0;

  for (guint i = 0; i < model->specification.n_sources; i++)
    n += model->sources[i].specification->n_tags;
  model->tags = plait_parameters_memory (model->parameters, (n + 1) * sizeof *model->tags);
  for (guint i = 0; i < model->specification.n_sources; i++)
    for (guint t = 0; t < model->sources[i].specification->n_tags; t++)
      {
        const PlaitSourceSpecification *source = model->sources[i].specification;
        const PlaitFactorSpecification *tags = &source->factors[source->n_factors + t];
        const PlaitSourceTagsBuild build = { source->name, tags->name, tags->vocabulary_size, tags->weight,
                                             model->sources[i].encoder.shape.memories[0].width };

        model->tags[model->n_tags] = (PlaitSourceTags){ .source = i, .stream = source->n_factors + t };
        if (!plait_source_tags_build (&model->tags[model->n_tags++], &build, model->parameters, &model->losses, error))
          return FALSE;
      }
  return TRUE;
}

PlaitModel *
plait_model_new (const PlaitModelSpecification *specification, GError **error)
{
  g_autoptr (PlaitModel) model = g_new0 (PlaitModel, 1);

  model->specification = *specification;
  model->parameters = plait_parameters_new ();
  plait_parameters_set_norm_epsilon (model->parameters, model->specification.decoder.norm_epsilon);
  model->embeddings = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  model->sources = g_new0 (PlaitModelSource, specification->n_sources);
  model->memories = g_new0 (PlaitMemorySpecification, specification->n_sources * PLAIT_ENCODER_MAX_MEMORIES);
  model->summaries = g_new0 (PlaitMemorySpecification, specification->n_sources);
  for (guint i = 0; i < specification->n_sources; i++)
    if (!build_source (model, &model->sources[i], &specification->sources[i], error))
      return NULL;
  if (!note_all_memories (model, error) || !build_decoder (model, error) || !build_guided (model, error)
      || !build_tags (model, error) || !plait_parameters_allocate (model->parameters, error))
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

const PlaitSourceTags *
plait_model_tags (const PlaitModel *model, guint *n)
{
  *n = model->n_tags;
  return model->tags;
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
