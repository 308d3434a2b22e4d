/* SPDX-License-Identifier: MIT */
#include "kernels/terms.h"

#ifdef PLAIT_SCALAR_DOUBLE

#define ONE(name) 1,
#define NAME(name) #name,

double plait_term_factors[PLAIT_N_TERMS] = { PLAIT_TERMS (ONE) };
const char *const plait_term_names[PLAIT_N_TERMS] = { PLAIT_TERMS (NAME) };

#endif
