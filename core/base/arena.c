/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/error.h"

#include <setjmp.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#define ALIGNMENT ((gsize)64)
#define SMALLEST_MAPPING ((gsize)1 << 20)

/* A mapping is in whole huge pages where it is large, so that the kernel can use them. */
#define HUGE_PAGE ((gsize)2 << 20)

/* Nothing larger is ever asked of the system; sums of two sizes below it do not overflow. */
#define LARGEST_SIZE ((gsize)1 << 47)

/* Size classes: eight to a doubling, from ALIGNMENT to LARGEST_SIZE, so rounding up wastes at most an eighth. */
#define STEPS 8
#define CLASSES (42 * STEPS)

/* A free block may serve a request whose class is this many below its own: half a doubling. */
#define REACH (STEPS / 2)

typedef struct Mapping Mapping;
typedef struct FreeBlock FreeBlock;

struct Mapping
{
  Mapping *next;
  char *start;
  gsize size;
  gsize used;
};

/* Stands in the first bytes of a released block. */
struct FreeBlock
{
  FreeBlock *next;
};

struct PlaitArena
{
  gsize limit;
  gsize mapped;
  gsize peak;
  /* Newest first; only the newest is cut from. */
  Mapping *mappings;
  FreeBlock *free_blocks[CLASSES];
  jmp_buf *leave;
  gsize refused;
};

/* The class of blocks of at least @size bytes, and in @rounded their exact size, a multiple of ALIGNMENT. */
static guint
class_of (gsize size, gsize *rounded)
{
  gsize units = MAX (1, (size + ALIGNMENT - 1) / ALIGNMENT);

  /* Up to twice STEPS units every count is a class of its own; above, the counts of an octave share STEPS classes. */
  if (units <= 2 * STEPS)
    {
      *rounded = units * ALIGNMENT;
      return (guint)units - 1;
    }
  guint shift = (guint)g_bit_storage (units - 1) - 4;
  gsize step = (units - 1) >> shift;
  *rounded = ((step + 1) << shift) * ALIGNMENT;
  return shift * STEPS + (guint)step;
}

PlaitArena *
plait_arena_new (gsize limit)
{
  PlaitArena *arena = g_new0 (PlaitArena, 1);

  arena->limit = limit;
  return arena;
}

static void
unmap_all (PlaitArena *arena)
{
  while (arena->mappings != NULL)
    {
      Mapping *mapping = arena->mappings;

      arena->mappings = mapping->next;
      ASAN_UNPOISON_MEMORY_REGION (mapping->start, mapping->size);
      munmap (mapping->start, mapping->size);
      g_free (mapping);
    }
  arena->mapped = 0;
}

void
plait_arena_free (PlaitArena *arena)
{
  if (arena == NULL)
    return;
  unmap_all (arena);
  g_free (arena);
}

static gboolean
map (PlaitArena *arena, gsize size)
{
  char *start = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (start == MAP_FAILED)
    return FALSE;
  if (size >= HUGE_PAGE)
    madvise (start, size, MADV_HUGEPAGE);
  ASAN_POISON_MEMORY_REGION (start, size);

  Mapping *mapping = g_new0 (Mapping, 1);
  mapping->start = start;
  mapping->size = size;
  mapping->next = arena->mappings;
  arena->mappings = mapping;
  arena->mapped += size;
  arena->peak = MAX (arena->peak, arena->mapped);
  return TRUE;
}

static void
push (PlaitArena *arena, guint class, gpointer block, gsize size)
{
  FreeBlock *free_block = block;

  ASAN_UNPOISON_MEMORY_REGION (block, sizeof (FreeBlock));
  free_block->next = arena->free_blocks[class];
  arena->free_blocks[class] = free_block;
  ASAN_POISON_MEMORY_REGION (block, size);
}

static gpointer
pop (PlaitArena *arena, guint class)
{
  FreeBlock *block = arena->free_blocks[class];

  ASAN_UNPOISON_MEMORY_REGION (block, sizeof (FreeBlock));
  arena->free_blocks[class] = block->next;
  return block;
}

/* Makes what is left of the newest mapping available as released blocks, before a newer one takes its place. */
static void
keep_rest (PlaitArena *arena)
{
  Mapping *mapping = arena->mappings;

  while (mapping != NULL && mapping->size - mapping->used >= ALIGNMENT)
    {
      gsize rest = mapping->size - mapping->used;
      gsize rounded;
      guint class = class_of (rest, &rounded);

      /* The largest class that fits into the rest. */
      for (gsize part = rest; rounded > rest; class = class_of (part, &rounded))
        part -= MAX (ALIGNMENT, part / (4 * STEPS));
      push (arena, class, mapping->start + mapping->used, rounded);
      mapping->used += rounded;
    }
}

