/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/random.h"
#include "tensor/kernels/kernels.h"

/* The mask of inverted dropout with probability @rate (0 .. 1, 1 not included) drawn from @key. */
static inline PlaitMask
plait_mask (PlaitRandomKey key, double rate)
{
  return (PlaitMask){ .key = (guint32)key.state,
                      .key2 = (guint32)(key.state >> 32),
                      .threshold = (guint32)(rate * 0x1p32),
                      .kept = (PlaitScalar)(1 / (1 - rate)) };
}
