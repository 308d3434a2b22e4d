/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/trained.h"

/* Writes all parameters of @trained under their names to the safetensors file @path, with the experiment in its
 * metadata. Replaces the file atomically. train.initialise restores the parameters bit for bit. */
gboolean plait_export_safetensors (const PlaitTrained *trained, const char *path, GError **error);
