/* SPDX-License-Identifier: MIT */
#include "files/input-guard.h"

#include "files/file-stamp.h"

/* A registered input file. */
typedef struct
{
  PlaitFileStamp stamp;
  char *name;
} Input;

/* The tables are NULL until plait_input_guard_enable. */
static GHashTable *inputs; /* stamp -> Input */
static GHashTable *owned;  /* paths that may be written */
static GMutex mutex;

static guint
hash_stamp (gconstpointer key)
{
  const PlaitFileStamp *stamp = key;

  return g_int64_hash (&stamp->number) ^ g_int64_hash (&stamp->device);
}

static gboolean
is_same_stamp (gconstpointer a, gconstpointer b)
{
  return plait_file_stamp_matches (a, b);
}

static void
input_free (gpointer data)
{
  Input *input = data;

  g_free (input->name);
  g_free (input);
}

void
plait_input_guard_enable (void)
{
  inputs = g_hash_table_new_full (hash_stamp, is_same_stamp, NULL, input_free);
  owned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

void
plait_input_guard_add (int descriptor, const char *name)
{
  if (!inputs)
    return;
  Input *input = g_new (Input, 1);
  *input = (Input){ plait_file_stamp_open (descriptor), g_strdup (name) };
  g_mutex_lock (&mutex);
  g_hash_table_replace (inputs, &input->stamp, input);
  g_mutex_unlock (&mutex);
}

void
plait_input_guard_allow (const char *path)
{
  if (!owned)
    return;
  g_mutex_lock (&mutex);
  g_hash_table_add (owned, g_canonicalize_filename (path, NULL));
  g_mutex_unlock (&mutex);
}

gboolean
plait_input_guard_check (const char *path, const char *name, GError **error)
{
  g_autofree char *canonical = g_canonicalize_filename (path, NULL);
  g_autofree char *called = g_canonicalize_filename (name, NULL);
  PlaitFileStamp stamp = plait_file_stamp (path);
  const Input *input = NULL;

  if (!inputs || stamp.number == 0)
    return TRUE;
  g_mutex_lock (&mutex);
  if (!g_hash_table_contains (owned, canonical) && !g_hash_table_contains (owned, called))
    input = g_hash_table_lookup (inputs, &stamp);
  g_mutex_unlock (&mutex);
  return !input
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: is the same file as %s, which the command reads; name another file", name, input->name);
}
