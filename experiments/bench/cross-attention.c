/* SPDX-License-Identifier: MIT */
#include "cross-attention.h"

#include <string.h>

#include "autograd/internal.h"
#include "autograd/operators.h"
#include "files/memory.h"
#include "decoders/decoder.h"
#include "training/parameters.h"
#include "layers/parameter-set.h"

/* Steps of search use so many different queries of each sentence in turn, so that the processor's cache does not always
 * hold the rows that the next step reads. */
#define TURNS 16

struct BenchCrossAttention
{
  const PlaitExperiment *experiment;
  PlaitParameters *parameters;
  PlaitLossColumns losses;
  PlaitInstance encoder;
  PlaitMemorySpecification memory;
  const PlaitCrossAttentionLayer *attention; /* the first cross-attention of the decoder */
  gint64 leaf_width;

  PlaitArena *lasting_arena;
  PlaitArena *step_arena;
  PlaitTape *lasting;
  PlaitTape *step;

  /* Memories, keys and queries, on the lasting tape. */
  gint64 batch;
  gint64 words;
  PlaitCrossAttentionKeys keys;
  PlaitTensor queries; /* [words or TURNS, batch, query width] */
  gint64 turn;         /* index of the queries of the last step of search */
  PlaitTensor dqueries;
  PlaitTensor given; /* context or query computed by the last step of search */
};

void
bench_cross_attention_free (BenchCrossAttention *attention)
{
  if (!attention)
    return;
  plait_tape_free (attention->lasting);
  plait_tape_free (attention->step);
  plait_arena_free (attention->lasting_arena);
  plait_arena_free (attention->step_arena);
  plait_parameters_free (attention->parameters);
  plait_loss_columns_clear (&attention->losses);
  g_free (attention);
}

static gboolean
check_experiment (const PlaitExperiment *experiment, GError **error)
{
  if (experiment->n_sources != 1)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s has %u sources, but plait-bench steps measures attention to one; set experiment.sources",
                       experiment->name, experiment->n_sources);
  if (experiment->coverage)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s has coverage, which plait-bench steps leaves out; set decoder.coverage=none",
                       experiment->name);
  return !experiment->sources[0].encoder->schema->reads_trees
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "the encoder %s reads trees, which plait-bench steps does not draw; choose another encoder",
                        experiment->sources[0].encoder->schema->name);
}

static gboolean
build_encoder (BenchCrossAttention *attention, GError **error)
{
  const PlaitExperimentSource *source = attention->experiment->sources;
  const PlaitDecoderSettings *decoder = &attention->experiment->decoder;
  PlaitEncoderBuild build = {
    .source = source->name,
    .kind = source->kind,
    .input_width = decoder->width,
    .model_width = decoder->width,
    .pre_norm = decoder->norm == PLAIT_DECODER_NORM_PRE,
    .parameters = attention->parameters,
    .prefix = "source/",
  };
  const PlaitEncoderShape *shape = &attention->encoder.shape;

  if (!plait_component_open (attention->experiment->decoder_component, error)
      || !plait_component_open (source->encoder, error)
      || !plait_call_build_encoder (&attention->encoder, source->encoder, &build, &attention->losses, error))
    return FALSE;
  gint64 width = plait_decoder_memory_width (attention->experiment->decoder_component, decoder,
                                             &shape->memories[0].width, 1, error);
  if (width == 0)
    return FALSE;
  if (shape->n_memories != 1 || (attention->encoder.leaves && shape->memories[0].width != width))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "[source %s] makes %u memories, the first of width %jd; plait-bench steps needs one memory of the "
        "width that the decoder reads, %jd",
        source->name, shape->n_memories, shape->memories[0].width, width);
  if (!attention->encoder.leaves && shape->memories[0].structure != PLAIT_STRUCTURE_NONE)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the encoder %s links the rows of its memory, which cannot be drawn; plait-bench steps runs "
                       "encoders that have an inner encoder",
                       source->encoder->schema->name);
  attention->leaf_width = attention->encoder.leaves ? attention->encoder.leaves->shape.memories[0].width : width;
  attention->memory = (PlaitMemorySpecification){ source->name, width, shape->memories[0].structure };
  return TRUE;
}

