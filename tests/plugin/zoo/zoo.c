/* SPDX-License-Identifier: MIT */
#include <fenv.h>
#include <signal.h>
#include <locale.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interface/plugin.h"

#include "zoo-settings.h"

/*
 * A combiner, encoder or coverage that each animal of the zoo spoils in one place, by defining one of the macros below
 * otherwise (see
 * ../meson.build).
 */
#ifndef ZOO_MAGIC
#define ZOO_MAGIC PLAIT_PLUGIN_MAGIC
#endif
#ifndef ZOO_SIZE
#define ZOO_SIZE sizeof (PlaitPluginDescriptor)
#endif
#ifndef ZOO_INTERFACE
#define ZOO_INTERFACE PLAIT_PLUGIN_INTERFACE
#endif
#ifndef ZOO_POINTER_SIZE
#define ZOO_POINTER_SIZE sizeof (void *)
#endif
#ifndef ZOO_SCALAR_SIZE
#define ZOO_SCALAR_SIZE sizeof (PlaitScalar)
#endif
#ifndef ZOO_PLACE
#define ZOO_PLACE -1
#endif
#define ZOO_STRUCT_SIZE(Struct, what) ((gint)PLAIT_PLUGIN_PLACE_##Struct == ZOO_PLACE ? 5 : sizeof (Struct)),
#ifdef ZOO_ENCODER
#define ZOO_KIND PLAIT_PLUGIN_ENCODER
#define ZOO_BUILD_ARGUMENTS                                                                                            \
  const PlaitEncoderBuild *from, gconstpointer settings, gpointer state, PlaitEncoderShape *shape, GError **error
#elif defined ZOO_COVERAGE
#define ZOO_KIND PLAIT_PLUGIN_COVERAGE
#define ZOO_BUILD_ARGUMENTS                                                                                            \
  const PlaitCoverageBuild *from, gconstpointer settings, gpointer state, PlaitCoverageShape *shape, GError **error
#else
#define ZOO_BUILD_ARGUMENTS PlaitSite *site, gconstpointer settings, gpointer state, GError **error
#endif
#ifndef ZOO_KIND
#define ZOO_KIND PLAIT_PLUGIN_COMBINER
#endif
#ifndef ZOO_VERSION
#define ZOO_VERSION "1.2.3"
#endif
#ifndef ZOO_BINDINGS
#define ZOO_BINDINGS plait_plugin_bindings
#endif
#ifndef ZOO_N_BINDINGS
#define ZOO_N_BINDINGS G_N_ELEMENTS (plait_plugin_bindings)
#endif
#ifndef ZOO_TABLE
#define ZOO_TABLE &table
#endif
#ifndef ZOO_BUILD
#define ZOO_BUILD build
#endif
#ifndef ZOO_COMBINE
#define ZOO_COMBINE combine
#endif
#ifndef ZOO_STATE
#define ZOO_STATE 0
#endif
#ifndef ZOO_PREPARED
#define ZOO_PREPARED NULL
#endif
#ifndef ZOO_ENCODE
#define ZOO_ENCODE encode
#endif
#ifndef ZOO_UPDATE
#define ZOO_UPDATE update
#endif
#ifndef ZOO_SYMBOL
#define ZOO_SYMBOL plait_plugin
#endif
#ifndef ZOO_RESULT
#define ZOO_RESULT &descriptor
#endif
#ifndef ZOO_ENTRY
#define ZOO_ENTRY
#endif

/* Whether the host tries the module in a child, which dies with its parent. */
G_GNUC_UNUSED static int
is_tried (void)
{
  int number = 0;

  prctl (PR_GET_PDEATHSIG, &number);
  return number != 0;
}

G_GNUC_UNUSED static gboolean
build (ZOO_BUILD_ARGUMENTS)
{
  return TRUE;
}

G_GNUC_UNUSED static PlaitStream
combine (PlaitSite *site, gconstpointer settings, gconstpointer state, PlaitStream x)
{
  return x;
}

G_GNUC_UNUSED static void
encode (gconstpointer settings, gconstpointer state, PlaitEncoding *encoding)
{
}

G_GNUC_UNUSED static PlaitNode *
update (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step)
{
  return step->state;
}

#ifdef ZOO_ENCODER
static const PlaitEncoderTable table = { .state_size = ZOO_STATE, .build = ZOO_BUILD, .encode = ZOO_ENCODE };
#elif defined ZOO_COVERAGE
static const PlaitCoverageTable table
    = { .state_size = ZOO_STATE, .build = ZOO_BUILD, .update = ZOO_UPDATE, .prepared_name = ZOO_PREPARED };
#else
G_GNUC_UNUSED static const PlaitCombinerTable table
    = { .state_size = ZOO_STATE, .build = ZOO_BUILD, .combine = ZOO_COMBINE };
#endif

G_GNUC_UNUSED static const PlaitPluginDescriptor descriptor = {
  .magic = ZOO_MAGIC,
  .size = ZOO_SIZE,
  .interface = ZOO_INTERFACE,
  .layout = { ZOO_POINTER_SIZE, ZOO_SCALAR_SIZE, { PLAIT_PLUGIN_STRUCTS (ZOO_STRUCT_SIZE) } },
  .kind = ZOO_KIND,
  .name = ZOO_NAME,
  .version = ZOO_VERSION,
  .settings_size = sizeof (Settings),
  .bindings = ZOO_BINDINGS,
  .n_bindings = ZOO_N_BINDINGS,
  .table = ZOO_TABLE,
};

G_MODULE_EXPORT const PlaitPluginDescriptor *ZOO_SYMBOL (void);

const PlaitPluginDescriptor *
ZOO_SYMBOL (void)
{
  ZOO_ENTRY;
  return ZOO_RESULT;
}

#ifdef ZOO_CONSTRUCTOR
__attribute__ ((constructor)) static void
construct (void)
{
  ZOO_CONSTRUCTOR;
}
#endif
