/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "tensor/tensor.h"

/*
 * The file model.bin of CTranslate2, binary version 6, as ctranslate2/specs/model_spec.py writes it: what kind of model
 * it is, numbers and tensors by name, and second names.
 */
typedef struct PlaitCtranslate2 PlaitCtranslate2;

/* Types of what is in it; tensors are of the first. */
typedef enum
{
  PLAIT_CTRANSLATE2_FLOAT32 = 0,
  PLAIT_CTRANSLATE2_INT8 = 1,
  PLAIT_CTRANSLATE2_INT16 = 2,
} PlaitCtranslate2Type;

/* A TransformerSpec of revision 7 with nothing in it. (transfer full) */
PlaitCtranslate2 *plait_ctranslate2_new (void);
void plait_ctranslate2_free (PlaitCtranslate2 *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitCtranslate2, plait_ctranslate2_free)

void plait_ctranslate2_add_number (PlaitCtranslate2 *model, const char *name, PlaitCtranslate2Type type, double number);

/* @value [rows, width], borrowed, as a tensor of @rank 2, with @transposed [width, rows], or of rank 1, [width]. */
void plait_ctranslate2_add_tensor (PlaitCtranslate2 *model, const char *name, guint rank, PlaitTensor value,
                                   gboolean transposed);

/* @name is the tensor @of once more; both are static. */
void plait_ctranslate2_add_alias (PlaitCtranslate2 *model, const char *name, const char *of);

/* Writes @path, which is replaced as a whole. A tensor of 4 GiB or more is PLAIT_ERROR_INPUT. */
gboolean plait_ctranslate2_write (const PlaitCtranslate2 *model, const char *path, GError **error);
