/* SPDX-License-Identifier: MIT */
#include "layers/parameter.h"

#include "autograd/internal.h"
#include "process/crash.h"
#include "text/error.h"
#include "files/memory.h"
#include "text/number.h"
#include "layers/parameter-set.h"

#include <math.h>
#include <string.h>

#define ALIGNMENT 64
#define ALIGNED_ELEMENTS ((gint64)(ALIGNMENT / sizeof (PlaitScalar)))

/* Greater numbers of elements are reduced to this number. No machine has memory for so many elements. */
#define MAX_ELEMENTS (G_MAXINT64 / 64)

#define MAX_NAME_LENGTH 1024

struct PlaitParameters
{
  GPtrArray *list;        /* element-type PlaitParameter *, in the order of declaration */
  GHashTable *names;      /* name -> PlaitParameter * */
  GPtrArray *memory;      /* blocks returned by plait_parameters_memory */
  GError *fault;          /* first fault that any thread recorded, or NULL */
  PlaitParameter refused; /* the parameter that a faulty declaration returns */
  PlaitScalar *values;
  PlaitScalar *gradients;
  gint64 n_elements; /* elements of values, including gaps */
  double norm_epsilon;
  const char *prefix; /* required beginning of names; NULL: any */
};

static gsize
bytes_of (gint64 n)
{
  return (gsize)MAX (n, 1) * sizeof (PlaitScalar);
}

static void
give_back (PlaitParameters *parameters)
{
  plait_pages_free (parameters->values, bytes_of (parameters->n_elements));
  plait_pages_free (parameters->gradients, bytes_of (parameters->n_elements));
  parameters->values = parameters->gradients = NULL;
}

static gint64
elements_of (const PlaitParameter *parameter)
{
  gint64 n;

  if (__builtin_mul_overflow (parameter->value.rows, parameter->value.width, &n))
    return MAX_ELEMENTS;
  return MIN (n, MAX_ELEMENTS);
}

static void
free_parameter (gpointer data)
{
  PlaitParameter *parameter = data;

  plait_packed_free (parameter->packed);
  g_free ((char *)parameter->name);
  g_free (parameter);
}

PlaitParameters *
plait_parameters_new (void)
{
  PlaitParameters *parameters = g_new0 (PlaitParameters, 1);

  parameters->list = g_ptr_array_new_with_free_func (free_parameter);
  parameters->names = g_hash_table_new (g_str_hash, g_str_equal);
  parameters->memory = g_ptr_array_new_with_free_func (g_free);
  parameters->norm_epsilon = 1e-6;
  return parameters;
}

