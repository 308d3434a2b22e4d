/* SPDX-License-Identifier: MIT */
#include "tensor/kernels/kernels.h"

/* Names of the levels: 1 is the least that the build's target promises, 3 and 4 are x86-64-v3 and x86-64-v4. */
extern const PlaitKernels plait_v1_kernels;
#ifdef __x86_64__
extern const PlaitKernels plait_v3_kernels, plait_v4_kernels;
#endif

static const PlaitKernels *chosen;

static gboolean
runs_here (const PlaitKernels *kernels)
{
#ifdef __x86_64__
  if (kernels == &plait_v4_kernels)
    return __builtin_cpu_supports ("x86-64-v4");
  if (kernels == &plait_v3_kernels)
    return __builtin_cpu_supports ("x86-64-v3");
#endif
  return TRUE;
}

gboolean
plait_kernels_choose (const char *level)
{
  static const PlaitKernels *const all[] = {
#ifdef __x86_64__
    &plait_v4_kernels, &plait_v3_kernels,
#endif
    &plait_v1_kernels
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if ((level == NULL || g_str_equal (level, all[i]->level)) && runs_here (all[i]))
      {
        g_atomic_pointer_set (&chosen, all[i]);
        return TRUE;
      }
  return FALSE;
}

const PlaitKernels *
plait_kernels (void)
{
  if (G_UNLIKELY (g_atomic_pointer_get (&chosen) == NULL))
    plait_kernels_choose (NULL);
  return chosen;
}
