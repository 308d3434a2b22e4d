/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/batch.h"
#include "model/model.h"
#include "plugin/registry.h"

/*
 * What plait bench measures: the model sizes of the comparison with other programs (experiments/peers), token data for
 * them, the steps that are timed, and their useful work.
 */

/* One model size. Lengths are of one stream: normal (mean, deviation), rounded, within shortest .. longest. */
typedef struct
{
  const char *name;
  gint64 width;  /* of embeddings; of a Transformer, of everything */
  gint64 hidden; /* of a recurrent system: of its states; 0: this is a Transformer */
  gint64 feed_forward;
  gint64 heads;
  gint64 encoder_layers;
  gint64 decoder_layers;
  guint token_sources;
  gboolean trees; /* over the one token source, which has no end token then; recurrent systems only */
  gint64 vocabulary;
  gint64 batch;
  double mean;
  double deviation;
  gint64 shortest;
  gint64 longest;
  gint64 image_positions; /* 0: there is no image; else it is the last source */
  gint64 image_width;
  gint64 decode_steps;
} PlaitBenchSize;

/* The size called @name of Transformers or of @recurrent systems, there without trees. PLAIT_ERROR_INPUT names those
 * that there are. */
const PlaitBenchSize *plait_bench_size (const char *name, gboolean recurrent, GError **error);

/* The same of recurrent systems alone; NULL if there is none. */
const PlaitBenchSize *plait_bench_recurrent_size (const char *name);

/* Sources of a size, the image included. */
guint plait_bench_sources (const PlaitBenchSize *size);

/* What of a system is timed. */
typedef enum
{
  PLAIT_BENCH_TRAIN,     /* a whole training step */
  PLAIT_BENCH_DECODE,    /* a whole search */
  PLAIT_BENCH_ENCODE,    /* the encoders alone, forward and backward from the sum of the memory's numbers */
  PLAIT_BENCH_ATTEND,    /* one step of attention, forward and backward from the sum of the context's numbers */
  PLAIT_BENCH_ATTENDING, /* the same, forward alone */
} PlaitBenchPart;

/* What a run of plait bench was asked for. */
typedef struct
{
  const char *mode; /* train, decode, tree or recurrent */
  PlaitBenchPart part;
  PlaitBenchSize size;
  const char *combiner;
  const char *coverage;   /* none, or a plugin */
  const char *reset;      /* before or after: where the reset gates of recurrent systems act */
  const char *data;       /* a file of token data; NULL: they are drawn */
  const char *parameters; /* the file that takes the initial values; NULL: none */
  gint64 steps;
  gint64 warmup;
  gint64 beam;
  gint64 batch;     /* sentences searched together */
  gint64 positions; /* that one step of attention reads */
  gint64 threads;
  gint64 shards; /* of a training step's batch */
  double dropout;
  gboolean force; /* replaces the file of the initial values */
  gboolean json;
} PlaitBenchOptions;

/*
 * Models
 */

/* A model of a size, and the parts that it refers to. */
typedef struct
{
  PlaitModel *model;
  PlaitSourceSpecification *sources;
  guint n_sources;
  GPtrArray *parts; /* PlaitPart, owned */
} PlaitBenchModel;

/* An empty one with room for so many. (transfer full) */
PlaitBenchModel *plait_bench_model_reserve (guint n_sources);

/* A plugin's parameter, as it stands in an experiment file. */
typedef struct
{
  const char *name;
  const char *value;
} PlaitBenchParameter;

/* The part that the plugin @name plays with @n @parameters. (transfer full) */
PlaitPart *plait_bench_part (PlaitRegistry *registry, PlaitPluginKind kind, const char *name,
                             const PlaitBenchParameter *parameters, guint n, GError **error);

/* Opens @part (transfer full; NULL: with *error set already), which becomes @model's; NULL where it cannot be opened.
 * (transfer none) */
PlaitPart *plait_bench_keep (PlaitBenchModel *model, PlaitPart *part, GError **error);

/*
 * Loads the plugins and builds the model with initial values of seed 1.
 *
 * Transformers: pre-norm, one embedding for all streams and the output, dropout of embeddings and sub-layer outputs and
 * none elsewhere. Recurrent systems (Chen et al. 2017): bigru, over it bitree-gru where there are trees, a gru decoder
 * with additive attention and deep readout, embeddings and output of their own; dropout of embeddings and readout.
 * (transfer full)
 */
PlaitBenchModel *plait_bench_model_new (const PlaitBenchOptions *options, PlaitRegistry *registry, PlaitPool *pool,
                                        GError **error);