static void note_fault (PlaitParameters *parameters, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* TRUE if a plugin calls @function, which only the host may call; then also records a fault. */
static gboolean
is_not_for (PlaitParameters *parameters, const char *function)
{
  if (!plait_crash_get_owner ().who)
    return FALSE;
  note_fault (parameters, "calls %s, which only the host may call: remove the call", function);
  return TRUE;
}

void
plait_parameters_free (PlaitParameters *parameters)
{
  if (!parameters || is_not_for (parameters, G_STRFUNC))
    return;
  g_hash_table_unref (parameters->names);
  g_ptr_array_unref (parameters->list);
  g_ptr_array_unref (parameters->memory);
  g_clear_error (&parameters->fault);
  give_back (parameters);
  g_free (parameters);
}

static void
note_fault (PlaitParameters *parameters, const char *format, ...)
{
  PlaitCodeOwner caller = plait_crash_get_owner ();
  va_list arguments;
  GError *fault;

  va_start (arguments, format);
  fault = g_error_new_valist (PLAIT_ERROR, PLAIT_ERROR_PLUGIN, format, arguments);
  va_end (arguments);
  if (caller.who)
    g_prefix_error (&fault, "%s, %s: ", caller.who, caller.call);
  if (!g_atomic_pointer_compare_and_exchange (&parameters->fault, NULL, fault))
    g_error_free (fault);
}

void
plait_parameters_expect_failed (PlaitParameters *parameters, const char *function, const char *condition)
{
  note_fault (parameters, "%s was called with wrong arguments: it needs %s", function, condition);
}

void
plait_parameters_set_norm_epsilon (PlaitParameters *parameters, double epsilon)
{
  parameters->norm_epsilon = epsilon;
}

double
plait_parameters_norm_epsilon (const PlaitParameters *parameters)
{
  return parameters->norm_epsilon;
}

gboolean
plait_parameters_check (const PlaitParameters *parameters, GError **error)
{
  const GError *fault = g_atomic_pointer_get (&((PlaitParameters *)parameters)->fault);

  if (fault && error)
    *error = g_error_copy (fault);
  return !fault;
}

static gboolean
is_name (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", -1);

  for (guint i = 0; parts[i]; i++)
    if (*parts[i] == '\0' || g_str_equal (parts[i], ".") || g_str_equal (parts[i], ".."))
      return FALSE;
  for (const char *p = name; *p != '\0'; p++)
    if (g_ascii_iscntrl (*p))
      return FALSE;
  return parts[0] && strlen (name) <= MAX_NAME_LENGTH;
}

const char *
plait_parameters_set_prefix (PlaitParameters *parameters, const char *prefix)
{
  const char *before = parameters->prefix;

  parameters->prefix = prefix;
  return before;
}

/* TRUE if @initial fits the shape; if not, records a fault. */
static gboolean
can_begin (PlaitParameters *parameters, const char *name, gint64 rows, gint64 width, const PlaitInitial *initial)
{
  gint64 blocks = MAX (initial->blocks, 1), stacked = MAX (initial->stacked, 1);
  gboolean orthogonal = initial->kind == PLAIT_INITIAL_ORTHOGONAL;
  char digits[PLAIT_NUMBER_LENGTH];

  if ((guint)initial->kind > PLAIT_INITIAL_ORTHOGONAL)
    note_fault (
        parameters,
        "the parameter %s has initial values of kind %u, which does not exist: use a macro such as PLAIT_GLOROT", name,
        (guint)initial->kind);
  else if (!isfinite (initial->size) || (initial->size < 0 && initial->kind != PLAIT_INITIAL_BLOCKS))
    note_fault (parameters, "the parameter %s has initial values of size %s: give a finite number, not below 0", name,
                plait_format_double (digits, initial->size));
  else if (width % blocks != 0 || rows % stacked != 0)
    note_fault (parameters,
                "the parameter %s [%jd, %jd] cannot be divided into %jd blocks side by side and %jd above one another: "
                "give numbers that divide its columns and rows",
                name, rows, width, blocks, stacked);
  else if (initial->kind == PLAIT_INITIAL_BLOCKS && (initial->first > initial->last || initial->last >= blocks))
    note_fault (parameters,
                "the parameter %s has initial values in blocks %u to %u, but has %jd blocks: give blocks that exist, "
                "in ascending order from 0",
                name, initial->first, initial->last, blocks);
  else if (orthogonal && width / blocks != rows / stacked)
    note_fault (parameters,
                "the parameter %s [%jd, %jd] has orthogonal initial values, but its blocks are not square: make them "
                "square, or choose other initial values",
                name, rows, width);
  else
    return TRUE;
  return FALSE;
}

/* TRUE if the parameter may be declared; if not, records a fault. */
static gboolean
can_declare (PlaitParameters *parameters, const char *name, gint64 rows, gint64 width)
{
  if (parameters->values)
    note_fault (parameters, "the parameter \"%s\" is declared while the model runs: declare it in build", name);
  else if (!name || !is_name (name))
    note_fault (
        parameters,
        "\"%s\" is not a valid name for a parameter: give parts between slashes, none of them empty, \".\" or \"..\"",
        name ? name : "");
  else if (rows < 1 || width < 1)
    note_fault (parameters, "the parameter %s is declared as [%jd, %jd]: give it at least one row and one column", name,
                rows, width);
  else if (plait_crash_get_owner ().who && rows > MAX_ELEMENTS / width)
    note_fault (
        parameters,
        "the parameter %s is declared as [%jd, %jd], which no machine has memory for: make the parameter smaller", name,
        rows, width);
  else if (parameters->prefix && !g_str_has_prefix (name, parameters->prefix))
    note_fault (parameters,
                "the parameter %s is declared, but its name must begin with %s: put this prefix before the name", name,
                parameters->prefix);
  else if (g_hash_table_contains (parameters->names, name))
    note_fault (parameters, "the parameter %s is declared twice: give the two different names", name);
  else
    return TRUE;
  return FALSE;
}

PlaitParameter *
plait_parameters_declare (PlaitParameters *parameters, const char *name, gint64 rows, gint64 width,
                          PlaitInitial initial)
{
  PlaitParameter *parameter;

  if (!can_declare (parameters, name, rows, width) || !can_begin (parameters, name, rows, width, &initial))
    return &parameters->refused;
  parameter = g_new0 (PlaitParameter, 1);
  parameter->name = g_strdup (name);
  parameter->value = plait_tensor (NULL, rows, width);
  parameter->gradient = plait_tensor (NULL, rows, width);
  parameter->initial = initial;
  g_ptr_array_add (parameters->list, parameter);
  g_hash_table_insert (parameters->names, (gpointer)parameter->name, parameter);
  return parameter;
}

void
plait_parameters_use (PlaitParameters *parameters, PlaitParameter *parameter, PlaitParameterUse use)
{
  parameter->use = use;
}

gpointer
plait_parameters_memory (PlaitParameters *parameters, gsize size)
{
  gpointer memory = g_malloc0 (MAX (size, 1));

  g_ptr_array_add (parameters->memory, memory);
  return memory;
}

const char *
plait_parameters_text (PlaitParameters *parameters, const char *text)
{
  return strcpy (plait_parameters_memory (parameters, strlen (text) + 1), text);
}

/* Sets the offsets of all parameters. Returns the number of elements, including gaps. */
static gint64
place (PlaitParameters *parameters)
{
  gint64 offset = 0;

  for (guint i = 0; i < parameters->list->len; i++)
    {
      PlaitParameter *parameter = parameters->list->pdata[i];
      gint64 n = elements_of (parameter);

      parameter->offset = offset;
      offset = MIN (offset + (n + ALIGNED_ELEMENTS - 1) / ALIGNED_ELEMENTS * ALIGNED_ELEMENTS, MAX_ELEMENTS);
    }
  return offset;
}

gboolean
plait_parameters_allocate (PlaitParameters *parameters, GError **error)
{
  is_not_for (parameters, G_STRFUNC);
  if (!plait_parameters_check (parameters, error))
    return FALSE;
  g_assert (!parameters->values);
  parameters->n_elements = place (parameters);
  parameters->values = plait_pages_allocate (bytes_of (parameters->n_elements));
  parameters->gradients = plait_pages_allocate (bytes_of (parameters->n_elements));
  if (!parameters->values || !parameters->gradients)
    {
      give_back (parameters);
      return plait_fail (error, PLAIT_ERROR_MEMORY,
                         "there is no memory for %jd parameters and their gradients (%jd bytes); lower decoder.width, "
                         "decoder.layers, decoder.feed_forward or data.vocabulary_size",
                         parameters->n_elements, 2 * parameters->n_elements * (gint64)sizeof (PlaitScalar));
    }

  for (guint i = 0; i < parameters->list->len; i++)
    {
      PlaitParameter *parameter = parameters->list->pdata[i];

      parameter->value.data = parameters->values + parameter->offset;
      parameter->gradient.data = parameters->gradients + parameter->offset;
    }
  return TRUE;
}

guint
plait_parameters_n (const PlaitParameters *parameters)
{
  return parameters->list->len;
}

PlaitParameter *
plait_parameters_get (const PlaitParameters *parameters, guint i)
{
  g_assert (i < parameters->list->len);
  return parameters->list->pdata[i];
}

PlaitParameter *
plait_parameters_find (const PlaitParameters *parameters, const char *name)
{
  return g_hash_table_lookup (parameters->names, name);
}

gint64
plait_parameters_count (const PlaitParameters *parameters, const char *prefix)
{
  gint64 n = 0;

  for (guint i = 0; i < parameters->list->len; i++)
    {
      const PlaitParameter *parameter = parameters->list->pdata[i];

      if (!prefix || g_str_has_prefix (parameter->name, prefix))
        n = MIN (n + elements_of (parameter), MAX_ELEMENTS);
    }
  return n;
}

PlaitTensor
plait_parameters_values (const PlaitParameters *parameters)
{
  g_assert (parameters->values != NULL);
  return plait_tensor (parameters->values, 1, parameters->n_elements);
}

PlaitTensor
plait_parameters_write_values (PlaitParameters *parameters)
{
  for (guint i = 0; i < parameters->list->len; i++)
    {
      PlaitParameter *parameter = parameters->list->pdata[i];

      g_clear_pointer (&parameter->packed, plait_packed_free);
    }
  return plait_parameters_values (parameters);
}

PlaitTensor
plait_parameters_gradients (const PlaitParameters *parameters)
{
  g_assert (parameters->gradients != NULL);
  return plait_tensor (parameters->gradients, 1, parameters->n_elements);
}

void
plait_parameters_zero_gradients (PlaitParameters *parameters)
{
  memset (parameters->gradients, 0, sizeof (PlaitScalar) * (gsize)parameters->n_elements);
}

gboolean
plait_precision_check (PlaitPrecision precision, GError **error)
{
  if (plait_precision_runs_here (precision))
    return TRUE;
  if (precision == PLAIT_PRECISION_BFLOAT16)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "train.precision=bfloat16 needs a processor with AVX512-BF16%s; here, set train.precision=float, or "
        "train.precision=bfloat16_emulated, which is slower than float but gives the numbers of bfloat16",
        sizeof (PlaitScalar) == sizeof (float) ? "" : " and a build with float scalars");
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "decode.precision=int8 needs a processor with AVX-512 VNNI, which this one lacks; use "
                     "decode.precision=float");
}

