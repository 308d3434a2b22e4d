/* SPDX-License-Identifier: MIT */
#pragma once

/* The whole command. Returns its exit code (exit-codes.h). */
int plait_main (int argc, char **argv);
