/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/trained.h"

/* Writes all parameters of @trained under their names, as they are, to the safetensors file @path, which is replaced as
 * a whole, with the experiment in its metadata: what train.initialise reads back to the same bits. */
gboolean plait_export_safetensors (const PlaitTrained *trained, const char *path, GError **error);
