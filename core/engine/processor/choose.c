/* SPDX-License-Identifier: MIT */
#include "kernels/bfloat16.h"
#include "processor/int8.h"
#include "kernels/kernels.h"

#ifdef PLAIT_X86_KERNELS
#include <cpuid.h>
#endif

/* Variants of the kernels: v1 for any processor that the build's target allows, v3 for x86-64-v3, v4 for x86-64-v4. */
extern const PlaitKernels plait_v1_kernels;
extern const PlaitBfloat16Kernels plait_bfloat16_emulation;
#ifdef PLAIT_X86_KERNELS
extern const PlaitKernels plait_v3_kernels, plait_v4_kernels;
extern const PlaitInt8Kernels plait_vnni_kernels;
extern const PlaitBfloat16Kernels plait_bfloat16_instructions;
#endif

static const PlaitKernels *selected;

#ifdef PLAIT_X86_KERNELS
/* TRUE if the processor has x86-64-v3. Tests each feature because not every compiler knows the levels by name. */
static gboolean
has_v3 (void)
{
  guint a, b, c, d;

  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma") && __builtin_cpu_supports ("bmi")
         && __builtin_cpu_supports ("bmi2") && __get_cpuid (1, &a, &b, &c, &d) && c & bit_F16C && c & bit_MOVBE
         && __get_cpuid (0x80000001, &a, &b, &c, &d) && c & bit_LZCNT;
}

static gboolean
has_v4 (void)
{
  return has_v3 () && __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw")
         && __builtin_cpu_supports ("avx512cd") && __builtin_cpu_supports ("avx512dq")
         && __builtin_cpu_supports ("avx512vl");
}
#endif

gboolean
plait_kernels_choose (const char *variant)
{
  static const struct
  {
    const PlaitKernels *kernels;
    gboolean (*run_here) (void); /* NULL: every processor runs them */
  } all[] = {
#ifdef PLAIT_X86_KERNELS
    { &plait_v4_kernels, has_v4 },
    { &plait_v3_kernels, has_v3 },
#endif
    { &plait_v1_kernels, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if ((!variant || g_str_equal (variant, all[i].kernels->variant)) && (!all[i].run_here || all[i].run_here ()))
      {
        g_atomic_pointer_set (&selected, all[i].kernels);
        return TRUE;
      }
  return FALSE;
}

const PlaitKernels *
plait_kernels (void)
{
  if (G_UNLIKELY (!g_atomic_pointer_get (&selected)))
    plait_kernels_choose (NULL);
  return selected;
}

const PlaitInt8Kernels *
plait_int8_kernels (void)
{
#ifdef PLAIT_X86_KERNELS
  if (plait_kernels () == &plait_v4_kernels && __builtin_cpu_supports ("avx512vnni"))
    return &plait_vnni_kernels;
#endif
  return NULL;
}

const PlaitBfloat16Kernels *
plait_bfloat16_kernels (PlaitPrecision precision)
{
  if (precision == PLAIT_PRECISION_BFLOAT16_EMULATED)
    return &plait_bfloat16_emulation;
#if defined(PLAIT_X86_KERNELS) && !defined(PLAIT_SCALAR_DOUBLE)
  if (precision == PLAIT_PRECISION_BFLOAT16 && plait_kernels () == &plait_v4_kernels
      && __builtin_cpu_supports ("avx512bf16"))
    return &plait_bfloat16_instructions;
#endif
  return NULL;
}
