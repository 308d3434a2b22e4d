/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/trained.h"

/* Writes all parameters of @trained under their names, and the experiment in the metadata, to the safetensors file
 * @path, replacing it atomically. train.initialise reads equal bits back. */
gboolean plait_export_safetensors (const PlaitTrained *trained, const char *path, GError **error);
