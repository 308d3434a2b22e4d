/* SPDX-License-Identifier: MIT */
#include "files/memory.h"

#include <string.h>
#include <sys/mman.h>

/* Sizes below this many bytes count as available without a check. */
#define SMALL ((gsize)64 << 20)

gpointer
plait_try_allocate (gsize count, gsize size, const char *what, GError **error)
{
  gsize bytes;
  gpointer memory = NULL;

  if (plait_size_multiply (count, size, &bytes))
    memory = g_try_malloc0 (MAX (bytes, 1));
  if (!memory)
    plait_fail (error, PLAIT_ERROR_FAILED, "there is no memory for %s: %zu items of %zu bytes", what, count, size);
  return memory;
}

/* Returns the number after @name at the beginning of a line of the file @path, or @missing without such a number. */
static guint64
number_in (const char *path, const char *name, guint64 missing)
{
  g_autofree char *text = NULL;
  g_autofree char *start = g_strconcat ("\n", name, NULL);

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return missing;
  g_autofree char *lines = g_strconcat ("\n", text, NULL);
  const char *found = strstr (lines, start);
  const char *number = found ? found + strlen (start) : "";

  number += strspn (number, " \t");
  return g_ascii_isdigit (*number) ? g_ascii_strtoull (number, NULL, 10) : missing;
}

/* Returns the bytes that the processes of the control group @folder may still allocate. */
static guint64
left_in_group (const char *folder)
{
  g_autofree char *most_path = g_build_filename (folder, "memory.max", NULL);
  g_autofree char *held_path = g_build_filename (folder, "memory.current", NULL);
  g_autofree char *kinds_path = g_build_filename (folder, "memory.stat", NULL);
  guint64 most = number_in (most_path, "", G_MAXUINT64);
  guint64 held = number_in (held_path, "", 0);
  guint64 cache = number_in (kinds_path, "inactive_file", 0);

  if (most == G_MAXUINT64)
    return most;
  held -= MIN (held, cache);
  return most - MIN (most, held);
}

guint64
plait_memory_left_in_groups (const char *root, const char *group)
{
  g_autofree char *path = g_strdup (group);
  guint64 left = G_MAXUINT64;

  for (char *end = path + strlen (path); end; end = strrchr (path, '/'))
    {
      *end = '\0';
      g_autofree char *folder = g_build_filename (root, path, NULL);
      left = MIN (left, left_in_group (folder));
    }
  return left;
}

/* Returns the bytes that the control groups of this process let it allocate; G_MAXUINT64 without a limit. */
static guint64
left_in_own_groups (void)
{
  g_autofree char *groups = NULL;

  if (!g_file_get_contents ("/proc/self/cgroup", &groups, NULL, NULL) || !g_str_has_prefix (groups, "0::"))
    return G_MAXUINT64;
  groups[strcspn (groups, "\n")] = '\0';
  return plait_memory_left_in_groups ("/sys/fs/cgroup", groups + strlen ("0::"));
}

gboolean
plait_memory_is_available (gsize size)
{
  const guint64 unknown = G_MAXUINT64 / 4096;

  if (size < SMALL)
    return TRUE;
  return size / 1024
             <= number_in ("/proc/meminfo", "MemAvailable:", unknown) + number_in ("/proc/meminfo", "SwapFree:", 0)
         && size <= left_in_own_groups ();
}

void
plait_memory_of_process (pid_t process, gsize *held, gsize *most)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/status", (int)process);

  *held = number_in (path, "VmRSS:", 0) * 1024;
  *most = number_in (path, "VmHWM:", 0) * 1024;
}

gsize
plait_address_space_used (void)
{
  return number_in ("/proc/self/status", "VmSize:", 0) * 1024;
}

static gpointer
map (gsize size)
{
  gpointer pages = mmap (NULL, MAX (size, 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  return pages == MAP_FAILED ? NULL : pages;
}

gboolean
plait_address_space_is_available (gsize size)
{
  gpointer pages = map (size);

  plait_pages_free (pages, size);
  return pages != NULL;
}

gpointer
plait_pages_allocate (gsize size)
{
  gpointer pages = plait_memory_is_available (size) ? map (size) : NULL;

  if (pages && size >= PLAIT_HUGE_PAGE)
    madvise (pages, size, MADV_HUGEPAGE);
  return pages;
}

void
plait_pages_free (gpointer pages, gsize size)
{
  if (pages)
    munmap (pages, MAX (size, 1));
}