static gboolean
build_cross_attention (BenchCrossAttention *attention, GError **error)
{
  const PlaitExperiment *experiment = attention->experiment;
  const PlaitDecoderComponents components = {
    .settings = &experiment->decoder,
    .predict = &experiment->predict,
    .decoder = experiment->decoder_component,
    .combiner = experiment->combiner,
    .losses = &attention->losses,
    .memories = &attention->memory,
    .n_memories = 1,
    .parameters = attention->parameters,
  };
  const PlaitDecoder *decoder
      = plait_component_open (experiment->combiner, error) ? plait_decoder_new (&components, error) : NULL;

  if (!decoder)
    return FALSE;
  attention->attention = plait_decoder_cross (decoder, 0);
  return TRUE;
}

/* Fails if the memories of sentences of @length leaves, with keys and values, do not fit into the available memory. */
static gboolean
check_memory (const BenchCrossAttention *attention, gint64 length, GError **error)
{
  double bytes = (double)attention->batch * (double)length
                 * (double)(attention->leaf_width + 3 * attention->memory.width) * sizeof (PlaitScalar);

  return (bytes < 1e18 && plait_memory_is_available ((gsize)bytes))
         || plait_fail (error, PLAIT_ERROR_MEMORY,
                        "the memories of %jd sentences of %jd rows need %.1f GiB of memory, more than this machine has "
                        "free: lower --lengths, --batch or decoder.width",
                        attention->batch, length, bytes / 1073741824);
}

/* Draws @rows random rows and repeats them for each of @n sentences. */
static PlaitTensor
draw (PlaitArena *arena, gint64 n, gint64 rows, gint64 width, const char *what)
{
  gint64 size = rows * width;
  PlaitTensor tensor = plait_tensor (plait_arena_new_array (arena, PlaitScalar, n * size), n * rows, width);
  PlaitRandomKey key = plait_random_key (1, "bench", what, 0);

  for (gint64 i = 0; i < size; i++)
    tensor.data[i] = (PlaitScalar)plait_random_normal (key, (guint64)i);
  for (gint64 s = 1; s < n; s++)
    memcpy (tensor.data + s * size, tensor.data, sizeof (PlaitScalar) * (gsize)size);
  return tensor;
}

/* Returns @n sentences of @length rows. */
static PlaitRagged
alike (PlaitArena *arena, gint64 n, gint64 length)
{
  gint64 *offsets = plait_arena_new_array (arena, gint64, n + 1);

  for (gint64 s = 0; s <= n; s++)
    offsets[s] = s * length;
  return (PlaitRagged){ n, offsets };
}

/* Makes the memories of all sentences from identical random leaves. */
static PlaitMemory
draw_memory (const BenchCrossAttention *attention, gint64 length)
{
  PlaitTape *tape = attention->lasting;
  PlaitArena *arena = attention->lasting_arena;
  PlaitInput input = { .kind = PLAIT_INPUT_TOKENS, .name = attention->memory.name };
  PlaitEncoding *leaves = plait_arena_new_array (arena, PlaitEncoding, 1);
  PlaitEncoding *encoding = plait_arena_new_array (arena, PlaitEncoding, 1);
  PlaitTensor states = draw (arena, attention->batch, length, attention->leaf_width, "leaves"), summary;

  input.rows = alike (arena, attention->batch, length);
  *leaves = (PlaitEncoding){ .tape = tape, .input = &input };
  leaves->memories[0] = (PlaitMemory){ .states = plait_leaf (tape, states, NULL), .rows = input.rows };
  if (!attention->encoder.leaves)
    return leaves->memories[0];
  summary = draw (arena, attention->batch, 1, attention->encoder.leaves->shape.summary_width, "summary");
  leaves->summary = plait_leaf (tape, summary, NULL);
  *encoding = (PlaitEncoding){ .tape = tape, .input = &input, .leaves = leaves };
  plait_call_encode (&attention->encoder, encoding, NULL);
  return encoding->memories[0];
}

