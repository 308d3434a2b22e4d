/* SPDX-License-Identifier: MIT */
#include "files/file-input.h"

#include "files/file-mark.h"

/* A file that was read. */
typedef struct
{
  PlaitFileMark mark;
  char *name;
} Input;

/* NULL before plait_file_input_guard. */
static GHashTable *inputs; /* of Input, by its mark */
static GHashTable *owned;  /* paths */
static GMutex mutex;

static guint
hash_mark (gconstpointer key)
{
  const PlaitFileMark *mark = key;

  return g_int64_hash (&mark->number) ^ g_int64_hash (&mark->device);
}

static gboolean
is_same_mark (gconstpointer a, gconstpointer b)
{
  return plait_file_mark_is (a, b);
}

static void
input_free (gpointer data)
{
  Input *input = data;

  g_free (input->name);
  g_free (input);
}

void
plait_file_input_guard (void)
{
  inputs = g_hash_table_new_full (hash_mark, is_same_mark, NULL, input_free);
  owned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

void
plait_file_input_note (int descriptor, const char *name)
{
  Input *input;

  if (!inputs)
    return;
  input = g_new (Input, 1);
  *input = (Input){ plait_file_mark_open (descriptor), g_strdup (name) };
  g_mutex_lock (&mutex);
  g_hash_table_replace (inputs, &input->mark, input);
  g_mutex_unlock (&mutex);
}

void
plait_file_input_own (const char *path)
{
  if (!owned)
    return;
  g_mutex_lock (&mutex);
  g_hash_table_add (owned, g_canonicalize_filename (path, NULL));
  g_mutex_unlock (&mutex);
}

gboolean
plait_file_input_check (const char *path, const char *name, GError **error)
{
  g_autofree char *canonical = g_canonicalize_filename (path, NULL);
  g_autofree char *called = g_canonicalize_filename (name, NULL);
  PlaitFileMark mark = plait_file_mark (path);
  const Input *input = NULL;

  if (!inputs || mark.number == 0)
    return TRUE;
  g_mutex_lock (&mutex);
  if (!g_hash_table_contains (owned, canonical) && !g_hash_table_contains (owned, called))
    input = g_hash_table_lookup (inputs, &mark);
  g_mutex_unlock (&mutex);
  return !input
         || plait_fail (error, PLAIT_ERROR_INPUT, "%s: is the same file as %s, which the command reads; name another",
                        name, input->name);
}
