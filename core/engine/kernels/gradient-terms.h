/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * The terms of all derivatives, named OPERATOR_TERM. A backward pass computes each term as PLAIT_GRADIENT_TERM (name,
 * expression). Normally that is the expression itself. In the build with double scalars, which only tests use, the term
 * is multiplied by a factor. The mutation test sets the factors: it drops, flips and scales one term after another, and
 * a gradient check must notice.
 */
#ifdef PLAIT_SCALAR_DOUBLE

/* One use of PLAIT_GRADIENT_TERM. Several uses may have the same name. */
typedef struct
{
  const char *name;
  volatile double factor; /* 1, except during a mutation test */
} PlaitGradientTerm;

/* Array of all uses of PLAIT_GRADIENT_TERM. The linker collects the array from all files and defines its start and
 * end. */
extern PlaitGradientTerm __start_plait_gradient_terms[], __stop_plait_gradient_terms[];

#define PLAIT_GRADIENT_TERM_FACTOR(text)                                                                               \
  (*({                                                                                                                 \
    static PlaitGradientTerm plait_gradient_term                                                                       \
        __attribute__ ((section ("plait_gradient_terms"), used, aligned (sizeof (PlaitGradientTerm))))                 \
        = { text, 1 };                                                                                                 \
    &plait_gradient_term.factor;                                                                                       \
  }))

#define PLAIT_GRADIENT_TERM(name, expression) ((expression)*PLAIT_GRADIENT_TERM_FACTOR (#name))

/* Multiplies @numbers [n] by the factor of the term @name. Use it for a term that is a product with @numbers as one
 * factor. */
#define PLAIT_GRADIENT_TERM_NUMBERS(name, numbers, n)                                                                  \
  for (gint64 term_number = 0; term_number < (n); term_number++)                                                       \
  (numbers)[term_number] *= PLAIT_GRADIENT_TERM_FACTOR (#name)

#else

#define PLAIT_GRADIENT_TERM(name, expression) (expression)
#define PLAIT_GRADIENT_TERM_NUMBERS(name, numbers, n) ((void)0)

#endif
