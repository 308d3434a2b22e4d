/* SPDX-License-Identifier: MIT */
#pragma once

#include "run/trained.h"

/* Writes all parameters of @trained under their names, as they are, to the safetensors file @path, which is replaced as
 * a whole, with the experiment in its metadata: what train.initialise reads back to the same bits. */
gboolean plait_export_safetensors (const PlaitTrained *trained, const char *path, GError **error);

/* The files of a CTranslate2 model. */
#define PLAIT_CTRANSLATE2_MODEL "model.bin"
#define PLAIT_CTRANSLATE2_CONFIG "config.json"
#define PLAIT_CTRANSLATE2_SHARED "shared_vocabulary.json"
#define PLAIT_CTRANSLATE2_SOURCE "source_vocabulary.json"
#define PLAIT_CTRANSLATE2_TARGET "target_vocabulary.json"

/*
 * Writes @trained as a CTranslate2 model (binary version 6, TransformerSpec of revision 7) into @folder, which is made
 * if it is not there: a Transformer that reads one source. It takes the pieces of the vocabularies, and adds by itself
 * the start and end tokens that sources have here. A run that CTranslate2 has no model for is PLAIT_ERROR_INPUT, which
 * says what it has no place for. The model is written last.
 */
gboolean plait_export_ctranslate2 (const PlaitTrained *trained, const char *folder, GError **error);
