/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

const PlaitCommand plait_commands[] = {
  { "plugins", "[--json]", "List the plugins that are found, and where", NULL, plait_command_plugins },
  { "inspect", "PLUGIN|GROUP [--json]", "Show a plugin, or a group of experiment files, with its parameters",
    "PLUGIN is a name, or KIND/NAME where several kinds have it. GROUP is a group that the core itself reads, such as\n"
    "decoder or train.",
    plait_command_inspect },
  { NULL },
};
