/* SPDX-License-Identifier: MIT */
#include "loading/registry.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/crash.h"
#include "process/process-state.h"
#include "files/transfer.h"
#include "layers/layers.h"

/* Bounds on the numbers in a descriptor, far above those of real plugins. */
#define MAX_BINDINGS 256
#define MAX_SETTINGS_SIZE ((gsize)1 << 20)
#define MAX_STATE_SIZE ((gsize)1 << 24)

static gboolean refuse (const char *path, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);

static gboolean
refuse (const char *path, GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_autofree char *reason = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s: %s", path, reason);
}

/* Compares one size of the layout: @found in the module, @expected in this build. */
static gboolean
check_layout_field (const char *path, const char *what, guint32 found, guint32 expected, const char *remedy,
                    GError **error)
{
  if (found == expected)
    return TRUE;
  return refuse (path, error, "was built with %s of %u bytes, but this plait has %u; %s", what, found, expected,
                 remedy);
}

#define STRUCT_NAME(Struct, what) what,

static gboolean
check_layout (const char *path, const PlaitPluginLayout *found, GError **error)
{
  static const PlaitPluginLayout expected = PLAIT_PLUGIN_LAYOUT;
  static const char *const names[] = { PLAIT_PLUGIN_STRUCTS (STRUCT_NAME, STRUCT_NAME) };

  if (!check_layout_field (path, "a pointer", found->pointer_size, expected.pointer_size,
                           "rebuild the plugin for this machine", error)
      || !check_layout_field (path, "a scalar", found->scalar_size, expected.scalar_size,
                              expected.scalar_size == sizeof (float)
                                  ? "rebuild the plugin without PLAIT_SCALAR_DOUBLE"
                                  : "rebuild the plugin with PLAIT_SCALAR_DOUBLE defined",
                              error))
    return FALSE;
  for (guint i = 0; i < PLAIT_PLUGIN_N_STRUCTS; i++)
    if (found->struct_sizes[i] != 0
        && !check_layout_field (path, names[i], found->struct_sizes[i], expected.struct_sizes[i],
                                "rebuild the plugin with the headers of this plait", error))
      return FALSE;
  return TRUE;
}

static const PlaitBinding *
find_binding (const PlaitPluginDescriptor *descriptor, const char *name)
{
  for (guint i = 0; i < descriptor->n_bindings; i++)
    if (g_str_equal (descriptor->bindings[i].name, name))
      return &descriptor->bindings[i];
  return NULL;
}

/* Returns the size of the struct field that receives a parameter of type @type. */
static gsize
field_size (PlaitSettingType type)
{
  switch (type)
    {
    case PLAIT_SETTING_INTEGER:
      return sizeof (gint64);
    case PLAIT_SETTING_REAL:
      return sizeof (double);
    case PLAIT_SETTING_BOOLEAN:
    case PLAIT_SETTING_CHOICE:
      return sizeof (gint);
    case PLAIT_SETTING_TEXT:
    case PLAIT_SETTING_LIST:
      break;
    }
  return sizeof (const char *);
}

/* Checks that the fields that receive parameters lie within the struct of settings. The types of @descriptor's bindings
 * must be valid. */
static gboolean
check_settings_size (const char *path, const PlaitPluginDescriptor *descriptor, GError **error)
{
  gsize size = descriptor->settings_size;

  if (size > MAX_SETTINGS_SIZE)
    return refuse (path, error, "asks for settings of %zu bytes, but at most %zu are allowed; make them smaller", size,
                   MAX_SETTINGS_SIZE);
  for (guint i = 0; i < descriptor->n_bindings; i++)
    {
      const PlaitBinding *binding = &descriptor->bindings[i];
      gsize field = field_size (binding->type);

      if (field > size || binding->offset > size - field || binding->offset % field != 0)
        return refuse (path, error,
                       "puts the parameter \"%s\" at byte %zu of its settings of %zu bytes, where it has no room or is "
                       "not aligned; define the plugin with PLAIT_PLUGIN_DEFINE",
                       binding->name, binding->offset, size);
    }
  return TRUE;
}

