/* SPDX-License-Identifier: MIT */
#pragma once

/* Runs plait with the words of its command line. Returns the exit code (exit-codes.h). */
int plait_main (int argc, char **argv);
