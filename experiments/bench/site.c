/* SPDX-License-Identifier: MIT */
#include "site.h"

#include <string.h>

#include "autograd/internal.h"
#include "autograd/operators.h"
#include "files/memory.h"
#include "decoders/decoder.h"
#include "training/parameters.h"
#include "layers/parameter-set.h"

/* Steps of search go through so many queries of each sentence in turn, so that what one has read is not always there
 * for the next. */
#define TURNS 16

struct BenchSite
{
  const PlaitExperiment *experiment;
  PlaitParameters *parameters;
  PlaitLossColumns losses;
  PlaitInstance encoder;
  PlaitMemorySpecification memory;
  PlaitDecoderBuild build;
  PlaitDeclaredSite site;
  gint64 leaf_width;

  PlaitArena *lasting_arena;
  PlaitArena *step_arena;
  PlaitTape *lasting;
  PlaitTape *step;

  /* What is remembered, on the lasting tape. */
  gint64 batch;
  gint64 words;
  PlaitSiteKeys keys;
  PlaitTensor queries; /* [words or TURNS, batch, query width] */
  gint64 turn;         /* of the last step of search */
  PlaitTensor dqueries;
  PlaitTensor given; /* by the last step of search */
};

void
bench_site_free (BenchSite *site)
{
  if (!site)
    return;
  plait_tape_free (site->lasting);
  plait_tape_free (site->step);
  plait_arena_free (site->lasting_arena);
  plait_arena_free (site->step_arena);
  plait_parameters_free (site->parameters);
  plait_loss_columns_clear (&site->losses);
  g_free (site);
}

static gboolean
check_experiment (const PlaitExperiment *experiment, GError **error)
{
  if (experiment->n_sources != 1)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s has %u sources, and plait-bench steps measures attention to one; set experiment.sources",
                       experiment->name, experiment->n_sources);
  if (experiment->coverage)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s has coverage, which plait-bench steps leaves out; set decoder.coverage=none",
                       experiment->name);
  if (experiment->sources[0].encoder->schema->reads_trees)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the encoder %s reads trees, which plait-bench steps does not draw; choose another encoder",
                       experiment->sources[0].encoder->schema->name);
  return TRUE;
}

static gboolean
build_encoder (BenchSite *site, GError **error)
{
  const PlaitExperimentSource *source = site->experiment->sources;
  const PlaitDecoderSettings *decoder = &site->experiment->decoder;
  PlaitEncoderBuild build = {
    .source = source->name,
    .kind = source->kind,
    .input_width = decoder->width,
    .model_width = decoder->width,
    .pre_norm = decoder->norm == PLAIT_DECODER_NORM_PRE,
    .parameters = site->parameters,
    .prefix = "source/",
  };
  const PlaitEncoderShape *shape = &site->encoder.shape;
  gint64 width;

  if (!plait_part_open (source->encoder, error)
      || !plait_call_build_encoder (&site->encoder, source->encoder, &build, &site->losses, error))
    return FALSE;
  width = plait_decoder_memory_width (decoder, &shape->memories[0].width, 1);
  if (shape->n_memories != 1 || (site->encoder.leaves && shape->memories[0].width != width))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "[source %s] makes %u memories, the first %jd wide; plait-bench steps wants one that is as wide "
                       "as the decoder reads it, %jd",
                       source->name, shape->n_memories, shape->memories[0].width, width);
  if (!site->encoder.leaves && shape->memories[0].structure != PLAIT_STRUCTURE_NONE)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the encoder %s links the rows of its memory, which cannot be drawn; plait-bench steps runs "
                       "encoders that stand on another one",
                       source->encoder->schema->name);
  site->leaf_width = site->encoder.leaves ? site->encoder.leaves->shape.memories[0].width : width;
  site->memory = (PlaitMemorySpecification){ source->name, width, shape->memories[0].structure };
  return TRUE;
}

static gboolean
build_site (BenchSite *site, GError **error)
{
  const PlaitDecoderSettings *decoder = &site->experiment->decoder;
  gint64 state = decoder->state_width > 0 ? decoder->state_width : decoder->width;

  site->build = (PlaitDecoderBuild){
    .settings = decoder,
    .combiner = site->experiment->combiner,
    .losses = &site->losses,
    .memories = &site->memory,
    .n_memories = 1,
    .parameters = site->parameters,
  };
  return plait_part_open (site->experiment->combiner, error)
         && plait_declared_site_build (&site->site, &site->build,
                                       decoder->type == PLAIT_DECODER_TYPE_TRANSFORMER ? site->memory.width : state,
                                       site->memory.width, "site/", error);
}

/*
 * Memories
 */

/* Fails if the memories of @length leaves a sentence, with keys and values, are larger than the memory that is free. */
static gboolean
check_memory (const BenchSite *site, gint64 length, GError **error)
{
  double bytes = (double)site->batch * (double)length * (double)(site->leaf_width + 3 * site->memory.width)
                 * sizeof (PlaitScalar);

  return (bytes < 1e18 && plait_memory_has ((gsize)bytes))
         || plait_fail (error, PLAIT_ERROR_MEMORY,
                        "the memories of %jd sentences of %jd rows need %.1f GiB of memory, more than there is: lower "
                        "--lengths, --batch or decoder.width",
                        site->batch, length, bytes / 1073741824);
}

