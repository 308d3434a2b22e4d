/* SPDX-License-Identifier: MIT */
#include "process/arena.h"

#include "process/crash.h"
#include "text/error.h"
#include "files/memory.h"

#include <setjmp.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#define ALIGNMENT ((gsize)64)
#define MIN_MAPPING ((gsize)1 << 20)

/* Maximum bytes of a request; the sum of two such sizes does not overflow. */
#define MAX_SIZE ((gsize)1 << 47)

/* Small blocks are cut from chunks; each size has its own free list. Some small blocks, such as nodes, live until the
 * end of the step. If they lay between large blocks, released large blocks could not be merged. */
#define MAX_SMALL ((gsize)1024)
#define SMALL_SIZES (MAX_SMALL / ALIGNMENT)
#define CHUNK ((gsize)64 << 10)

typedef struct Mapping Mapping;
typedef struct SmallBlock SmallBlock;

struct Mapping
{
  Mapping *next;
  char *start;
  gsize size;
  gsize top; /* bytes from the start of the mapping to the end of the furthest block so far */
};

/* Free-list link in the first bytes of a released small block. */
struct SmallBlock
{
  SmallBlock *next;
};

/* An unused range of a mapping. */
typedef struct
{
  Mapping *mapping;
  char *start;
  gsize size;
} Gap;

struct PlaitArena
{
  gsize limit;
  gsize mapped;
  gsize used;    /* sum of the tops of all mappings, bytes */
  gsize peak;    /* maximum of @used */
  gsize largest; /* maximum of @mapped */
  Mapping *mappings;
  GArray *gaps; /* (element-type Gap) sorted by address; adjacent gaps are always merged */
  SmallBlock *small[SMALL_SIZES];
  char *chunk; /* unused rest of the newest chunk */
  gsize chunk_size;
  jmp_buf *leave;
  gsize refused;
  GError *reason; /* error of plait_arena_fail; NULL: memory ran out */
};

