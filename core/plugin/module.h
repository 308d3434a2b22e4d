/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/trial.h"
#include "plugin/schema.h"

/*
 * Loading the code of a plugin.
 */

/* The module at @path, described by @schema. It is first opened and checked in a child process within @limits, so that
 * a constructor that crashes, hangs or ends the process is a refusal; then opened here, resident, bound now and local.
 * The descriptor lives as long as the process. */
const PlaitPluginDescriptor *plait_module_open (const char *path, const PlaitSchema *schema, PlaitTrialLimits limits,
                                                GError **error);
