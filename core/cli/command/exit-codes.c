/* SPDX-License-Identifier: MIT */
#include "command/exit-codes.h"

const PlaitExitCode plait_exit_codes[] = {
  { PLAIT_EXIT_DONE, "done", NULL },
  { PLAIT_EXIT_FAILED, "failed",
    "disk or memory is full, training diverged, cells failed, or check, verify or reproduce found a fault" },
  { PLAIT_EXIT_USAGE, "bad usage or bad input", "one sentence names file, place, what was expected and what to do" },
  { PLAIT_EXIT_INTERRUPTED, "interrupted; runs can be resumed", NULL },
  { 0, NULL, NULL },
};

PlaitExit
plait_exit_code (const GError *error)
{
  if (!error)
    return PLAIT_EXIT_DONE;
  if (error->domain != PLAIT_ERROR)
    return PLAIT_EXIT_FAILED;
  switch ((PlaitErrorCode)error->code)
    {
    case PLAIT_ERROR_INPUT:
    case PLAIT_ERROR_CORRUPT:
    case PLAIT_ERROR_PLUGIN:
      return PLAIT_EXIT_USAGE;
    case PLAIT_ERROR_INTERRUPTED:
      return PLAIT_EXIT_INTERRUPTED;
    case PLAIT_ERROR_FAILED:
    case PLAIT_ERROR_MEMORY:
      return PLAIT_EXIT_FAILED;
    }
  return PLAIT_EXIT_FAILED;
}
