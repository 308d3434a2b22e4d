/* SPDX-License-Identifier: MIT */
/* Replaces a function of PyTorch's MKL if preloaded. Otherwise MKL uses its AVX-512 kernels only on Intel processors,
 * although AMD processors have AVX-512 too. */
int
mkl_serv_intel_cpu_true (void)
{
  return 1;
}