/* Makes @node of the lasting tape a leaf of @tape, with a gradient in lasting memory. */
static PlaitNode *
with_gradient (const BenchCrossAttention *attention, PlaitTape *tape, PlaitNode *node)
{
  PlaitNode *whole = node && node->whole ? node->whole : node;
  PlaitTensor gradient;

  if (!node)
    return NULL;
  if (!whole->gradient.data)
    {
      gint64 n = whole->value.rows * whole->value.stride;

      whole->gradient = whole->value;
      whole->gradient.data = plait_arena_new_array0 (attention->lasting_arena, PlaitScalar, n);
    }
  gradient = node->value;
  gradient.data = whole->gradient.data + (node->value.data - whole->value.data);
  return plait_leaf (tape, node->value, &gradient);
}

/* Adds the keys to @tape as leaves that receive gradients. */
static PlaitCrossAttentionKeys
keys_with_gradients (const BenchCrossAttention *attention, PlaitTape *tape)
{
  const PlaitCrossAttentionKeys *lasting = &attention->keys;
  PlaitCrossAttentionKeys keys = plait_cross_keys_as_constants (attention->attention, lasting, tape);
  PlaitMemory *memory = plait_arena_new_array (plait_tape_arena (tape), PlaitMemory, 1);

  *memory = *keys.memories;
  if (attention->attention->reads_rows[0])
    memory->states = with_gradient (attention, tape, lasting->memories->states);
  keys.memories = memory;
  keys.prepared[0] = with_gradient (attention, tape, lasting->prepared[0]);
  for (guint r = 0; r < attention->attention->n_attentions; r++)
    {
      keys.key_values[r].keys = with_gradient (attention, tape, lasting->key_values[r].keys);
      keys.key_values[r].values = with_gradient (attention, tape, lasting->key_values[r].values);
    }
  return keys;
}

typedef struct
{
  BenchCrossAttention *attention;
  gint64 length;
  PlaitAttentionCost rows_weighed;
} Call;

static void
remember (gpointer data)
{
  Call *call = data;
  BenchCrossAttention *attention = call->attention;
  PlaitArena *arena = attention->lasting_arena;

  plait_tape_begin (attention->lasting, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  PlaitMemory *memory = plait_arena_new_array (arena, PlaitMemory, 1);
  *memory = draw_memory (attention, call->length);
  attention->keys = plait_cross_project (attention->attention, attention->lasting, memory);
  attention->queries = draw (arena, 1, attention->batch * (attention->words > 0 ? attention->words : TURNS),
                             attention->attention->query_width, "queries");
  attention->dqueries
      = draw (arena, 1, attention->batch * attention->words, attention->attention->query_width, "queries");
  if (attention->words == 0)
    plait_cross_keys_keep_columns (attention->attention, &attention->keys, attention->lasting);
  else
    keys_with_gradients (attention, attention->lasting); /* allocates the gradients */
}

BenchCrossAttention *
bench_cross_attention_new (const PlaitExperiment *experiment, gint64 length, gint64 batch, gint64 words,
                           PlaitPool *pool, GError **error)
{
  if (!check_experiment (experiment, error))
    return NULL;
  g_autoptr (BenchCrossAttention) attention = g_new0 (BenchCrossAttention, 1);
  attention->experiment = experiment;
  attention->batch = batch;
  attention->words = words;
  attention->parameters = plait_parameters_new ();
  if (!build_encoder (attention, error) || !build_cross_attention (attention, error)
      || !check_memory (attention, length, error) || !plait_parameters_allocate (attention->parameters, error))
    return NULL;
  plait_parameters_initialise (attention->parameters, pool, (guint64)experiment->experiment.seed);
  if (!plait_parameters_pack (attention->parameters, pool, PLAIT_PRECISION_FLOAT, error))
    return NULL;
  attention->lasting_arena = plait_arena_new (0);
  attention->step_arena = plait_arena_new (0);
  attention->lasting = plait_tape_new (pool, attention->lasting_arena);
  attention->step = plait_tape_new (pool, attention->step_arena);
  Call call = { .attention = attention, .length = length };
  return plait_arena_protect (attention->lasting_arena, remember, &call, error) ? g_steal_pointer (&attention) : NULL;
}

/* Attends for @each queries of every sentence, which begin at row @first of the queries. Returns the rows with which a
 * decoder continues. */
static PlaitNode *
attend (const BenchCrossAttention *attention, const PlaitCrossAttentionKeys *keys, gint64 first, gint64 each,
        PlaitAttentionCost *rows_weighed)
{
  PlaitTape *tape = attention->step;
  PlaitCrossAttentionPass pass
      = plait_cross_pass (tape, keys->memories, 1, alike (plait_tape_arena (tape), attention->batch, each), NULL);
  PlaitCrossAttentionStep step = { .keys = *keys };
  PlaitTensor queries = plait_tensor_rows (attention->queries, first, attention->batch * each);
  PlaitTensor gradient = queries;

  pass.rows_weighed = rows_weighed;
  if (attention->words > 0)
    gradient.data = plait_tensor_row (attention->dqueries, first);
  PlaitResidualStream stream = plait_cross_combine (
      attention->attention, &pass, &step, plait_leaf (tape, queries, attention->words > 0 ? &gradient : NULL));
  return attention->attention->multi_head ? stream.query : stream.context;
}

static void
search (gpointer data)
{
  Call *call = data;

  plait_tape_begin (call->attention->step, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  PlaitCrossAttentionKeys keys
      = plait_cross_keys_as_constants (call->attention->attention, &call->attention->keys, call->attention->step);
  call->attention->turn = (call->attention->turn + 1) % TURNS;
  call->attention->given
      = attend (call->attention, &keys, call->attention->turn * call->attention->batch, 1, &call->rows_weighed)->value;
}

/* Trains on whole targets: a Transformer decoder attends for all words at once, a recurrent one word by word. */
static void
train (gpointer data)
{
  Call *call = data;
  BenchCrossAttention *attention = call->attention;
  PlaitTape *tape = attention->step;
  gint64 steps = attention->attention->multi_head ? 1 : attention->words, each = attention->words / steps;

  plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "dropout", NULL, 1));
  plait_tape_keep_gradients (tape);
  PlaitNode **given = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, steps);
  PlaitCrossAttentionKeys keys = keys_with_gradients (attention, tape);
  for (gint64 t = 0; t < steps; t++)
    given[t] = attend (attention, &keys, t * attention->batch * each, each, &call->rows_weighed);
  plait_tape_backward (tape, plait_reduce_sum (tape, steps == 1 ? given[0] : plait_add_n (tape, given, (guint)steps)));
}

