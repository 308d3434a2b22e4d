/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/command.h"

/*
 * The command's own description in the forms that other programs read: a manual page and completion for bash and zsh.
 * They are made of the tables that --help is made of, when plait is built. All go to stdout.
 */

/* roff, for man. */
void plait_manual_print (void);

/* Shell code. */
void plait_completion_print_bash (void);
void plait_completion_print_zsh (void);

/* Every key that --set takes, since plugins say what their keys are: completion asks for it as plait inspect --keys. A
 * line a key, "GROUP.KEY=VALUE VALUE", without values where any number or text may stand, and with FILE where a path
 * does; or the same as JSON. The sources, files and the task of keys are those of the experiment file @path; NULL:
 * there is none. */
gboolean plait_keys_print (const char *path, gboolean as_json, GError **error);
