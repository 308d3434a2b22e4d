/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>
#include <string.h>

#include "autograd/internal.h"
#include "autograd/layer-operators.h"
#include "harness.h"
#include "layers/attention.h"
#include "layers/feed-forward.h"
#include "layers/layers.h"
#include "layers/parameter-set.h"
#include "models.h"

/*
 * Plugins that break their contract, each in one place: one faulty plugin in a line, with the message that it ends in.
 * They are built into models and run. Plugins that fail to load are in tests/plugin/faulty.
 */
enum
{
  TRANSFORMER = 1 << 0,
  RECURRENT = 1 << 2,
  BOTH = TRANSFORMER | RECURRENT, /* indices of plait_fixture_decoder */
};

/* Differences of this faulty plugin from a valid one. */
typedef struct
{
  gboolean (*cross) (PlaitCrossAttention *cross, GError **error);
  PlaitResidualStream (*combine) (PlaitCrossAttention *cross, PlaitTape *tape, PlaitResidualStream x);
  PlaitNode *(*prepare) (PlaitTape *tape, const PlaitMemory *rows);
  gboolean (*encoder) (const PlaitEncoderBuild *build, PlaitEncoderShape *shape, GError **error);
  void (*encode) (PlaitEncoding *encoding, PlaitTape *tape, PlaitMemory *memory);
  gboolean (*check_length) (GError **error);
  gboolean (*check_input) (GError **error);
  PlaitStructure promised; /* structure in the encoder's schema */
  gboolean (*coverage) (const PlaitCoverageBuild *build, PlaitCoverageShape *shape, GError **error);
  PlaitNode *(*score) (const PlaitCoverageStep *step);
  PlaitNode *(*update) (const PlaitCoverageStep *step);
  PlaitNode *(*prepare_coverage) (PlaitTape *tape, const PlaitMemory *memory);
  gboolean covered; /* TRUE: the model has coverage */

  const PlaitDecoderTable *decoder_table; /* NULL: a decoder of the tree */
  PlaitCrossScores scores;                /* what the schema of the decoder provides */
  const PlaitOutputTable *output_table;   /* NULL: softmax of the states */
  gboolean recompute;                     /* TRUE: train with train.recompute */
} FaultyPlugin;

extern FaultyPlugin faulty_plugin;

/* Builds the faulty plugin into a model with decoder @i, trains a step, and searches. */
gboolean misbehaving_release (guint i, GError **error);

/* Checks, with each decoder of @decoders, that the faulty plugin fails with one message that begins with @who and
 * contains @sentence. */
void misbehaving_check (guint decoders, const char *who, const char *sentence);

/* Returns a constant [rows, width] of zeros. */
PlaitNode *misbehaving_zeros (PlaitTape *tape, gint64 rows, gint64 width);

/* Returns a constant [1, 1]. */
PlaitNode *misbehaving_number (PlaitTape *tape, double value);

/* Short names for the lines of faulty plugins. */
#define zeros misbehaving_zeros
#define number misbehaving_number
#define check_fault misbehaving_check
#define release misbehaving_release

#define ENCODER "encoder \"bigru\" of [source first]"
#define COMBINER "combiner \"serial\" of [combiner]"
#define COVERAGE "coverage \"word\" of [coverage]"
#define DECODER "decoder \"transformer\" of [decoder]"
#define OUTPUT "output \"softmax\" of [output]"

#define FAIL g_set_error_literal (error, PLAIT_ERROR, PLAIT_ERROR_INPUT, "not to my taste")
#define FEWER(node) plait_rows (tape, node, 0, (node)->value.rows - 1)
#define NARROWER(node) plait_columns (tape, node, 0, (node)->value.width - 1)

/* A function of a faulty plugin. */
#define FUNCTION(type, name, arguments, returns, ...)                                                                  \
  static type name arguments                                                                                           \
  {                                                                                                                    \
    __VA_ARGS__;                                                                                                       \
    return returns;                                                                                                    \
  }
