/* SPDX-License-Identifier: MIT */
#include "documents/masking.h"

#include <math.h>

#include "process/random.h"
#include "documents/labels.h"

enum
{
  DRAW_COUNT,
  DRAW_PLACE,
  DRAW_SHARE,
  DRAW_TOKEN,
};

static PlaitRandomKey
key_of (const PlaitMasking *masking, gint64 epoch, gint64 tuple)
{
  return plait_random_subkey (plait_random_key (masking->seed, "mask", NULL, (guint64)epoch), (guint64)tuple);
}

gint64
plait_masking_count (const PlaitMasking *masking, gint64 epoch, gint64 tuple, gint64 tokens)
{
  PlaitRandomKey key = plait_random_subkey (key_of (masking, epoch, tuple), DRAW_COUNT);
  gint64 n = (gint64)floor (masking->rate * (double)tokens + plait_random_uniform (key, 0));

  return MIN (MAX (n, 1), tokens);
}

/* Returns the token that the input has in place of @id, token @place of its sentence: the mask, a random one or @id. */
static gint32
read_instead (const PlaitMasking *masking, PlaitRandomKey key, gint64 place, gint64 size, gint32 id)
{
  double share = plait_random_uniform (plait_random_subkey (key, DRAW_SHARE), (guint64)place);

  if (share < masking->mask)
    return PLAIT_TOKEN_MASK;
  if (share >= masking->mask + masking->random)
    return id;
  return (gint32)(PLAIT_TOKEN_SPECIALS
                  + plait_random_below (plait_random_subkey (key, DRAW_TOKEN), (guint64)place,
                                        (guint64)(size - PLAIT_TOKEN_SPECIALS)));
}

/* Selects the masked tokens by selection sampling (Knuth, TAOCP 2, 3.4.2, algorithm S): one pass, in which every subset
 * of the wanted size is equally likely. */
void
plait_masking_apply (const PlaitMasking *masking, gint64 epoch, gint64 tuple, gint64 size, gint32 *ids, gint64 rows,
                     gint64 tokens, gint32 *positions, gint32 *outputs)
{
  PlaitRandomKey key = key_of (masking, epoch, tuple), choice = plait_random_subkey (key, DRAW_PLACE);
  gint64 wanted = plait_masking_count (masking, epoch, tuple, tokens), found = 0, seen = 0;

  for (gint64 row = 0; row < rows && found < wanted; row++)
    {
      if (!plait_token_is_text (ids[row]))
        continue;
      if (plait_random_uniform (choice, (guint64)seen) * (double)(tokens - seen) < (double)(wanted - found))
        {
          positions[found] = (gint32)row;
          outputs[found++] = ids[row];
          ids[row] = read_instead (masking, key, seen, size, ids[row]);
        }
      seen++;
    }
  g_assert (found == wanted);
}