gboolean
plait_parameters_pack (PlaitParameters *parameters, PlaitPool *pool, PlaitPrecision precision, GError **error)
{
  if (!plait_precision_check (precision, error))
    return FALSE;
  for (guint i = 0; i < parameters->list->len; i++)
    {
      PlaitParameter *parameter = parameters->list->pdata[i];

      PlaitPrecision own = parameter->use == PLAIT_USE_STEP ? PLAIT_PRECISION_FLOAT : precision;

      if (parameter->use == PLAIT_USE_OTHER || (parameter->packed && plait_packed_precision (parameter->packed) == own))
        continue;
      g_clear_pointer (&parameter->packed, plait_packed_free);
      parameter->packed = plait_pack (pool, parameter->value, parameter->use == PLAIT_USE_TABLE, own);
      if (!parameter->packed)
        return plait_fail (error, PLAIT_ERROR_MEMORY,
                           "there is no memory for a copy of the parameter %s (%jd elements) laid out for search; free "
                           "memory on this machine or use a smaller model",
                           parameter->name, parameter->value.rows * parameter->value.width);
    }
  return TRUE;
}

PlaitNode *
plait_parameter_node (PlaitTape *tape, const PlaitParameter *parameter)
{
  const PlaitPacked *panels;

  plait_tape_expect (tape, parameter && parameter->value.data);
  panels = parameter->use != PLAIT_USE_TABLE ? parameter->packed : NULL;
  return plait_tape_keyed_leaf (tape, parameter, parameter->value, &parameter->gradient, panels);
}

PlaitNode *
plait_parameter_node_if_any (PlaitTape *tape, const PlaitParameter *parameter)
{
  return !parameter ? NULL : plait_parameter_node (tape, parameter);
}
