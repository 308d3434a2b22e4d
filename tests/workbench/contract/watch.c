/* SPDX-License-Identifier: MIT */
#include "process/crash.h"

/* Makes the test fail if a plugin calls exit (0). */
__attribute__ ((constructor)) static void
watch (void)
{
  plait_crash_install_handlers ();
}
