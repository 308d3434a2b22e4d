/* SPDX-License-Identifier: MIT */
#include "corpus/text-cache.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/input-guard.h"
#include "files/path.h"

#define MIN_BYTES (64 * 1024 * 1024)
#define MIN_AGE 2 /* seconds: the coarsest resolution of timestamps in file systems in use */
#define FOLDER "plait-index"

PlaitTextCache *
plait_text_cache_new (PlaitLog *log)
{
  const char *place = g_getenv ("PLAIT_INDEX");
  PlaitTextCache *text_cache;

  if (g_strcmp0 (place, "none") == 0)
    return NULL;
  text_cache = g_new0 (PlaitTextCache, 1);
  text_cache->folder = place && *place ? place : NULL;
  text_cache->min_bytes = MIN_BYTES;
  text_cache->min_age = MIN_AGE;
  text_cache->log = log;
  return text_cache;
}

void
plait_text_cache_free (PlaitTextCache *text_cache)
{
  g_free (text_cache);
}

gboolean
plait_text_cache_accepts (const PlaitTextCache *text_cache, const char *text)
{
  struct stat status;

  return text_cache && text && stat (text, &status) == 0 && S_ISREG (status.st_mode)
         && status.st_size >= text_cache->min_bytes;
}

/* Returns the folders in which a cache of @text may be, best first. (transfer full) */
static GStrv
cache_folders (const PlaitTextCache *text_cache, const char *text)
{
  g_autofree char *beside = g_path_get_dirname (text);
  g_autofree char *cache = plait_path_user_folder ("XDG_CACHE_HOME", ".cache");
  GStrv folders = g_new0 (char *, 3);

  folders[0] = text_cache->folder ? g_strdup (text_cache->folder) : g_build_filename (beside, FOLDER, NULL);
  folders[1] = text_cache->folder || !cache ? NULL : g_build_filename (cache, "plait", NULL);
  return folders;
}

char *
plait_text_cache_find (const PlaitTextCache *text_cache, const char *text, const char *name)
{
  g_auto (GStrv) folders = cache_folders (text_cache, text);

  for (guint i = 0; folders[i]; i++)
    {
      g_autofree char *path = g_build_filename (folders[i], name, NULL);

      if (access (path, R_OK) != 0)
        continue;
      utimensat (AT_FDCWD, path, NULL, 0); /* updates the time of last use; may fail in another user's folder */
      return g_steal_pointer (&path);
    }
  return NULL;
}

static void
log_not_cached (const PlaitTextCache *text_cache, const char *text, const GError *error)
{
  plait_log_info (text_cache->log,
                  "%s cannot be cached, so each run reads it again; set PLAIT_INDEX to another folder for the cache. "
                  "The reason: %s",
                  text, error->message);
}

PlaitFile *
plait_text_cache_begin (const PlaitTextCache *text_cache, const char *text, const char *name)
{
  g_auto (GStrv) folders = cache_folders (text_cache, text);
  g_autoptr (GError) error = NULL;
  PlaitFile *file = NULL;

  for (guint i = 0; folders[i] && !file; i++)
    {
      g_autofree char *path = g_build_filename (folders[i], name, NULL);

      g_clear_error (&error);
      g_mkdir_with_parents (folders[i], 0777);
      plait_input_guard_allow (path);
      file = plait_file_begin (path, &error);
    }
  if (!file)
    log_not_cached (text_cache, text, error);
  return file;
}

void
plait_text_cache_store (const PlaitTextCache *text_cache, const char *text, const char *name, gconstpointer bytes,
                        gsize length)
{
  PlaitFile *file = plait_text_cache_begin (text_cache, text, name);
  g_autoptr (GError) error = NULL;

  if (file && !plait_file_finish (file, bytes, length, &error))
    log_not_cached (text_cache, text, error);
}