/* Maps room for @needed bytes and more, as the limit permits. */
static gboolean
grow (PlaitArena *arena, gsize needed)
{
  gsize allowed = arena->limit == 0 ? LARGEST_SIZE : arena->limit - MIN (arena->limit, arena->mapped);
  gsize wished = MAX (MAX (needed, SMALLEST_MAPPING), arena->mapped / 2);

  if (wished >= HUGE_PAGE)
    wished = (wished + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  wished = MIN (wished, allowed / ALIGNMENT * ALIGNMENT);
  if (needed > wished)
    return FALSE;
  keep_rest (arena);
  return map (arena, wished) || (needed < wished && map (arena, needed));
}

/* Leaves the protected call because @size bytes are not to be had. */
G_NORETURN static void
run_out (PlaitArena *arena, gsize size)
{
  if (arena->leave == NULL)
    g_error ("the memory of a step ran out outside plait_arena_protect: %" G_GSIZE_FORMAT
             " bytes asked, %" G_GSIZE_FORMAT " held, %" G_GSIZE_FORMAT " allowed",
             size, arena->mapped, arena->limit);
  arena->refused = size;
  _longjmp (*arena->leave, 1);
}

gpointer
plait_arena_take (PlaitArena *arena, gsize size)
{
  gsize rounded;
  guint class;
  char *block = NULL;

  if (size > LARGEST_SIZE)
    run_out (arena, size);
  class = class_of (size, &rounded);
  for (guint i = class; i < MIN (class + REACH + 1, CLASSES) && block == NULL; i++)
    if (arena->free_blocks[i] != NULL)
      block = pop (arena, i);
  if (block == NULL)
    {
      Mapping *mapping = arena->mappings;

      if (mapping == NULL || mapping->size - mapping->used < rounded)
        {
          if (!grow (arena, rounded))
            run_out (arena, size);
          mapping = arena->mappings;
        }
      block = mapping->start + mapping->used;
      mapping->used += rounded;
    }
  ASAN_POISON_MEMORY_REGION (block, rounded);
  ASAN_UNPOISON_MEMORY_REGION (block, size);
  return block;
}

void
plait_arena_release (PlaitArena *arena, gpointer block, gsize size)
{
  gsize rounded;
  guint class = class_of (size, &rounded);

  push (arena, class, block, rounded);
}

void
plait_arena_reset (PlaitArena *arena)
{
  for (guint i = 0; i < CLASSES; i++)
    arena->free_blocks[i] = NULL;
  if (arena->mappings == NULL)
    return;
  if (arena->mappings->next != NULL)
    {
      unmap_all (arena);
      /* Should the system refuse one mapping of this size, the step maps piece by piece again. */
      map (arena, arena->peak);
      return;
    }
  arena->mappings->used = 0;
  ASAN_POISON_MEMORY_REGION (arena->mappings->start, arena->mappings->size);
}

gsize
plait_arena_peak (const PlaitArena *arena)
{
  return arena->peak;
}

gboolean
plait_arena_protect (PlaitArena *arena, PlaitArenaCall call, gpointer data, GError **error)
{
  jmp_buf leave;

  g_assert (arena->leave == NULL);
  if (_setjmp (leave) == 0)
    {
      arena->leave = &leave;
      call (data);
      arena->leave = NULL;
      return TRUE;
    }
  arena->leave = NULL;

  gsize held = arena->mapped;
  plait_arena_reset (arena);
  if (arena->limit == 0)
    return plait_fail (error, PLAIT_ERROR_MEMORY,
                       "The memory of a step ran out: %" G_GSIZE_FORMAT " bytes were asked for with %" G_GSIZE_FORMAT
                       " held, and the system has no more; make the batches smaller.",
                       arena->refused, held);
  return plait_fail (error, PLAIT_ERROR_MEMORY,
                     "The memory of a step ran out: %" G_GSIZE_FORMAT " bytes were asked for with %" G_GSIZE_FORMAT
                     " held and %" G_GSIZE_FORMAT " allowed; make the batches smaller or allow more memory.",
                     arena->refused, held, arena->limit);
}
