/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/batch.h"
#include "model/model.h"
#include "plugin/registry.h"

/*
 * What plait bench measures: the model sizes of the comparison with other programs (experiments/peers), token data for
 * them, and the useful work of a training step.
 */

/* One model size. Lengths are of one stream: normal (mean, deviation), rounded, within shortest .. longest. */
typedef struct
{
  const char *name;
  gint64 width;
  gint64 feed_forward;
  gint64 heads;
  gint64 encoder_layers;
  gint64 decoder_layers;
  guint token_sources;
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

/* The size called @name. PLAIT_ERROR_INPUT names those that there are. */
const PlaitBenchSize *plait_bench_size (const char *name, GError **error);

/* Sources of a size, the image included. */
guint plait_bench_sources (const PlaitBenchSize *size);

/* A model of a size, and the settings that it refers to. */
typedef struct
{
  PlaitModel *model;
  PlaitSourceSpecification *sources;
  gpointer *settings; /* of the plugins: one a source, and the combiner's last */
  PlaitSettings **parameters;
  guint n_sources;
} PlaitBenchModel;

/* Loads the plugins and builds the model with initial values of seed 1: pre-norm, one embedding for all streams and the
 * output, @dropout of embeddings and sub-layer outputs and none elsewhere. (transfer full) */
PlaitBenchModel *plait_bench_model_new (const PlaitBenchSize *size, const char *combiner, double dropout,
                                        PlaitRegistry *registry, PlaitPool *pool, GError **error);
void plait_bench_model_free (PlaitBenchModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBenchModel, plait_bench_model_free)

/* Sentence tuples: in each the token sources in order, then the target, which ends in the end token. */
typedef struct
{
  guint streams;   /* of a tuple */
  GArray *ids;     /* gint32 */
  GArray *offsets; /* gint64: stream k of tuple s is offsets[s * streams + k] .. the next one */
  GArray *batches; /* gint64: the first tuple of each batch, and the number of tuples at the end */
} PlaitBenchData;

/* Reads a token-data file (experiments/peers/README.md). PLAIT_ERROR_INPUT names file and line. (transfer full) */
PlaitBenchData *plait_bench_data_read (const char *path, const PlaitBenchSize *size, GError **error);

/* 16 batches of the size's own kind, drawn from @seed: the lengths of one tuple agree as those of translations do,
 * words follow a Zipf law. (transfer full) */
PlaitBenchData *plait_bench_data_draw (const PlaitBenchSize *size, guint64 seed);
void plait_bench_data_free (PlaitBenchData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBenchData, plait_bench_data_free)

/* The same tuples in the same order, @count a batch; the last batch may have fewer. */
void plait_bench_data_regroup (PlaitBenchData *data, gint64 count);

guint plait_bench_data_batches (const PlaitBenchData *data);

/* Batch @index, with targets or without; @image is [positions of the most sentences, image width] and must outlive it,
 * or is unused. (transfer full) */
PlaitBatch *plait_bench_data_batch (const PlaitBenchData *data, const PlaitBenchSize *size, guint index,
                                    gboolean targets, PlaitTensor image, GError **error);

/* FLOP of forward and backward of the products that the equations need for batch @index, on real tokens only: what
 * experiments/peers/flops.py counts. */
double plait_bench_flops (const PlaitBenchData *data, const PlaitBenchSize *size, guint index, const char *combiner);
