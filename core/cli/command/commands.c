/* SPDX-License-Identifier: MIT */
#include "command/command.h"

#define POINTER(name) &plait_command_##name,

const PlaitCommand *const plait_commands[] = { PLAIT_COMMANDS (POINTER) NULL };
