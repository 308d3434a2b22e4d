/* SPDX-License-Identifier: MIT */
#include "corpus/index.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/file-input.h"
#include "files/path.h"

#define LEAST (64 * 1024 * 1024)
#define SETTLED 2 /* seconds: the coarsest time of change of a file system that is in use */
#define FOLDER "plait-index"

PlaitIndex *
plait_index_new (PlaitLog *log)
{
  const char *place = g_getenv ("PLAIT_INDEX");
  PlaitIndex *index;

  if (g_strcmp0 (place, "none") == 0)
    return NULL;
  index = g_new0 (PlaitIndex, 1);
  index->folder = place && *place ? place : NULL;
  index->least = LEAST;
  index->settled = SETTLED;
  index->log = log;
  return index;
}

void
plait_index_free (PlaitIndex *index)
{
  g_free (index);
}

gboolean
plait_index_takes (const PlaitIndex *index, const char *text)
{
  struct stat status;

  return index && text && stat (text, &status) == 0 && S_ISREG (status.st_mode) && status.st_size >= index->least;
}

/* The folders where what is kept for @text may be, the best first. */
static GStrv
places (const PlaitIndex *index, const char *text)
{
  g_autofree char *beside = g_path_get_dirname (text);
  g_autofree char *cache = plait_path_user_folder ("XDG_CACHE_HOME", ".cache");
  GStrv folders = g_new0 (char *, 3);

  folders[0] = index->folder ? g_strdup (index->folder) : g_build_filename (beside, FOLDER, NULL);
  folders[1] = index->folder || !cache ? NULL : g_build_filename (cache, "plait", NULL);
  return folders;
}

char *
plait_index_find (const PlaitIndex *index, const char *text, const char *name)
{
  g_auto (GStrv) folders = places (index, text);

  for (guint i = 0; folders[i]; i++)
    {
      g_autofree char *path = g_build_filename (folders[i], name, NULL);

      if (access (path, R_OK) != 0)
        continue;
      utimensat (AT_FDCWD, path, NULL, 0); /* it is in use; not in a folder of somebody else */
      return g_steal_pointer (&path);
    }
  return NULL;
}

static void
tell_nothing_is_kept (const PlaitIndex *index, const char *text, const GError *error)
{
  plait_log_info (index->log,
                  "nothing is kept for %s, so that it is read again each time: %s (PLAIT_INDEX may name a folder)",
                  text, error->message);
}

PlaitFile *
plait_index_begin (const PlaitIndex *index, const char *text, const char *name)
{
  g_auto (GStrv) folders = places (index, text);
  g_autoptr (GError) error = NULL;
  PlaitFile *file = NULL;

  for (guint i = 0; folders[i] && !file; i++)
    {
      g_autofree char *path = g_build_filename (folders[i], name, NULL);

      g_clear_error (&error);
      g_mkdir_with_parents (folders[i], 0777);
      plait_file_input_own (path);
      file = plait_file_begin (path, &error);
    }
  if (!file)
    tell_nothing_is_kept (index, text, error);
  return file;
}

void
plait_index_keep (const PlaitIndex *index, const char *text, const char *name, gconstpointer bytes, gsize length)
{
  PlaitFile *file = plait_index_begin (index, text, name);
  g_autoptr (GError) error = NULL;

  if (file && !plait_file_finish (file, bytes, length, &error))
    tell_nothing_is_kept (index, text, error);
}

/*
 * Corpora
 */

/* The files of one corpus. */
typedef struct
{
  char *key;
  gint64 used; /* nanoseconds */
  gint64 bytes;
  GPtrArray *paths;
} Group;

static void
group_free (gpointer data)
{
  Group *group = data;

  g_free (group->key);
  g_ptr_array_unref (group->paths);
  g_free (group);
}

static int
last_used_first (gconstpointer a, gconstpointer b)
{
  const Group *x = *(Group *const *)a, *y = *(Group *const *)b;

  if (x->used != y->used)
    return x->used > y->used ? -1 : 1;
  return strcmp (x->key, y->key);
}

static Group *
find_group (GPtrArray *groups, const char *name)
{
  gsize length = strcspn (name, ".");
  Group *group;

  for (guint i = 0; i < groups->len; i++)
    if (strncmp (((Group *)groups->pdata[i])->key, name, length + 1) == 0)
      return groups->pdata[i];
  group = g_new0 (Group, 1);
  group->key = g_strdup_printf ("%.*s.", (int)length, name);
  group->paths = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (groups, group);
  return group;
}

