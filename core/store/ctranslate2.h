/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "base/tensor.h"

/*
 * The file model.bin of CTranslate2, binary version 6, as ctranslate2/specs/model_spec.py writes it: what kind of model
 * it is, which is a TransformerSpec of revision 7, numbers and tensors by name, and second names.
 */

/* Types of what is in it; tensors are of the first. */
typedef enum
{
  PLAIT_CTRANSLATE2_FLOAT32 = 0,
  PLAIT_CTRANSLATE2_INT8 = 1,
  PLAIT_CTRANSLATE2_INT16 = 2,
} PlaitCtranslate2Type;

/* A number, a tensor, or another name of one. */
typedef struct
{
  const char *name;
  const char *same_as; /* the tensor whose second name it is, which is all there is to it; NULL: none */
  PlaitCtranslate2Type type;
  double number;       /* of rank 0 */
  guint rank;          /* 0; 1: of @value [1, width]; 2 */
  PlaitTensor value;   /* [rows, width] */
  gboolean transposed; /* it is written as [width, rows] */
} PlaitCtranslate2Variable;

/* Writes @variables [n] to @path, which is replaced as a whole. A tensor of 4 GiB or more is PLAIT_ERROR_INPUT. */
gboolean plait_ctranslate2_write (const PlaitCtranslate2Variable *variables, guint n, const char *path, GError **error);
