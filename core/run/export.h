/* SPDX-License-Identifier: MIT */
#pragma once

#include "run/trained.h"

/* Writes all parameters of @trained under their names, as they are, to the safetensors file @path, which is replaced as
 * a whole, with the experiment in its metadata: what train.initialise reads back to the same bits. */
gboolean plait_export_safetensors (const PlaitTrained *trained, const char *path, GError **error);

/* The names of all files that a CTranslate2 model can have, up to NULL. */
extern const char *const plait_ctranslate2_files[];

/*
 * Writes @trained as a CTranslate2 model (binary version 6, TransformerSpec of revision 7) into the folder @path, which
 * base/folder.h makes as a whole: a Transformer that reads one source. It takes the pieces of the vocabularies, and
 * adds by itself the start and end tokens that sentences of sources have here. It has @positions on each side, or where
 * that is 0 as many as decoder.position_limit and that of the encoder say; @log is told of its limits. A run that
 * CTranslate2 has no model for is PLAIT_ERROR_INPUT, which says what it has no place for.
 */
gboolean plait_export_ctranslate2 (const PlaitTrained *trained, const char *path, gint64 positions, PlaitLog *log,
                                   GError **error);
