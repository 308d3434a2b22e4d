/* SPDX-License-Identifier: MIT */
#include "command/main.h"

#include <stdio.h>
#include <string.h>

#include "command/embedded.h"
#include "command/program.h"
#include "command/reference.h"

static gboolean
print_form (const char *form)
{
  if (strcmp (form, "--man") == 0)
    plait_manual_print ();
  else if (strcmp (form, "--bash") == 0)
    fputs (plait_embedded_text ("completion.bash"), stdout);
  else if (strcmp (form, "--zsh") == 0)
    fputs (plait_embedded_text ("completion.zsh"), stdout);
  else
    return FALSE;
  return TRUE;
}

int
plait_main (int argc, char **argv)
{
  static const PlaitProgram plait = {
    "plait",
    "A workbench for sequence-to-sequence models that read several things at once.",
    "plait COMMAND --help, or plait help COMMAND, describes a command. plait --version prints the version. plait help "
    "--man prints the manual page, --bash and --zsh print completion for these shells. plait-bench times the steps of "
    "a model.",
    plait_commands,
    print_form,
  };

  return plait_program_run (&plait, argc, argv);
}