PlaitBenchModel *plait_bench_recurrent_new (const PlaitBenchOptions *options, PlaitRegistry *registry, PlaitPool *pool,
                                            GError **error);
void plait_bench_model_free (PlaitBenchModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBenchModel, plait_bench_model_free)

/* One step of a recurrent decoder's additive attention: one query over a long memory, whose keys are there already. */
typedef struct PlaitBenchAttention PlaitBenchAttention;

/* Builds the site as a decoder does, of the size's hidden width throughout, with initial values of seed 1; query, rows
 * and keys are parameters too ("query", "rows", "keys"). (transfer full) */
PlaitBenchAttention *plait_bench_attention_new (const PlaitBenchOptions *options, PlaitRegistry *registry,
                                                PlaitPool *pool, GError **error);
void plait_bench_attention_free (PlaitBenchAttention *attention);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBenchAttention, plait_bench_attention_free)

PlaitParameters *plait_bench_attention_parameters (const PlaitBenchAttention *attention);

/* Attends on @tape, which has begun. (transfer none) */
PlaitNode *plait_bench_attention_step (const PlaitBenchAttention *attention, PlaitTape *tape);

/*
 * Data
 */

/* Sentence tuples: in each the token sources in order, then the trees over the source if there are any, then the
 * target, which ends in the end token. A tree over T tokens has 2 (T - 1) numbers, left and right child of each inner
 * node, as PlaitTrees counts them. */
typedef struct
{
  guint streams;   /* of a tuple */
  gint trees;      /* the stream of the trees; -1: none */
  GArray *ids;     /* gint32 */
  GArray *offsets; /* gint64: stream k of tuple s is offsets[s * streams + k] .. the next one */
  GArray *batches; /* gint64: the first tuple of each batch, and the number of tuples at the end */
} PlaitBenchData;

/* Reads a token-data file (experiments/peers/README.md). PLAIT_ERROR_INPUT names file and line. (transfer full) */
PlaitBenchData *plait_bench_data_read (const char *path, const PlaitBenchSize *size, GError **error);

/* 16 batches of the size's own kind, drawn from @seed: the lengths of one tuple agree as those of translations do,
 * words follow a Zipf law, trees are split uniformly. (transfer full) */
PlaitBenchData *plait_bench_data_draw (const PlaitBenchSize *size, guint64 seed);
void plait_bench_data_free (PlaitBenchData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBenchData, plait_bench_data_free)

/* The same tuples in the same order, @count a batch; the last batch may have fewer. */
void plait_bench_data_regroup (PlaitBenchData *data, gint64 count);

guint plait_bench_data_batches (const PlaitBenchData *data);

/* Tuples @first .. @end - 1 are batch @index. */
void plait_bench_data_range (const PlaitBenchData *data, guint index, gint64 *first, gint64 *end);

/* How many ids stream @stream of tuple @tuple has. */
gint64 plait_bench_data_length (const PlaitBenchData *data, gint64 tuple, guint stream);

/* Batch @index, with targets or without; @image is [positions of the most sentences, image width] and must outlive it,
 * or is unused. (transfer full) */
PlaitBatch *plait_bench_data_batch (const PlaitBenchData *data, const PlaitBenchSize *size, guint index,
                                    gboolean targets, PlaitTensor image, GError **error);

/* FLOP of forward and backward of the products that the equations need for batch @index, on real tokens only: what
 * experiments/peers/flops.py counts. Of recurrent systems, of the whole step or of the encoders alone. */
double plait_bench_flops (const PlaitBenchData *data, const PlaitBenchOptions *options, guint index);

/*
 * Timing
 */

/* What was measured. Arrays have an entry a timed step, @losses one a step, warm-up included. */
typedef struct
{
  guint threads;
  double *seconds;
  double *processor; /* seconds of processors, all threads together */
  double *sentences;
  double *tokens; /* of the target; of the source, where encoders are timed alone */
  double *flops;
  double *losses; /* mean negative log-likelihood of a target token; of encoders and attention, the sum at the root */
  gint64 peak;    /* bytes */
  gint64 loaded;  /* bytes */
  double rate;    /* FLOP/s */
} PlaitBenchFigures;

void plait_bench_figures_clear (PlaitBenchFigures *figures);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitBenchFigures, plait_bench_figures_clear)

/* Builds what @options ask for, runs the steps, and measures the machine's rate of matrix products after them. */
gboolean plait_bench_run (const PlaitBenchOptions *options, PlaitBenchFigures *figures, GError **error);

/* Medians for people, or everything as JSON, on stdout. */
void plait_bench_print (const PlaitBenchOptions *options, const PlaitBenchFigures *figures);
