/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/capture.h"
#include "plugin/losses.h"
#include "plugin/site.h"

/* One pass through the attention sites of a decoder, whatever its kind. */

/* What one pass knows beside the parameters; shared by the sites of a decoder. */
typedef struct
{
  PlaitTape *tape;
  const PlaitMemory *memories;
  guint n_memories;
  PlaitRagged queries;
  const guint8 **present;    /* [n_memories]: a byte a query row, or NULL where every sentence has rows */
  const guint8 *any_present; /* of all memories together; NULL: all */
  PlaitCapture *capture;     /* or NULL */
  PlaitLossPass *losses;     /* or NULL: not wanted */
  PlaitTouched *touched;     /* is added to, or NULL */
  /* The queries of the next pass, number i of which goes on from query parents[i] of this one: coverage is renewed as
   * theirs. NULL: it is as this one's. */
  PlaitRagged next;
  const gint64 *parents;
} PlaitSitePass;

/* Works out which queries have something to read. Lives in the tape's arena. */
PlaitSitePass plait_site_pass (PlaitTape *tape, const PlaitMemory *memories, guint n_memories, PlaitRagged queries,
                               PlaitCapture *capture);

/* The sum of @n contexts; absent where all of them are. */
PlaitContext plait_site_pass_sum (const PlaitSitePass *pass, const PlaitContext *contexts, guint n);
