/* SPDX-License-Identifier: MIT */
#include "cli/main.h"

int
main (int argc, char **argv)
{
  return plait_main (argc, argv);
}