/* The same @rows drawn ones for each of @n sentences. */
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

/* @n sentences of @length. */
static PlaitRagged
alike (PlaitArena *arena, gint64 n, gint64 length)
{
  gint64 *offsets = plait_arena_new_array (arena, gint64, n + 1);

  for (gint64 s = 0; s <= n; s++)
    offsets[s] = s * length;
  return (PlaitRagged){ n, offsets };
}

/* Every sentence has the same leaves. */
static PlaitMemory
draw_memory (const BenchSite *site, gint64 length)
{
  PlaitTape *tape = site->lasting;
  PlaitArena *arena = site->lasting_arena;
  PlaitInput input = { .kind = PLAIT_INPUT_TOKENS, .name = site->memory.name };
  PlaitEncoding *leaves = plait_arena_new_array (arena, PlaitEncoding, 1);
  PlaitEncoding *encoding = plait_arena_new_array (arena, PlaitEncoding, 1);
  PlaitTensor states = draw (arena, site->batch, length, site->leaf_width, "leaves"), summary;

  input.rows = alike (arena, site->batch, length);
  *leaves = (PlaitEncoding){ .tape = tape, .input = &input };
  leaves->memories[0] = (PlaitMemory){ .states = plait_leaf (tape, states, NULL), .rows = input.rows };
  if (!site->encoder.leaves)
    return leaves->memories[0];
  summary = draw (arena, site->batch, 1, site->encoder.leaves->shape.summary_width, "summary");
  leaves->summary = plait_leaf (tape, summary, NULL);
  *encoding = (PlaitEncoding){ .tape = tape, .input = &input, .leaves = leaves };
  plait_call_encode (&site->encoder, encoding, NULL);
  return encoding->memories[0];
}

/* @node of the lasting tape as a leaf of @tape, with a gradient that lasts as long as it. */
static PlaitNode *
with_gradient (const BenchSite *site, PlaitTape *tape, PlaitNode *node)
{
  PlaitNode *whole = node && node->whole ? node->whole : node;
  PlaitTensor gradient;

  if (!node)
    return NULL;
  if (!whole->gradient.data)
    {
      gint64 n = whole->value.rows * whole->value.stride;

      whole->gradient = whole->value;
      whole->gradient.data = plait_arena_new_array0 (site->lasting_arena, PlaitScalar, n);
    }
  gradient = node->value;
  gradient.data = whole->gradient.data + (node->value.data - whole->value.data);
  return plait_leaf (tape, node->value, &gradient);
}

/* The keys as leaves of @tape that gradients go back to. */
static PlaitSiteKeys
keys_with_gradients (const BenchSite *site, PlaitTape *tape)
{
  const PlaitSiteKeys *lasting = &site->keys;
  PlaitSiteKeys keys = plait_site_keys_on (&site->site, lasting, tape);
  PlaitMemory *memory = plait_arena_new_array (plait_tape_arena (tape), PlaitMemory, 1);

  *memory = *keys.memories;
  if (site->site.reads_rows[0])
    memory->states = with_gradient (site, tape, lasting->memories->states);
  keys.memories = memory;
  keys.prepared[0] = with_gradient (site, tape, lasting->prepared[0]);
  for (guint r = 0; r < site->site.n_readers; r++)
    {
      keys.attended[r].keys = with_gradient (site, tape, lasting->attended[r].keys);
      keys.attended[r].values = with_gradient (site, tape, lasting->attended[r].values);
    }
  return keys;
}

typedef struct
{
  BenchSite *site;
  gint64 length;
  PlaitTouched touched;
} Call;