static gsize
round_up (gsize size)
{
  return (MAX (size, 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

PlaitArena *
plait_arena_new (gsize limit)
{
  PlaitArena *arena = g_new0 (PlaitArena, 1);

  arena->limit = limit;
  arena->gaps = g_array_new (FALSE, FALSE, sizeof (Gap));
  return arena;
}

static void
unmap_all (PlaitArena *arena)
{
  while (arena->mappings)
    {
      Mapping *mapping = arena->mappings;

      arena->mappings = mapping->next;
      ASAN_UNPOISON_MEMORY_REGION (mapping->start, mapping->size);
      plait_pages_free (mapping->start, mapping->size);
      g_free (mapping);
    }
  arena->mapped = 0;
  arena->used = 0;
}

void
plait_arena_free (PlaitArena *arena)
{
  if (!arena)
    return;
  unmap_all (arena);
  g_array_unref (arena->gaps);
  g_free (arena);
}

static Gap *
gap_at (const PlaitArena *arena, guint i)
{
  return &g_array_index (arena->gaps, Gap, i);
}

/* Returns the number of gaps below @start. */
static guint
gaps_below (const PlaitArena *arena, const char *start)
{
  guint low = 0, high = arena->gaps->len;

  while (low < high)
    {
      guint middle = (low + high) / 2;

      if (gap_at (arena, middle)->start < start)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Adds a range to the gaps and merges it with adjacent gaps. */
static void
open_gap (PlaitArena *arena, Gap gap)
{
  guint index = gaps_below (arena, gap.start);
  Gap *before = index > 0 ? gap_at (arena, index - 1) : NULL;
  Gap *after = index < arena->gaps->len ? gap_at (arena, index) : NULL;
  gboolean joins_before = before && before->mapping == gap.mapping && before->start + before->size == gap.start;
  gboolean joins_after = after && after->mapping == gap.mapping && gap.start + gap.size == after->start;

  if (joins_before)
    {
      before->size += gap.size + (joins_after ? after->size : 0);
      if (joins_after)
        g_array_remove_index (arena->gaps, index);
    }
  else if (joins_after)
    {
      after->start = gap.start;
      after->size += gap.size;
    }
  else
    g_array_insert_val (arena->gaps, index, gap);
}

static gboolean
map (PlaitArena *arena, gsize size)
{
  char *start = plait_pages_allocate (size);

  if (!start)
    return FALSE;
  ASAN_POISON_MEMORY_REGION (start, size);

  Mapping *mapping = g_new0 (Mapping, 1);
  mapping->start = start;
  mapping->size = size;
  mapping->next = arena->mappings;
  arena->mappings = mapping;
  arena->mapped += size;
  arena->largest = MAX (arena->largest, arena->mapped);
  open_gap (arena, (Gap){ mapping, start, size });
  return TRUE;
}

/* Maps at least @needed bytes. FALSE if the limit or the system does not permit it. */
static gboolean
grow (PlaitArena *arena, gsize needed)
{
  gsize allowed = arena->limit == 0 ? MAX_SIZE : arena->limit - MIN (arena->limit, arena->mapped);
  gsize wished = MAX (MAX (needed, MIN_MAPPING), arena->mapped / 2);

  /* Round large mappings up to whole huge pages, so that the kernel can use huge pages. */
  if (wished >= PLAIT_HUGE_PAGE)
    wished = (wished + PLAIT_HUGE_PAGE - 1) / PLAIT_HUGE_PAGE * PLAIT_HUGE_PAGE;
  wished = MIN (wished, allowed / ALIGNMENT * ALIGNMENT);
  if (needed > wished)
    return FALSE;
  return map (arena, wished) || (needed < wished && map (arena, needed));
}

/* Jumps out of the protected call because @size bytes are not available. Aborts outside a protected call. */
G_NORETURN static void
run_out (PlaitArena *arena, gsize size)
{
  if (!arena->leave)
    g_error ("the memory of a step ran out outside plait_arena_protect: %zu bytes asked, %zu held, %zu allowed", size,
             arena->mapped, arena->limit);
  arena->refused = size;
  _longjmp (*arena->leave, 1);
}

void
plait_arena_fail (PlaitArena *arena, GError *error)
{
  if (!arena->leave)
    g_error ("%s", error->message);
  arena->reason = error;
  _longjmp (*arena->leave, 1);
}

/* Returns the smallest gap of at least @size bytes; NULL if no gap is large enough. Of gaps of one size, returns the
 * gap with the lowest address. */
static Gap *
find_gap (const PlaitArena *arena, gsize size)
{
  Gap *found = NULL;

  for (guint i = 0; i < arena->gaps->len; i++)
    {
      Gap *gap = gap_at (arena, i);

      if (gap->size < size || (found && gap->size >= found->size))
        continue;
      found = gap;
      if (gap->size == size)
        break;
    }
  return found;
}

/* Cuts @size bytes, a multiple of ALIGNMENT, off the beginning of a gap. @asked is the size for the error message. */
static char *
allocate_large (PlaitArena *arena, gsize size, gsize asked)
{
  Gap *gap = find_gap (arena, size);

  if (!gap)
    {
      if (!grow (arena, size))
        run_out (arena, asked);
      gap = find_gap (arena, size);
    }
  char *block = gap->start;
  gsize top = (gsize)(block - gap->mapping->start) + size;
  if (top > gap->mapping->top)
    {
      arena->used += top - gap->mapping->top;
      arena->peak = MAX (arena->peak, arena->used);
      gap->mapping->top = top;
    }
  gap->start += size;
  gap->size -= size;
  if (gap->size == 0)
    g_array_remove_index (arena->gaps, (guint)(gap - gap_at (arena, 0)));
  return block;
}

static char *
allocate_small (PlaitArena *arena, gsize size, gsize asked)
{
  SmallBlock *block = arena->small[size / ALIGNMENT - 1];

  if (block)
    {
      ASAN_UNPOISON_MEMORY_REGION (block, sizeof *block);
      arena->small[size / ALIGNMENT - 1] = block->next;
      return (char *)block;
    }
  if (arena->chunk_size < size)
    {
      arena->chunk = allocate_large (arena, CHUNK, asked);
      arena->chunk_size = CHUNK;
    }
  arena->chunk += size;
  arena->chunk_size -= size;
  return arena->chunk - size;
}

gpointer
plait_arena_allocate (PlaitArena *arena, gsize size)
{
  if (size > MAX_SIZE)
    run_out (arena, size);
  gsize rounded = round_up (size);
  char *block = rounded <= MAX_SMALL ? allocate_small (arena, rounded, size) : allocate_large (arena, rounded, size);
  ASAN_POISON_MEMORY_REGION (block, rounded);
  ASAN_UNPOISON_MEMORY_REGION (block, size);
  return block;
}

/* Returns the mapping that contains @block. */
static Mapping *
mapping_of (const PlaitArena *arena, const char *block)
{
  Mapping *mapping = arena->mappings;

  while (block < mapping->start || block >= mapping->start + mapping->size)
    mapping = mapping->next;
  return mapping;
}

void
plait_arena_release (PlaitArena *arena, gpointer block, gsize size)
{
  gsize rounded = round_up (size);

  if (rounded <= MAX_SMALL)
    {
      SmallBlock *small = block;

      ASAN_UNPOISON_MEMORY_REGION (block, sizeof *small);
      small->next = arena->small[rounded / ALIGNMENT - 1];
      arena->small[rounded / ALIGNMENT - 1] = small;
    }
  else
    open_gap (arena, (Gap){ mapping_of (arena, block), block, rounded });
  ASAN_POISON_MEMORY_REGION (block, rounded);
}

void
plait_arena_reset (PlaitArena *arena)
{
  gboolean scattered = arena->mappings && arena->mappings->next;

  memset (arena->small, 0, sizeof arena->small);
  arena->chunk_size = 0;
  g_array_set_size (arena->gaps, 0);
  if (scattered)
    {
      unmap_all (arena);
      /* If the system refuses one mapping of this size, the next step makes several smaller mappings. */
      map (arena, arena->largest);
    }
  else if (arena->mappings)
    {
      Mapping *mapping = arena->mappings;

      open_gap (arena, (Gap){ mapping, mapping->start, mapping->size });
      ASAN_POISON_MEMORY_REGION (mapping->start, mapping->size);
    }
}

gsize
plait_arena_peak (const PlaitArena *arena)
{
  return arena->peak;
}

gboolean
plait_arena_protect (PlaitArena *arena, PlaitArenaFunc call, gpointer data, GError **error)
{
  jmp_buf leave;

  g_assert (!arena->leave);
  if (_setjmp (leave) == 0)
    {
      arena->leave = &leave;
      call (data);
      arena->leave = NULL;
      return TRUE;
    }
  /* The jump may have left code of a plugin. */
  plait_crash_set_owner ((PlaitCodeOwner){ NULL, NULL });
  arena->leave = NULL;

  gsize held = arena->mapped;
  plait_arena_reset (arena);
  if (!plait_no_error (&arena->reason, error))
    return FALSE;
  if (arena->limit == 0)
    return plait_fail (error, PLAIT_ERROR_MEMORY,
                       "The memory of a step ran out: %zu bytes were requested while %zu were in use, and the system "
                       "has no more; make the batches smaller",
                       arena->refused, held);
  return plait_fail (error, PLAIT_ERROR_MEMORY,
                     "The memory of a step ran out: %zu bytes were requested while %zu of %zu allowed bytes were in "
                     "use; make the batches smaller or raise train.memory",
                     arena->refused, held, arena->limit);
}
