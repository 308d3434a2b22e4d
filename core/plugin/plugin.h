/* SPDX-License-Identifier: MIT */
#pragma once

#include <gmodule.h>

#include "plugin/combiner.h"
#include "plugin/coverage.h"
#include "plugin/encoder.h"

/*
 * What a plugin module exports: one function, plait_plugin (), that returns a constant descriptor. The host compares
 * every field with its own build and with the plugin's schema before it calls anything else.
 *
 *     typedef struct { gint64 heads; } Settings;
 *     static const PlaitBinding bindings[] = { PLAIT_BIND_INTEGER (Settings, heads) };
 *     static const PlaitCombinerTable table = { .build = build, .combine = combine };
 *     PLAIT_PLUGIN_COMBINER_DEFINE ("serial", "0.1.0", Settings, bindings, table)
 *
 * What computes (all but build) may be called from several threads at once, each with a tape of its own: with
 * train.shards a batch is computed in shards. Settings and state are constant there; a module has no variables.
 */
#define PLAIT_PLUGIN_MAGIC 0x706c6169u /* "plai" */
#define PLAIT_PLUGIN_INTERFACE 1
#define PLAIT_PLUGIN_SYMBOL "plait_plugin"

typedef enum
{
  PLAIT_PLUGIN_ENCODER,
  PLAIT_PLUGIN_COMBINER,
  PLAIT_PLUGIN_COVERAGE,
} PlaitPluginKind;

typedef enum
{
  PLAIT_SETTING_INTEGER, /* gint64 */
  PLAIT_SETTING_REAL,    /* double */
  PLAIT_SETTING_BOOLEAN, /* gboolean */
  PLAIT_SETTING_TEXT,    /* const char *, owned by the host */
  PLAIT_SETTING_CHOICE,  /* gint: place in the list of choices */
  PLAIT_SETTING_LIST,    /* const char *, items separated by ';', owned by the host */
} PlaitSettingType;

/* Where in a plugin's own settings struct the host puts the value of a schema parameter. */
typedef struct
{
  const char *name;
  PlaitSettingType type;
  gsize offset;
  const char *choices; /* of a choice: the names in the order of its enum, "pre;post"; must equal the schema's */
} PlaitBinding;

#define PLAIT_BIND_INTEGER(Struct, field)                                                                              \
  {                                                                                                                    \
#field, PLAIT_SETTING_INTEGER, G_STRUCT_OFFSET(Struct, field), NULL                                                \
  }
#define PLAIT_BIND_REAL(Struct, field)                                                                                 \
  {                                                                                                                    \
#field, PLAIT_SETTING_REAL, G_STRUCT_OFFSET(Struct, field), NULL                                                   \
  }
#define PLAIT_BIND_BOOLEAN(Struct, field)                                                                              \
  {                                                                                                                    \
#field, PLAIT_SETTING_BOOLEAN, G_STRUCT_OFFSET(Struct, field), NULL                                                \
  }
#define PLAIT_BIND_TEXT(Struct, field)                                                                                 \
  {                                                                                                                    \
#field, PLAIT_SETTING_TEXT, G_STRUCT_OFFSET(Struct, field), NULL                                                   \
  }
#define PLAIT_BIND_LIST(Struct, field)                                                                                 \
  {                                                                                                                    \
#field, PLAIT_SETTING_LIST, G_STRUCT_OFFSET(Struct, field), NULL                                                   \
  }
#define PLAIT_BIND_CHOICE(Struct, field, names)                                                                        \
  {                                                                                                                    \
#field, PLAIT_SETTING_CHOICE, G_STRUCT_OFFSET(Struct, field), names                                                \
  }

/* The layout that a module was built against, one number a field, so that a mismatch can be named. */
typedef struct
{
  guint32 pointer_size;
  guint32 scalar_size;
  guint32 tensor_size;
  guint32 node_size;
  guint32 input_size;
  guint32 trees_size;
  guint32 memory_size;
  guint32 encoding_size;
  guint32 site_size;
  guint32 coverage_step_size;
} PlaitPluginLayout;

#define PLAIT_PLUGIN_LAYOUT                                                                                            \
  {                                                                                                                    \
    sizeof (void *), sizeof (PlaitScalar), sizeof (PlaitTensor), sizeof (PlaitNode), sizeof (PlaitInput),              \
        sizeof (PlaitTrees), sizeof (PlaitMemory), sizeof (PlaitEncoding), sizeof (PlaitSite),                         \
        sizeof (PlaitCoverageStep)                                                                                     \
  }

typedef struct
{
  guint32 magic;
  guint32 size; /* of this struct */
  guint32 interface;
  PlaitPluginLayout layout;
  PlaitPluginKind kind;
  const char *name;
  const char *version;
  gsize settings_size;
  const PlaitBinding *bindings;
  guint n_bindings;
  gconstpointer table; /* PlaitEncoderTable, PlaitCombinerTable, ... by kind */
  gpointer reserved[4];
} PlaitPluginDescriptor;

typedef const PlaitPluginDescriptor *(*PlaitPluginEntry) (void);

#define PLAIT_PLUGIN_(plugin_kind, plugin_name, plugin_version, Settings, plugin_bindings, plugin_table)               \
  G_MODULE_EXPORT const PlaitPluginDescriptor *plait_plugin (void);                                                    \
  const PlaitPluginDescriptor *plait_plugin (void)                                                                     \
  {                                                                                                                    \
    static const PlaitPluginDescriptor descriptor = {                                                                  \
      .magic = PLAIT_PLUGIN_MAGIC,                                                                                     \
      .size = sizeof (PlaitPluginDescriptor),                                                                          \
      .interface = PLAIT_PLUGIN_INTERFACE,                                                                             \
      .layout = PLAIT_PLUGIN_LAYOUT,                                                                                   \
      .kind = plugin_kind,                                                                                             \
      .name = plugin_name,                                                                                             \
      .version = plugin_version,                                                                                       \
      .settings_size = sizeof (Settings),                                                                              \
      .bindings = plugin_bindings,                                                                                     \
      .n_bindings = G_N_ELEMENTS (plugin_bindings),                                                                    \
      .table = &plugin_table,                                                                                          \
    };                                                                                                                 \
    return &descriptor;                                                                                                \
  }

/* Defines the module's one exported function. */
#define PLAIT_PLUGIN_ENCODER_DEFINE(name, version, Settings, bindings, table)                                          \
  PLAIT_PLUGIN_ (PLAIT_PLUGIN_ENCODER, name, version, Settings, bindings, table)
#define PLAIT_PLUGIN_COMBINER_DEFINE(name, version, Settings, bindings, table)                                         \
  PLAIT_PLUGIN_ (PLAIT_PLUGIN_COMBINER, name, version, Settings, bindings, table)
#define PLAIT_PLUGIN_COVERAGE_DEFINE(name, version, Settings, bindings, table)                                         \
  PLAIT_PLUGIN_ (PLAIT_PLUGIN_COVERAGE, name, version, Settings, bindings, table)