/* Refuses a module whose parameters have other names, types or choices than the parameters of @schema, which lies next
 * to the module. Also checks the sizes and offsets in @descriptor. */
static gboolean
check_bindings (const char *path, const PlaitPluginDescriptor *descriptor, const PlaitSchema *schema, GError **error)
{
  if (descriptor->n_bindings > MAX_BINDINGS || (descriptor->n_bindings > 0 && !descriptor->bindings))
    return refuse (path, error,
                   "claims %u parameters%s; define the plugin with PLAIT_PLUGIN_DEFINE and at most %d parameters",
                   descriptor->n_bindings, !descriptor->bindings ? " but has no table of them" : "", MAX_BINDINGS);
  for (guint i = 0; i < schema->n_parameters; i++)
    {
      const PlaitSettingSpecification *parameter = schema->parameters[i];
      const PlaitBinding *binding = find_binding (descriptor, parameter->name);
      const char *choices = binding && binding->choices ? binding->choices : "";

      if (!binding)
        return refuse (path, error, "was built without the parameter \"%s\" of %s; build it again from this schema",
                       parameter->name, schema->path);
      if (binding->type != parameter->type)
        return refuse (
            path, error,
            "was built with type=%s for the parameter \"%s\", but %s says type=%s; build it again from this schema",
            plait_setting_type_name (binding->type), parameter->name, schema->path,
            plait_setting_type_name (parameter->type));
      if (!g_str_equal (choices, parameter->choices ? parameter->choices : ""))
        return refuse (path, error,
                       "was built with choices=%s for the parameter \"%s\", but %s says choices=%s; build it again "
                       "from this schema",
                       choices, parameter->name, schema->path, parameter->choices ? parameter->choices : "");
    }
  for (guint i = 0; i < descriptor->n_bindings; i++)
    if (!plait_schema_parameter (schema, descriptor->bindings[i].name))
      return refuse (path, error,
                     "was built with the parameter \"%s\", which %s does not describe; build it again from this schema",
                     descriptor->bindings[i].name, schema->path);
  return check_settings_size (path, descriptor, error);
}

/* Sets *state_size to the state size in @descriptor's table. Returns the name of the first required function that is
 * NULL, or NULL if the table is complete. */
static const char *
look_at_table (const PlaitPluginDescriptor *descriptor, gsize *state_size)
{
  const PlaitEncoderTable *encoder = descriptor->table;
  const PlaitCombinerTable *combiner = descriptor->table;
  const PlaitCoverageTable *coverage = descriptor->table;
  const PlaitOutputTable *output = descriptor->table;
  const PlaitDecoderTable *decoder = descriptor->table;

  switch (descriptor->kind)
    {
    case PLAIT_PLUGIN_ENCODER:
      *state_size = encoder->state_size;
      return !encoder->build ? "build" : !encoder->encode ? "encode" : NULL;
    case PLAIT_PLUGIN_COMBINER:
      *state_size = combiner->state_size;
      return !combiner->build ? "build" : !combiner->combine ? "combine" : NULL;
    case PLAIT_PLUGIN_COVERAGE:
      *state_size = coverage->state_size;
      return !coverage->build ? "build" : !coverage->update ? "update" : NULL;
    case PLAIT_PLUGIN_OUTPUT:
      *state_size = output->state_size;
      return !output->build ? "build" : !output->output ? "output" : NULL;
    case PLAIT_PLUGIN_DECODER:
      *state_size = decoder->state_size;
      return !decoder->build ? "build" : !decoder->decode ? "decode" : NULL;
    }
  return NULL;
}

/* TRUE if dumps of coverage use @name for another dataset or attribute, or if @name ends in _shape, _labels or
 * _offsets. */
static gboolean
is_taken (const char *name)
{
  static const char *const taken[] = { "accumulated", "state", "sentence", "title", "row", "target", "unit", NULL };
  static const char *const endings[] = { "_offsets", "_shape", "_labels" };

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (name, endings[i]))
      return TRUE;
  return g_strv_contains (taken, name);
}

