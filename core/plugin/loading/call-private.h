/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/internal.h"
#include "layers/parameter-set.h"
#include "loading/call.h"

/* Functions for the calls of all kinds of plugins. */

/* Returns the table of functions of the component's plugin. */
static inline gconstpointer
plait_call_table (const PlaitComponent *component)
{
  return component->plugin->descriptor->table;
}

/* The values that the host restores after a build. */
typedef struct
{
  PlaitCodeOwner caller;
  const char *prefix;
} PlaitCallBuilding;

/* Restores the code owner @before after a plugin's function @call, which returned @fits and set its error to @fault
 * (transfer full, or NULL). Returns @fits; if FALSE, the error is @fault with "@who: " before its message. If the
 * function returned TRUE and an error, or FALSE and no error, returns FALSE with PLAIT_ERROR_PLUGIN. */
gboolean plait_call_end (const PlaitInstance *instance, PlaitCodeOwner before, const char *call, gboolean fits,
                         GError *fault, const char *who, GError **error);

/* Initialises @instance with a zeroed state, and marks the build of its plugin as running; names of parameters must
 * begin with @prefix. Returns the values to restore. */
PlaitCallBuilding plait_call_begin_build (PlaitInstance *instance, const PlaitComponent *component, gsize state_size,
                                          PlaitParameters *parameters, const char *prefix);

/* Restores @before, and returns @good. */
gboolean plait_call_leave_build (PlaitCallBuilding before, PlaitParameters *parameters, gboolean good);

/* TRUE if @width is from @minimum to PLAIT_CALL_MAX_WIDTH. @what: name of the node with this width in the error, such
 * as "a summary". */
gboolean plait_call_check_width (const PlaitComponent *component, const char *what, gint64 width, gint64 minimum,
                                 GError **error);

/* Checks the results of a build: @built, @fault (transfer full, or NULL) and @parameters. The plugin stays the code
 * owner, because the host still reads the declarations of the plugin. */
gboolean plait_call_end_build (const PlaitInstance *instance, gboolean built, GError *fault,
                               const PlaitParameters *parameters, GError **error);

/* Stores @losses, as declared by the plugin, with copies of their names, and gives each a column. */
gboolean plait_call_take_losses (PlaitInstance *instance, const PlaitLosses *losses, PlaitParameters *parameters,
                                 PlaitLossColumns *columns, GError **error);

/* Makes the plugin the owner of the code that runs on @tape, in the function @call of its table. Returns the owner to
 * restore. */
PlaitCodeOwner plait_call_enter (const PlaitInstance *instance, PlaitTape *tape, const char *call);

/* Fails the step unless @node, which a plugin returned as @what, is [rows, width]. */
void plait_call_expect_node (PlaitTape *tape, const char *what, const PlaitNode *node, gint64 rows, gint64 width);
