/* SPDX-License-Identifier: MIT */
#pragma once

#include <gmodule.h>

#include "interface/combiner.h"
#include "interface/coverage.h"
#include "interface/decoder.h"
#include "interface/encoder.h"
#include "interface/output.h"

/*
 * A plugin module exports one function, plait_plugin (), which returns a constant descriptor. The host compares the
 * descriptor with its own build and with the plugin's schema before it calls anything else.
 *
 *     #include "serial-settings.h"
 *     ...
 *     PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
 *
 * The build generates this header from the schema with settings.py (pkg-config --variable=settings plait-1). The header
 * has the struct Settings with a field for each parameter, names for choices, and constants for PLAIT_PLUGIN_DEFINE.
 *
 * The host may call all functions except build from several threads at once, each thread with its own tape. For
 * example, train.shards divides a batch among threads. Settings and state do not change after build. A module must not
 * have global or static variables that change.
 *
 * Changes since interface 1: build and combine of combiners receive a state, one for each cross-attention; build of
 * coverages fills a shape, and coverages may have a score function; losses are declared in build, with name and weight,
 * and added by name while running; contexts carry their weights if declared.
 *
 * In build a plugin may own memory, because the host records faults and build continues. A function that uses a tape
 * must take all memory from the tape's arena: an error leaves the function at once (plait_tape_fail), and g_autofree
 * does not run.
 */
#define PLAIT_PLUGIN_MAGIC 0x706c6169u /* the letters "plai" */
#define PLAIT_PLUGIN_INTERFACE 2
#define PLAIT_PLUGIN_SYMBOL "plait_plugin"

typedef enum
{
  PLAIT_PLUGIN_ENCODER,
  PLAIT_PLUGIN_COMBINER,
  PLAIT_PLUGIN_COVERAGE,
  PLAIT_PLUGIN_OUTPUT,
  PLAIT_PLUGIN_DECODER,
} PlaitPluginKind;

typedef enum
{
  PLAIT_SETTING_INTEGER, /* gint64 */
  PLAIT_SETTING_REAL,    /* double */
  PLAIT_SETTING_BOOLEAN, /* gboolean */
  PLAIT_SETTING_TEXT,    /* const char *, owned by the host */
  PLAIT_SETTING_CHOICE,  /* an enum of the choices */
  PLAIT_SETTING_LIST,    /* const char *, items separated by ';', owned by the host */
} PlaitSettingType;

/* Offset of a parameter's value in the plugin's struct Settings. The generated header has a table of these. */
typedef struct
{
  const char *name;
  PlaitSettingType type;
  gsize offset;
  const char *choices; /* the choices, or the allowed items of a list, such as "pre;post"; NULL: no choices */
} PlaitBinding;

/* Calls X or L (Struct, name) for each struct whose layout must be the same in the host and in a plugin. For L,
 * a module that does not include layers/layers.h has the size 0, which the host does not compare. */
#ifndef PLAIT_LAYER_SIZE
#define PLAIT_LAYER_SIZE(Struct) 0
#endif
#define PLAIT_PLUGIN_STRUCTS(X, L)                                                                                     \
  X (PlaitTensor, "a tensor")                                                                                          \
  X (PlaitRagged, "ragged rows")                                                                                       \
  X (PlaitQueryKeyPairs, "pairs")                                                                                      \
  X (PlaitPairIndices, "pair indices")                                                                                 \
  X (PlaitSelectedRows, "selected rows")                                                                               \
  X (PlaitNode, "a tape node")                                                                                         \
  X (PlaitOperator, "an operator")                                                                                     \
  X (PlaitParameter, "a parameter")                                                                                    \
  X (PlaitInitial, "an initial value")                                                                                 \
  X (PlaitLinear, "a linear layer")                                                                                    \
  L (PlaitGatedSum, "a gated sum")                                                                                     \
  L (PlaitNorm, "a layer norm")                                                                                        \
  L (PlaitPositions, "positions")                                                                                      \
  X (PlaitSentenceStarts, "sentence starts")                                                                           \
  L (PlaitFeedForward, "a feed-forward layer")                                                                         \
  L (PlaitEncoderStack, "an encoder stack")                                                                            \
  L (PlaitEncoderStackDeclaration, "the declaration of an encoder stack")                                              \
  X (PlaitCell, "a recurrent cell")                                                                                    \
  X (PlaitCellDeclaration, "the declaration of a recurrent cell")                                                      \
  X (PlaitCellState, "the state of a cell")                                                                            \
  L (PlaitRecurrentStack, "a recurrent stack")                                                                         \
  L (PlaitRecurrentStackDeclaration, "the declaration of a recurrent stack")                                           \
  X (PlaitTreeUnit, "a tree unit")                                                                                     \
  X (PlaitTreeHeadWords, "head words")                                                                                 \
  X (PlaitBitree, "a bidirectional tree")                                                                              \
  X (PlaitBitreeDeclaration, "the declaration of a bidirectional tree")                                                \
  X (PlaitPyramid, "a pyramid")                                                                                        \
  X (PlaitInput, "a batch input")                                                                                      \
  X (PlaitTrees, "the trees of a batch")                                                                               \
  X (PlaitDocuments, "the documents of a batch")                                                                       \
  X (PlaitLosses, "declared losses")                                                                                   \
  X (PlaitLinks, "links")                                                                                              \
  X (PlaitMemory, "a memory")                                                                                          \
  X (PlaitMemorySpecification, "the specification of a memory")                                                        \
  X (PlaitEncoderBuild, "the build of an encoder")                                                                     \
  X (PlaitEncoderShape, "the shape of an encoder")                                                                     \
  X (PlaitEncoding, "an encoding")                                                                                     \
  X (PlaitEncoderTable, "the table of an encoder")                                                                     \
  X (PlaitAttendSettings, "the settings of an attention")                                                              \
  X (PlaitResidualStream, "a residual stream")                                                                         \
  X (PlaitContext, "a context")                                                                                        \
  X (PlaitCombinerTable, "the table of a combiner")                                                                    \
  X (PlaitCoverageBuild, "the build of a coverage")                                                                    \
  X (PlaitCoverageShape, "the shape of a coverage")                                                                    \
  X (PlaitCoverageStep, "a step of coverage")                                                                          \
  X (PlaitCoverageCell, "the cell of a coverage")                                                                      \
  X (PlaitCoverageInput, "an input of coverage")                                                                       \
  X (PlaitCoverageTable, "the table of a coverage")                                                                    \
  X (PlaitOutputBuild, "the build of an output")                                                                       \
  X (PlaitOutputShape, "the shape of an output")                                                                       \
  X (PlaitOutputMemory, "a memory of an output")                                                                       \
  X (PlaitOutputAttention, "the attention that an output reads")                                                       \
  X (PlaitOutputPass, "a pass of an output")                                                                           \
  X (PlaitOutputTable, "the table of an output")                                                                       \
  X (PlaitDecoderBuild, "the build of a decoder")                                                                      \
  X (PlaitCausalSettings, "the settings of self-attention")                                                            \
  X (PlaitCrossSettings, "the settings of a cross-attention")                                                          \
  X (PlaitDecoderTable, "the table of a decoder")