/* Checks @name, the prepared_name of a coverage. */
static gboolean
check_prepared_name (const char *path, const char *name, GError **error)
{
  if (name && !plait_name_is_valid (name))
    return refuse (path, error, "its prepared_name is \"%s\", which is not a valid name; give " PLAIT_NAME_FORM, name);
  if (name && is_taken (name))
    return refuse (path, error, "its prepared_name is \"%s\", which dumps use for something else; choose another name",
                   name);
  return TRUE;
}

static gboolean
check_table (const char *path, const PlaitPluginDescriptor *descriptor, GError **error)
{
  const char *missing;
  gsize state_size = 0;

  if (!descriptor->table)
    return refuse (path, error, "has no table of functions; define it with the PLAIT_PLUGIN_DEFINE macro");
  missing = look_at_table (descriptor, &state_size);
  if (missing)
    return refuse (path, error, "has no function \"%s\" in its table; every %s needs one", missing,
                   plait_plugin_kind_name (descriptor->kind));
  if (state_size > MAX_STATE_SIZE)
    return refuse (path, error, "asks for a state of %zu bytes, but at most %zu are allowed; make it smaller",
                   state_size, MAX_STATE_SIZE);
  return descriptor->kind != PLAIT_PLUGIN_COVERAGE
         || check_prepared_name (path, ((const PlaitCoverageTable *)descriptor->table)->prepared_name, error);
}

/* Compares @descriptor, from the module @path, with this build and with @schema. Magic, interface and size come first:
 * they say whether the other fields can be read. */
static gboolean
check (const char *path, const PlaitPluginDescriptor *descriptor, const PlaitSchema *schema, GError **error)
{
  if (!descriptor)
    return refuse (path, error, "its function %s gave no descriptor; define it with the PLAIT_PLUGIN_DEFINE macro",
                   PLAIT_PLUGIN_SYMBOL);
  if (descriptor->magic != PLAIT_PLUGIN_MAGIC)
    return refuse (path, error,
                   "its descriptor begins with 0x%08x instead of 0x%08x, so it is not a plait plugin; define it with a "
                   "PLAIT_PLUGIN_DEFINE macro",
                   descriptor->magic, PLAIT_PLUGIN_MAGIC);
  if (descriptor->interface > PLAIT_PLUGIN_INTERFACE)
    return refuse (path, error,
                   "was built for plugin interface %u, but this plait has %d; update plait, or take an older plugin",
                   descriptor->interface, PLAIT_PLUGIN_INTERFACE);
  if (descriptor->interface < PLAIT_PLUGIN_INTERFACE)
    return refuse (
        path, error,
        "was built for plugin interface %u, but this plait has %d, in which combiners have a state, coverages fill a "
        "shape, and losses are declared; change the plugin as core/plugin/interface/plugin.h says, and build it again",
        descriptor->interface, PLAIT_PLUGIN_INTERFACE);
  if (descriptor->size != sizeof (PlaitPluginDescriptor))
    return refuse (
        path, error,
        "its descriptor has %u bytes, but this plait expects %zu; rebuild the plugin with the headers of this plait",
        descriptor->size, sizeof (PlaitPluginDescriptor));
  if (!check_layout (path, &descriptor->layout, error))
    return FALSE;
  if ((guint)descriptor->kind >= PLAIT_PLUGIN_KINDS)
    return refuse (path, error, "is a plugin of kind number %u, which this plait does not know; update plait",
                   (guint)descriptor->kind);
  if (descriptor->kind != schema->kind)
    return refuse (path, error,
                   "says that its kind is %s, but %s says %s; put both files into the folder of the right kind",
                   plait_plugin_kind_name (descriptor->kind), schema->path, plait_plugin_kind_name (schema->kind));
  if (g_strcmp0 (descriptor->name, schema->name) != 0)
    return refuse (path, error, "calls itself \"%s\", but its file and %s say \"%s\"; give all three the same name",
                   descriptor->name ? descriptor->name : "", schema->path, schema->name);
  if (!descriptor->version || *descriptor->version == '\0')
    return refuse (path, error, "has no version; give one in its schema, and build it again");
  if (schema->version && !g_str_equal (schema->version, descriptor->version))
    return refuse (path, error, "is version %s, but %s describes version %s; install both from one build",
                   descriptor->version, schema->path, schema->version);
  return check_table (path, descriptor, error) && check_bindings (path, descriptor, schema, error);
}

