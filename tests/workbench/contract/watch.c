/* SPDX-License-Identifier: MIT */
#include "process/crash.h"

/* A plugin that leaves by exit (0) must not pass for one that holds its contract. */
__attribute__ ((constructor)) static void
watch (void)
{
  plait_crash_install_handlers ();
}
