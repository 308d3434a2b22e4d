/* SPDX-License-Identifier: MIT */
#include "command/command.h"

/* clang-format off */
const PlaitCommand *const plait_commands[] = {
  &plait_command_run,
  &plait_command_grid,
  &plait_command_test,
  &plait_command_translate,
  &plait_command_score,
  &plait_command_encode,
  &plait_command_export,
  &plait_command_average,
  &plait_command_evaluate,
  &plait_command_compare,
  &plait_command_adversarial,
  &plait_command_report,
  &plait_command_plot,
  &plait_command_show,
  &plait_command_reproduce,
  &plait_command_verify,
  &plait_command_generate,
  &plait_command_vocabulary,
  &plait_command_trees,
  &plait_command_parse,
  &plait_command_plugins,
  &plait_command_inspect,
  &plait_command_explain,
  &plait_command_new,
  &plait_command_check,
  NULL,
};
/* clang-format on */
