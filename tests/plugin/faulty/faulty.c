/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interface/plugin.h"
#include "layers/layers.h"

#include "faulty-settings.h"

/*
 * A combiner, encoder, coverage, output or decoder that is sound or has one fault. The name of its file selects the
 * fault; test-faulty-plugin.c copies the module to that name and checks the host's message. FAULTY_SYMBOL and
 * FAULTY_ENTRY make the two faults that a name cannot select.
 */
#ifndef FAULTY_SYMBOL
#define FAULTY_SYMBOL plait_plugin
#endif
#ifndef FAULTY_ENTRY
#define FAULTY_ENTRY
#endif

static gboolean
build_encoder (const PlaitEncoderBuild *from, gconstpointer settings, gpointer state, PlaitEncoderShape *shape,
               GError **error)
{
  return TRUE;
}

static void
encode (gconstpointer settings, gconstpointer state, PlaitEncoding *encoding)
{
}

static gboolean
build_coverage (const PlaitCoverageBuild *from, gconstpointer settings, gpointer state, PlaitCoverageShape *shape,
                GError **error)
{
  return TRUE;
}

static PlaitNode *
update (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step)
{
  return step->state;
}

static gboolean
build_output (const PlaitOutputBuild *from, gconstpointer settings, gpointer state, PlaitOutputShape *shape,
              GError **error)
{
  return TRUE;
}

static void
output (gconstpointer settings, gconstpointer state, PlaitOutputPass *pass)
{
}

static gboolean
build_decoder (PlaitDecoding *decoding, const PlaitDecoderBuild *from, gconstpointer settings, gpointer state,
               GError **error)
{
  return TRUE;
}

static PlaitNode *
decode (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, PlaitNode *embedded)
{
  return embedded;
}

static gboolean
build_combiner (PlaitCrossAttention *cross, gconstpointer settings, gpointer state, GError **error)
{
  return TRUE;
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer settings, gconstpointer state, PlaitResidualStream x)
{
  return x;
}

static PlaitEncoderTable encoder = { .build = build_encoder, .encode = encode };
static PlaitCoverageTable coverage = { .build = build_coverage, .update = update };
static PlaitOutputTable output_table = { .build = build_output, .output = output };
static PlaitDecoderTable decoder = { .build = build_decoder, .decode = decode };
static PlaitCombinerTable combiner = { .build = build_combiner, .combine = combine };

static PlaitPluginDescriptor descriptor = {
  .magic = PLAIT_PLUGIN_MAGIC,
  .size = sizeof descriptor,
  .interface = PLAIT_PLUGIN_INTERFACE,
  .layout = PLAIT_PLUGIN_LAYOUT,
  .kind = PLAIT_PLUGIN_COMBINER,
  .version = "1.2.3",
  .settings_size = sizeof (Settings),
  .bindings = plait_plugin_bindings,
  .n_bindings = G_N_ELEMENTS (plait_plugin_bindings),
  .table = &combiner,
};

/* Returns the name of the module's file without ".so". (transfer none) */
static const char *
own_name (void)
{
  static char name[100];
  Dl_info info;

  if (dladdr (name, &info) == 0)
    abort ();
  g_strlcpy (name, strrchr (info.dli_fname, '/') + 1, sizeof name);
  *strrchr (name, '.') = '\0';
  return name;
}

/* TRUE if this process is the sandbox, a child process that dies with its parent. */
static gboolean
is_tried (void)
{
  int number = 0;

  prctl (PR_GET_PDEATHSIG, &number);
  return number != 0;
}

static void
hoard (void)
{
  for (;;)
    {
      volatile char *bytes = malloc (1 << 24);

      if (!bytes)
        abort ();
      for (int i = 0; i < 1 << 24; i += 4096)
        bytes[i] = 1;
    }
}

static void
spin (void)
{
  for (volatile guint i = 0;; i++)
    ;
}

#define IF_NAMED(fault) if (strcmp (name, fault) == 0)
#define WILD_POINTER ((gconstpointer)64)
#define HUGE_STATE (1u << 30)

/* Runs when the module is loaded. */
__attribute__ ((constructor)) static void
construct (void)
{
  const char *name = own_name ();

  IF_NAMED ("constructor-crashes") raise (SIGSEGV);
  IF_NAMED ("constructor-aborts") abort ();
  IF_NAMED ("constructor-exits") exit (0);
  IF_NAMED ("constructor-leaves") _exit (7);
  IF_NAMED ("constructor-spins") spin ();
  IF_NAMED ("constructor-sleeps") sleep (1000);
  IF_NAMED ("constructor-hoards") hoard ();
  IF_NAMED ("goes-away") (void) !chdir ("/");
  IF_NAMED ("masks-files") umask (0777);
  IF_NAMED ("sets-the-locale") setlocale (LC_ALL, "C.UTF-8");
  IF_NAMED ("takes-signals") signal (SIGINT, SIG_IGN);
  IF_NAMED ("rounds-upwards") fesetround (FE_UPWARD);
  if (is_tried ())
    return;
  IF_NAMED ("later-crashes") raise (SIGSEGV);
  IF_NAMED ("later-aborts") abort ();
  IF_NAMED ("later-exits") exit (0);
  IF_NAMED ("later-goes-away") (void) !chdir ("/");
  IF_NAMED ("closes-a-stream") close (STDOUT_FILENO);
}