static void
remember (gpointer data)
{
  Call *call = data;
  BenchSite *site = call->site;
  PlaitArena *arena = site->lasting_arena;
  PlaitMemory *memory;

  plait_tape_begin (site->lasting, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  memory = plait_arena_new_array (arena, PlaitMemory, 1);
  *memory = draw_memory (site, call->length);
  site->keys = plait_site_project (&site->site, site->lasting, memory);
  site->queries
      = draw (arena, 1, site->batch * (site->words > 0 ? site->words : TURNS), site->site.query_width, "queries");
  site->dqueries = draw (arena, 1, site->batch * site->words, site->site.query_width, "queries");
  if (site->words == 0)
    plait_site_keys_keep_columns (&site->site, &site->keys, site->lasting);
  else
    keys_with_gradients (site, site->lasting); /* so that the gradients are there */
}

BenchSite *
bench_site_new (const PlaitExperiment *experiment, gint64 length, gint64 batch, gint64 words, PlaitPool *pool,
                GError **error)
{
  g_autoptr (BenchSite) site = NULL;
  Call call;

  if (!check_experiment (experiment, error))
    return NULL;
  site = g_new0 (BenchSite, 1);
  site->experiment = experiment;
  site->batch = batch;
  site->words = words;
  site->parameters = plait_parameters_new ();
  if (!build_encoder (site, error) || !build_site (site, error) || !check_memory (site, length, error)
      || !plait_parameters_allocate (site->parameters, error))
    return NULL;
  plait_parameters_initialise (site->parameters, pool, (guint64)experiment->experiment.seed);
  if (!plait_parameters_pack (site->parameters, pool, PLAIT_PRECISION_FLOAT, error))
    return NULL;
  site->lasting_arena = plait_arena_new (0);
  site->step_arena = plait_arena_new (0);
  site->lasting = plait_tape_new (pool, site->lasting_arena);
  site->step = plait_tape_new (pool, site->step_arena);
  call = (Call){ .site = site, .length = length };
  return plait_arena_protect (site->lasting_arena, remember, &call, error) ? g_steal_pointer (&site) : NULL;
}

/*
 * Steps
 */

/* The site over @each queries of every sentence, which stand from row @first of the queries on; what a decoder goes on
 * with. */
static PlaitNode *
attend (const BenchSite *site, const PlaitSiteKeys *keys, gint64 first, gint64 each, PlaitTouched *touched)
{
  PlaitTape *tape = site->step;
  PlaitSitePass pass
      = plait_site_pass (tape, keys->memories, 1, alike (plait_tape_arena (tape), site->batch, each), NULL);
  PlaitSiteStep step = { .keys = *keys };
  PlaitTensor queries = plait_tensor_rows (site->queries, first, site->batch * each);
  PlaitTensor gradient = queries;
  PlaitStream stream;

  pass.touched = touched;
  if (site->words > 0)
    gradient.data = plait_tensor_row (site->dqueries, first);
  stream
      = plait_site_combine (&site->site, &pass, &step, plait_leaf (tape, queries, site->words > 0 ? &gradient : NULL));
  return site->site.scaled ? stream.query : stream.context;
}

static void
search (gpointer data)
{
  Call *call = data;
  PlaitSiteKeys keys;

  plait_tape_begin (call->site->step, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  keys = plait_site_keys_on (&call->site->site, &call->site->keys, call->site->step);
  call->site->turn = (call->site->turn + 1) % TURNS;
  call->site->given = attend (call->site, &keys, call->site->turn * call->site->batch, 1, &call->touched)->value;
}

/* Whole targets: a Transformer decoder attends for all words at once, a recurrent one word by word. */
static void
train (gpointer data)
{
  Call *call = data;
  BenchSite *site = call->site;
  PlaitTape *tape = site->step;
  gint64 steps = site->site.scaled ? 1 : site->words, each = site->words / steps;
  PlaitNode **given;
  PlaitSiteKeys keys;

  plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "dropout", NULL, 1));
  plait_tape_keep_gradients (tape);
  given = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, steps);
  keys = keys_with_gradients (site, tape);
  for (gint64 t = 0; t < steps; t++)
    given[t] = attend (site, &keys, t * site->batch * each, each, &call->touched);
  plait_tape_backward (tape, plait_total (tape, steps == 1 ? given[0] : plait_sum (tape, given, (guint)steps)));
}

gboolean
bench_site_step (BenchSite *site, gint64 *touched, GError **error)
{
  Call call = { .site = site };

  if (!plait_arena_protect (site->step_arena, site->words > 0 ? train : search, &call, error))
    return FALSE;
  *touched = call.touched.all;
  return TRUE;
}

/* Links of one sentence; nothing where there are none. */
static gboolean
write_numbers (PlaitStore *store, const char *path, const gint64 *numbers, gint64 n, GError **error)
{
  return !numbers || plait_store_write (store, path, PLAIT_STORE_INT64, 1, &n, numbers, PLAIT_STORE_PLAIN, error);
}

gboolean
bench_site_write (const BenchSite *site, const char *path, GError **error)
{
  static const PlaitLinks none;
  const PlaitMemory *memory = site->keys.memories;
  const PlaitLinks *links = memory->links ? memory->links : &none;
  gint64 rows = plait_ragged_length (memory->rows, 0);
  const PlaitAttended *attended = site->keys.attended;
  g_autoptr (PlaitStore) store = NULL;

  if (site->site.n_readers != 1 || site->site.readers[0].reads != PLAIT_READS_MEMORY)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the combiner %s does not attend to the memory once, which a peer could do after it",
                       site->experiment->decoder.combiner);
  store = plait_store_create (path, error);
  return store && plait_parameters_write (site->parameters, store, "/parameters", error)
         && plait_store_write_tensor (store, "/keys", plait_tensor_rows (attended->keys->value, 0, rows), error)
         && plait_store_write_tensor (store, "/values", plait_tensor_rows (attended->values->value, 0, rows), error)
         && plait_store_write_tensor (store, "/queries",
                                      plait_tensor_rows (site->queries, site->turn * site->batch, site->batch), error)
         && plait_store_write_tensor (store, "/given", site->given, error)
         && write_numbers (store, "/level", links->level, rows, error)
         && write_numbers (store, "/first_child", links->first_child, rows, error)
         && write_numbers (store, "/n_children", links->n_children, rows, error) && plait_store_commit (store, error);
}
