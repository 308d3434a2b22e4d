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
 * Plugins that break their contract, each in one place. A line has one faulty plugin and the message with which it must
 * fail. The plugins are built into models and run. tests/plugin/faulty has plugins that fail to load.
 */
enum
{
  TRANSFORMER = 1 << 0,
  RECURRENT = 1 << 2,
  BOTH = TRANSFORMER | RECURRENT, /* bits of indices of plait_fixture_decoder() */
};

/* Differences of the faulty plugin from a valid one. */
typedef struct
{
  gboolean (*cross) (PlaitCrossAttention *cross, GError **error);
  PlaitResidualStream (*combine) (PlaitCrossAttention *cross, PlaitTape *tape, PlaitResidualStream x);
  PlaitNode *(*prepare) (PlaitTape *tape, const PlaitMemory *rows);
  gboolean (*encoder) (const PlaitEncoderBuild *build, PlaitEncoderShape *shape, GError **error);
  void (*encode) (PlaitEncoding *encoding, PlaitTape *tape, PlaitMemory *memory);
  gboolean (*check_length) (GError **error);
  gboolean (*check_input) (GError **error);
  PlaitStructure promised; /* structure that the schema of the encoder promises */
  gboolean (*coverage) (const PlaitCoverageBuild *build, PlaitCoverageShape *shape, GError **error);
  PlaitNode *(*score) (const PlaitCoverageStep *step);
  PlaitNode *(*update) (const PlaitCoverageStep *step);
  PlaitNode *(*prepare_coverage) (PlaitTape *tape, const PlaitMemory *memory);
  gboolean covered; /* TRUE: the model has a coverage */

  const PlaitDecoderTable *decoder_table; /* table of the faulty decoder; NULL: the decoder is one of plait's own */
  PlaitCrossScores scores;                /* score functions that the schema of the decoder provides */
  const PlaitOutputTable *output_table;   /* table of the faulty output; NULL: a softmax of the states */
  gboolean recompute;                     /* TRUE: the model is trained with train.recompute */
} FaultyPlugin;

extern FaultyPlugin faulty_plugin;

/* Builds the faulty plugin into a model with test decoder @i, trains one step, and searches. */
gboolean misbehaving_release (guint i, GError **error);

/* Loss of the last step that misbehaving_release trained. */
extern double misbehaving_loss;

/* Checks that the faulty plugin fails in each of the decoders in @decoders (bits), with one message that begins with
 * @who and contains @sentence. */
void misbehaving_check (guint decoders, const char *who, const char *sentence);

/* Returns a constant node [rows, width] of zeros. */
PlaitNode *misbehaving_zeros (PlaitTape *tape, gint64 rows, gint64 width);

/* Returns a constant node [1, 1] with the value @value. */
PlaitNode *misbehaving_number (PlaitTape *tape, double value);

/* Short names for use in the lines of faulty plugins. */
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

/* Defines one function of a faulty plugin. */
#define FUNCTION(type, name, arguments, returns, ...)                                                                  \
  static type name arguments                                                                                           \
  {                                                                                                                    \
    __VA_ARGS__;                                                                                                       \
    return returns;                                                                                                    \
  }
