/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <sys/mman.h>

#define HUGE_PAGE ((gsize)2 << 20)

gpointer
plait_try_allocate (gsize count, gsize size, const char *what, GError **error)
{
  gsize bytes;
  gpointer memory = NULL;

  if (plait_size_multiply (count, size, &bytes))
    memory = g_try_malloc0 (MAX (bytes, 1));
  if (memory == NULL)
    plait_fail (error, PLAIT_ERROR_FAILED,
                "There is no memory for %s: %" G_GSIZE_FORMAT " items of %" G_GSIZE_FORMAT " bytes.", what, count,
                size);
  return memory;
}

gpointer
plait_pages_take (gsize size)
{
  gpointer pages = mmap (NULL, MAX (size, 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (pages == MAP_FAILED)
    return NULL;
  if (size >= HUGE_PAGE)
    madvise (pages, size, MADV_HUGEPAGE);
  return pages;
}

void
plait_pages_give_back (gpointer pages, gsize size)
{
  if (pages != NULL)
    munmap (pages, MAX (size, 1));
}