static void
spoil_layout (const char *name)
{
#define SPOIL_STRUCT(fault, Struct)                                                                                    \
  IF_NAMED ("layout-" fault) descriptor.layout.struct_sizes[PLAIT_PLUGIN_INDEX_##Struct] = 5
  SPOIL_STRUCT ("tensor", PlaitTensor);
  SPOIL_STRUCT ("node", PlaitNode);
  SPOIL_STRUCT ("linear", PlaitLinear);
  SPOIL_STRUCT ("input", PlaitInput);
  SPOIL_STRUCT ("trees", PlaitTrees);
  SPOIL_STRUCT ("memory", PlaitMemory);
  SPOIL_STRUCT ("encoding", PlaitEncoding);
  SPOIL_STRUCT ("context", PlaitContext);
  SPOIL_STRUCT ("coverage-step", PlaitCoverageStep);
  SPOIL_STRUCT ("output-pass", PlaitOutputPass);
  IF_NAMED ("layout-pointer") descriptor.layout.pointer_size = 5;
  IF_NAMED ("layout-scalar") descriptor.layout.scalar_size = 5;
}

static void
spoil_tables (const char *name)
{
  if (g_str_has_prefix (name, "encoder-"))
    {
      descriptor.kind = PLAIT_PLUGIN_ENCODER;
      descriptor.table = &encoder;
    }
  if (g_str_has_prefix (name, "coverage-"))
    {
      descriptor.kind = PLAIT_PLUGIN_COVERAGE;
      descriptor.table = &coverage;
    }
  if (g_str_has_prefix (name, "output-"))
    {
      descriptor.kind = PLAIT_PLUGIN_OUTPUT;
      descriptor.table = &output_table;
    }
  if (g_str_has_prefix (name, "decoder-"))
    {
      descriptor.kind = PLAIT_PLUGIN_DECODER;
      descriptor.table = &decoder;
    }
  IF_NAMED ("no-table") descriptor.table = NULL;
  IF_NAMED ("no-build") combiner.build = NULL;
  IF_NAMED ("no-combine") combiner.combine = NULL;
  IF_NAMED ("huge-state") combiner.state_size = HUGE_STATE;
  IF_NAMED ("encoder-no-build") encoder.build = NULL;
  IF_NAMED ("encoder-no-encode") encoder.encode = NULL;
  IF_NAMED ("encoder-huge-state") encoder.state_size = HUGE_STATE;
  IF_NAMED ("coverage-no-build") coverage.build = NULL;
  IF_NAMED ("coverage-no-update") coverage.update = NULL;
  IF_NAMED ("coverage-of-state") coverage.prepared_name = "state";
  IF_NAMED ("coverage-of-accumulated") coverage.prepared_name = "accumulated";
  IF_NAMED ("coverage-of-offsets") coverage.prepared_name = "fertility_offsets";
  IF_NAMED ("coverage-of-a-path") coverage.prepared_name = "a/b";
  IF_NAMED ("coverage-of-wild-name") coverage.prepared_name = WILD_POINTER;
  IF_NAMED ("coverage-huge-state") coverage.state_size = HUGE_STATE;
  IF_NAMED ("output-no-build") output_table.build = NULL;
  IF_NAMED ("output-no-output") output_table.output = NULL;
  IF_NAMED ("output-huge-state") output_table.state_size = HUGE_STATE;
  IF_NAMED ("decoder-no-build") decoder.build = NULL;
  IF_NAMED ("decoder-no-decode") decoder.decode = NULL;
  IF_NAMED ("decoder-huge-state") decoder.state_size = HUGE_STATE;
}

static void
spoil_descriptor (const char *name)
{
  IF_NAMED ("wrong-magic") descriptor.magic = 0xdeadbeefu;
  IF_NAMED ("short-struct") descriptor.size = 16;
  IF_NAMED ("older-interface") descriptor.interface = 1;
  IF_NAMED ("newer-interface") descriptor.interface = 3;
  IF_NAMED ("other-kind") descriptor.kind = PLAIT_PLUGIN_ENCODER;
  IF_NAMED ("unknown-kind") descriptor.kind = 77;
  IF_NAMED ("other-name") descriptor.name = "another-name";
  IF_NAMED ("no-version") descriptor.version = NULL;
  IF_NAMED ("other-version") descriptor.version = "9.9";
  IF_NAMED ("no-bindings") descriptor.bindings = NULL;
  IF_NAMED ("many-bindings") descriptor.n_bindings = 100000;
  IF_NAMED ("no-settings") descriptor.settings_size = 0;
  IF_NAMED ("short-settings") descriptor.settings_size = sizeof (Settings) - 1;
  IF_NAMED ("huge-settings") descriptor.settings_size = (gsize)-1;
  IF_NAMED ("wild-pointer") descriptor.bindings = WILD_POINTER;
}

G_MODULE_EXPORT const PlaitPluginDescriptor *FAULTY_SYMBOL (void);

const PlaitPluginDescriptor *
FAULTY_SYMBOL (void)
{
  const char *name = own_name ();

  FAULTY_ENTRY;
  IF_NAMED ("entry-crashes") raise (SIGSEGV);
  IF_NAMED ("no-descriptor") return NULL;
  descriptor.name = name;
  spoil_layout (name);
  spoil_tables (name);
  spoil_descriptor (name);
  IF_NAMED ("later-another") return is_tried () ? &descriptor : NULL;
  return &descriptor;
}