/* The cached files of one corpus. */
typedef struct
{
  char *key;
  gint64 used; /* time of last use, in nanoseconds */
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
plait_text_cache_trim (const PlaitTextCache *text_cache, const char *kept)
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

      if ((!g_str_has_suffix (name, PLAIT_TEXT_CACHE_CORPUS_SUFFIX)
           && !g_str_has_suffix (name, PLAIT_TEXT_CACHE_IDS_SUFFIX))
          || strcspn (name, ".") != PLAIT_DIGEST_LENGTH || stat (path, &status) != 0)
        continue;
      group = find_group (groups, name);
      group->used = MAX (group->used, status.st_mtim.tv_sec * G_GINT64_CONSTANT (1000000000) + status.st_mtim.tv_nsec);
      group->bytes += status.st_size;
      g_ptr_array_add (group->paths, g_steal_pointer (&path));
    }
  g_ptr_array_sort (groups, last_used_first);
  for (guint i = PLAIT_TEXT_CACHE_CORPORA; i < groups->len; i++)
    {
      const Group *group = groups->pdata[i];
      g_autofree char *size = g_format_size ((guint64)group->bytes);

      for (guint k = 0; k < group->paths->len; k++)
        unlink (group->paths->pdata[k]);
      plait_log_info (text_cache->log,
                      "%s: removed the least recently used encoded corpus (%s); the %d that were used last stay",
                      folder, size, PLAIT_TEXT_CACHE_CORPORA);
    }
}

#define DIGEST_ENDING ".digest"
#define DIGEST_LIMIT 65536 /* maximum bytes of the cached file: far more than a path and a digest need */

/* Returns the contents of the cache file for @text: its path, @stamp and @digest, and a checksum of them. */
static char *
describe (const char *text, const PlaitFileStamp *stamp, const char *digest)
{
  g_autofree char *line
      = g_strdup_printf ("plait digest 1\n%s\n%ju %ju %jd %jd.%09ld %jd.%09ld\n%s\n", text, stamp->device,
                         stamp->number, stamp->size, (gint64)stamp->written.tv_sec, stamp->written.tv_nsec,
                         (gint64)stamp->changed.tv_sec, stamp->changed.tv_nsec, digest);
  g_autofree char *checksum = plait_digest_bytes (line, strlen (line));

  return g_strconcat (line, checksum, "\n", NULL);
}

/* Sets known->digest to the cached digest of @text. TRUE if the cached file is intact and is for the stamp
 * known->stamp. */
static gboolean
find_digest (const PlaitTextCache *text_cache, const char *text, const char *name, PlaitKnownText *known)
{
  g_autofree char *path = plait_text_cache_find (text_cache, text, name);
  g_autoptr (GBytes) bytes
      = path ? plait_file_read (path, PLAIT_FILE_REGULAR, DIGEST_LIMIT, "a cached digest", NULL) : NULL;
  g_autofree char *expected = NULL;
  gsize length = 0;
  const char *contents = bytes ? g_bytes_get_data (bytes, &length) : NULL;

  if (length < 2 * (PLAIT_DIGEST_LENGTH + 1))
    return FALSE;
  g_strlcpy (known->digest, contents + length - 2 * (PLAIT_DIGEST_LENGTH + 1), sizeof known->digest);
  expected = describe (text, &known->stamp, known->digest);
  return strlen (expected) == length && memcmp (contents, expected, length) == 0;
}

gboolean
plait_text_cache_digest (const PlaitTextCache *text_cache, const char *text, PlaitKnownText *known, GError **error)
{
  gboolean large = plait_text_cache_accepts (text_cache, text);
  g_autofree char *whole = large ? g_canonicalize_filename (text, NULL) : NULL;
  g_autofree char *hash = large ? plait_digest_bytes (whole, strlen (whole)) : NULL;
  g_autofree char *name = large ? g_strconcat (hash, DIGEST_ENDING, NULL) : NULL;
  g_autofree char *digest = NULL;

  known->stamp = plait_file_stamp (text);
  if (large && find_digest (text_cache, whole, name, known))
    return TRUE;
  digest = plait_digest_file (text, error);
  if (!digest)
    return FALSE;
  g_strlcpy (known->digest, digest, sizeof known->digest);
  /* Do not cache the digest of a file that was written just now. If the file is written again within one tick of the
   * file system's clock, its stamp can stay the same. */
  if (large && plait_file_stamp_check (&known->stamp, text, NULL)
      && g_get_real_time () / G_USEC_PER_SEC - known->stamp.changed.tv_sec >= text_cache->min_age)
    {
      g_autofree char *contents = describe (whole, &known->stamp, digest);

      plait_text_cache_store (text_cache, whole, name, contents, strlen (contents));
    }
  return TRUE;
}
