/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * The terms of all derivatives, by name: the operator's name, then the term's. Wherever a backward computes a term it
 * says PLAIT_GRADIENT_TERM (name, expression). That is the expression itself in the builds that users run. In the build
 * with double scalars, which is for tests, it is multiplied by a factor that a test may change: each term is dropped,
 * flipped and scaled in turn, and a gradient check must notice.
 */
#ifdef PLAIT_SCALAR_DOUBLE

/* One use of PLAIT_GRADIENT_TERM; several may have the same name. */
typedef struct
{
  const char *name;
  volatile double factor; /* 1, unless a mutation test says otherwise */
} PlaitGradientTerm;

/* All uses: the linker puts them side by side, and defines where they begin and end. */
extern PlaitGradientTerm __start_plait_gradient_terms[], __stop_plait_gradient_terms[];

#define PLAIT_GRADIENT_TERM_FACTOR(text)                                                                               \
  (*({                                                                                                                 \
    static PlaitGradientTerm plait_gradient_term                                                                       \
        __attribute__ ((section ("plait_gradient_terms"), used, aligned (sizeof (PlaitGradientTerm))))                 \
        = { text, 1 };                                                                                                 \
    &plait_gradient_term.factor;                                                                                       \
  }))

#define PLAIT_GRADIENT_TERM(name, expression) ((expression)*PLAIT_GRADIENT_TERM_FACTOR (#name))

/* For a term that is a product of @n numbers with something: multiplies them. */
#define PLAIT_GRADIENT_TERM_NUMBERS(name, numbers, n)                                                                  \
  for (gint64 term_number = 0; term_number < (n); term_number++)                                                       \
  (numbers)[term_number] *= PLAIT_GRADIENT_TERM_FACTOR (#name)

#else

#define PLAIT_GRADIENT_TERM(name, expression) (expression)
#define PLAIT_GRADIENT_TERM_NUMBERS(name, numbers, n) ((void)0)

#endif