/* Checks the module's file before the dynamic loader opens it. */
static gboolean
check_file (const char *path, GError **error)
{
  unsigned char head[EI_NIDENT];
  struct stat status;
  int fd = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));

  if (fd < 0)
    {
      int why = errno;

      if (why == ENOENT)
        return refuse (path, error, PLAIT_MODULE_MISSING);
      return refuse (path, error, "cannot be opened: %s; make the file readable", g_strerror (why));
    }
  gssize n = fstat (fd, &status) == 0 && S_ISREG (status.st_mode) ? plait_read_at (fd, head, sizeof head, 0) : -1;
  close (fd);
  if (n < 0)
    return refuse (path, error, "is not an ordinary file; put the plugin's module there");
  if (n == 0)
    return refuse (path, error, "is empty; build or install the module again");
  if (n < (gssize)sizeof head || memcmp (head, ELFMAG, SELFMAG) != 0)
    return refuse (path, error, "is not a shared library (it does not begin as an ELF file); build the module again");
  return TRUE;
}

typedef struct
{
  const char *path;
  const PlaitSchema *schema;
  const PlaitPluginDescriptor *descriptor;
} Loading;

/* Opens the module, calls its entry function and checks the descriptor. */
static gboolean
open_module (Loading *loading, GError **error)
{
  GModule *module = g_module_open (loading->path, G_MODULE_BIND_LOCAL);
  gpointer symbol = NULL;

  if (!module)
    return refuse (loading->path, error, "cannot be loaded (%s); rebuild the plugin against this plait",
                   g_module_error ());
  g_module_make_resident (module);
  if (!g_module_symbol (module, PLAIT_PLUGIN_SYMBOL, &symbol) || !symbol)
    return refuse (loading->path, error,
                   "has no function %s, so it is not a plait plugin; define it with the PLAIT_PLUGIN_DEFINE macro",
                   PLAIT_PLUGIN_SYMBOL);
  loading->descriptor = ((PlaitPluginEntry)symbol) ();
  return check (loading->path, loading->descriptor, loading->schema, error);
}

/* Loads the module. Called in the sandbox first, then in this process, where the module may behave differently. Refuses
 * a module whose loading changes the process. */
static gboolean
load (gpointer data, GError **error)
{
  Loading *loading = data;
  PlaitProcessState state;
  const char *changed;
  gboolean good;

  plait_process_state_save (&state);
  good = open_module (loading, error);
  changed = plait_process_state_restore (&state);
  return good
         && (!changed
             || refuse (loading->path, error,
                        "changes %s of the process while it is loaded; do not change it in constructors or by options "
                        "of the linker (such as -ffast-math)",
                        changed));
}

const PlaitPluginDescriptor *
plait_plugin_module_open (const char *path, const PlaitSchema *schema, PlaitSandboxLimits limits, GError **error)
{
  Loading loading = { path, schema, NULL };
  g_autofree char *what = g_strdup_printf ("%s: its code", path);
  PlaitCodeOwner before;
  gboolean loaded;

  if (!check_file (path, error) || !plait_sandbox_run (what, PLAIT_ERROR_PLUGIN, load, &loading, limits, error))
    return NULL;
  before = plait_crash_set_owner ((PlaitCodeOwner){ path, "loading" });
  loaded = load (&loading, error);
  plait_crash_set_owner (before);
  return loaded ? loading.descriptor : NULL;
}
