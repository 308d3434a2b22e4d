/* SPDX-License-Identifier: MIT */
/* PyTorch's MKL takes its AVX-512 kernels on Intel processors only, unless this function of its own is preloaded: 10 %
   on large products and twice on skinny ones on an AMD processor that has AVX-512. */
int
mkl_serv_intel_cpu_true (void)
{
  return 1;
}