gboolean
bench_cross_attention_step (BenchCrossAttention *attention, gint64 *rows_weighed, GError **error)
{
  Call call = { .attention = attention };

  if (!plait_arena_protect (attention->step_arena, attention->words > 0 ? train : search, &call, error))
    return FALSE;
  *rows_weighed = call.rows_weighed.all;
  return TRUE;
}

/* Writes links of one sentence; nothing if @numbers is NULL. */
static gboolean
write_numbers (PlaitStore *store, const char *path, const gint64 *numbers, gint64 n, GError **error)
{
  return !numbers || plait_store_write (store, path, PLAIT_STORE_INT64, 1, &n, numbers, PLAIT_STORE_PLAIN, error);
}

gboolean
bench_cross_attention_write (const BenchCrossAttention *attention, const char *path, GError **error)
{
  static const PlaitLinks none;
  const PlaitMemory *memory = attention->keys.memories;
  const PlaitLinks *links = memory->links ? memory->links : &none;
  gint64 rows = plait_ragged_length (memory->rows, 0);
  const PlaitKeyValues *key_values = attention->keys.key_values;

  if (attention->attention->n_attentions != 1 || attention->attention->attentions[0].kind != PLAIT_ATTEND_MEMORY)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the combiner %s does not attend to the memory exactly once, so its step cannot be written",
                       attention->experiment->decoder.combiner);
  g_autoptr (PlaitStore) store = plait_store_create (path, error);
  return store && plait_parameters_write (attention->parameters, store, "/parameters", error)
         && plait_store_write_tensor (store, "/keys", plait_tensor_rows (key_values->keys->value, 0, rows), error)
         && plait_store_write_tensor (store, "/values", plait_tensor_rows (key_values->values->value, 0, rows), error)
         && plait_store_write_tensor (
             store, "/queries",
             plait_tensor_rows (attention->queries, attention->turn * attention->batch, attention->batch), error)
         && plait_store_write_tensor (store, "/given", attention->given, error)
         && write_numbers (store, "/level", links->level, rows, error)
         && write_numbers (store, "/first_child", links->first_child, rows, error)
         && write_numbers (store, "/n_children", links->n_children, rows, error) && plait_store_commit (store, error);
}