void
plait_index_trim (const PlaitIndex *index, const char *kept)
{
  g_autofree char *folder = g_path_get_dirname (kept);
  g_autoptr (GDir) entries = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) groups = g_ptr_array_new_with_free_func (group_free);
  const char *name;

  while (entries && (name = g_dir_read_name (entries)))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      struct stat status;
      Group *group;

      if ((!g_str_has_suffix (name, PLAIT_INDEX_CORPUS) && !g_str_has_suffix (name, PLAIT_INDEX_IDS))
          || strcspn (name, ".") != PLAIT_DIGEST_LENGTH || stat (path, &status) != 0)
        continue;
      group = find_group (groups, name);
      group->used = MAX (group->used, status.st_mtim.tv_sec * G_GINT64_CONSTANT (1000000000) + status.st_mtim.tv_nsec);
      group->bytes += status.st_size;
      g_ptr_array_add (group->paths, g_steal_pointer (&path));
    }
  g_ptr_array_sort (groups, last_used_first);
  for (guint i = PLAIT_INDEX_CORPORA; i < groups->len; i++)
    {
      const Group *group = groups->pdata[i];
      g_autofree char *size = g_format_size ((guint64)group->bytes);

      for (guint k = 0; k < group->paths->len; k++)
        unlink (group->paths->pdata[k]);
      plait_log_info (index->log, "%s: removed the encoded corpus that was not used for longest (%s): the last %d stay",
                      folder, size, PLAIT_INDEX_CORPORA);
    }
}

/*
 * Digests
 */

#define DIGEST_ENDING ".digest"
#define DIGEST_LIMIT 65536 /* bytes, by far more than a path has */

/* What is kept of @text with @mark: all of it that tells the file, then the digest, then what seals both. */
static char *
describe (const char *text, const PlaitFileMark *mark, const char *digest)
{
  g_autofree char *line = g_strdup_printf (
      "plait digest 1\n%s\n%ju %ju %jd %jd.%09ld %jd.%09ld\n%s\n", text, mark->device, mark->number, mark->size,
      (gint64)mark->written.tv_sec, mark->written.tv_nsec, (gint64)mark->changed.tv_sec, mark->changed.tv_nsec, digest);
  g_autofree char *seal = plait_digest_bytes (line, strlen (line));

  return g_strconcat (line, seal, "\n", NULL);
}

/* The digest that is kept for @text with @mark, which stands between what tells the file and the seal. */
static gboolean
find_digest (const PlaitIndex *index, const char *text, const char *name, PlaitKnownText *known)
{
  g_autofree char *path = plait_index_find (index, text, name);
  g_autoptr (GBytes) bytes
      = path ? plait_file_read (path, PLAIT_FILE_REGULAR, DIGEST_LIMIT, "a digest that was kept", NULL) : NULL;
  g_autofree char *expected = NULL;
  gsize length = 0;
  const char *contents = bytes ? g_bytes_get_data (bytes, &length) : NULL;

  if (length < 2 * (PLAIT_DIGEST_LENGTH + 1))
    return FALSE;
  g_strlcpy (known->digest, contents + length - 2 * (PLAIT_DIGEST_LENGTH + 1), sizeof known->digest);
  expected = describe (text, &known->mark, known->digest);
  return strlen (expected) == length && memcmp (contents, expected, length) == 0;
}

gboolean
plait_index_digest (const PlaitIndex *index, const char *text, PlaitKnownText *known, GError **error)
{
  gboolean large = plait_index_takes (index, text);
  g_autofree char *whole = large ? g_canonicalize_filename (text, NULL) : NULL;
  g_autofree char *hash = large ? plait_digest_bytes (whole, strlen (whole)) : NULL;
  g_autofree char *name = large ? g_strconcat (hash, DIGEST_ENDING, NULL) : NULL;
  g_autofree char *digest = NULL;

  known->mark = plait_file_mark (text);
  if (large && find_digest (index, whole, name, known))
    return TRUE;
  digest = plait_digest_file (text, error);
  if (!digest)
    return FALSE;
  g_strlcpy (known->digest, digest, sizeof known->digest);
  /* A file that was written just now may be written again within the same tick of its clock. */
  if (large && plait_file_mark_check (&known->mark, text, NULL)
      && g_get_real_time () / G_USEC_PER_SEC - known->mark.changed.tv_sec >= index->settled)
    {
      g_autofree char *contents = describe (whole, &known->mark, digest);

      plait_index_keep (index, whole, name, contents, strlen (contents));
    }
  return TRUE;
}