/* The layout that a module was compiled with, so that the host can name a mismatch. */
#define PLAIT_PLUGIN_STRUCT_INDEX_(Struct, what) PLAIT_PLUGIN_INDEX_##Struct,
enum
{
  PLAIT_PLUGIN_STRUCTS (PLAIT_PLUGIN_STRUCT_INDEX_, PLAIT_PLUGIN_STRUCT_INDEX_) PLAIT_PLUGIN_N_STRUCTS
};

typedef struct
{
  guint32 pointer_size;
  guint32 scalar_size;
  guint32 struct_sizes[PLAIT_PLUGIN_N_STRUCTS];
} PlaitPluginLayout;

#define PLAIT_PLUGIN_STRUCT_SIZE_(Struct, what) sizeof (Struct),
#define PLAIT_PLUGIN_LAYER_SIZE_(Struct, what) PLAIT_LAYER_SIZE (Struct),
#define PLAIT_PLUGIN_LAYOUT                                                                                            \
  {                                                                                                                    \
    sizeof (void *), sizeof (PlaitScalar),                                                                             \
    {                                                                                                                  \
      PLAIT_PLUGIN_STRUCTS (PLAIT_PLUGIN_STRUCT_SIZE_, PLAIT_PLUGIN_LAYER_SIZE_)                                       \
    }                                                                                                                  \
  }

typedef struct
{
  guint32 magic;
  guint32 size; /* sizeof (PlaitPluginDescriptor) */
  guint32 interface;
  PlaitPluginLayout layout;
  PlaitPluginKind kind;
  const char *name;
  const char *version;
  gsize settings_size;
  const PlaitBinding *bindings;
  guint n_bindings;
  gconstpointer table; /* table of functions of the plugin's kind, such as PlaitEncoderTable */
  gpointer reserved[4];
} PlaitPluginDescriptor;

typedef const PlaitPluginDescriptor *(*PlaitPluginEntry) (void);

/* Defines the function that a module exports. The arguments are fields of the kind's table, such as
 * PlaitEncoderTable. */
#define PLAIT_PLUGIN_DEFINE(...)                                                                                       \
  G_MODULE_EXPORT const PlaitPluginDescriptor *plait_plugin (void);                                                    \
  const PlaitPluginDescriptor *plait_plugin (void)                                                                     \
  {                                                                                                                    \
    static const PLAIT_PLUGIN_TABLE table = { __VA_ARGS__ };                                                           \
    static const PlaitPluginDescriptor descriptor = {                                                                  \
      .magic = PLAIT_PLUGIN_MAGIC,                                                                                     \
      .size = sizeof (PlaitPluginDescriptor),                                                                          \
      .interface = PLAIT_PLUGIN_INTERFACE,                                                                             \
      .layout = PLAIT_PLUGIN_LAYOUT,                                                                                   \
      .kind = PLAIT_PLUGIN_KIND,                                                                                       \
      .name = PLAIT_PLUGIN_NAME,                                                                                       \
      .version = PLAIT_PLUGIN_VERSION,                                                                                 \
      .settings_size = sizeof (Settings),                                                                              \
      .bindings = plait_plugin_bindings,                                                                               \
      .n_bindings = G_N_ELEMENTS (plait_plugin_bindings),                                                              \
      .table = &table,                                                                                                 \
    };                                                                                                                 \
    return &descriptor;                                                                                                \
  }
