/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/*
 * Memory whose size comes from input: never an overflow, never an abort.
 */

/* a * b in *product, or FALSE if it does not fit. */
static inline gboolean
plait_size_multiply (gsize a, gsize b, gsize *product)
{
  return !__builtin_mul_overflow (a, b, product);
}

/* @count items of @size bytes, zeroed, for @what (as in "no memory for the vectors of features.h5"); to be freed with
 * g_free. At least one byte is allocated. NULL with PLAIT_ERROR_FAILED if the system has none. (transfer full) */
gpointer plait_try_allocate (gsize count, gsize size, const char *what, GError **error);
