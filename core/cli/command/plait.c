/* SPDX-License-Identifier: MIT */
#include "command/main.h"

int
main (int argc, char **argv)
{
  return plait_main (argc, argv);
}
