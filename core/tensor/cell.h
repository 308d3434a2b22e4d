/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/export.h"

/* Recurrent cells. Their gates stand side by side: of a GRU reset, update, candidate; of an LSTM input, forget,
 * candidate, output. */
typedef enum
{
  PLAIT_CELL_GRU,  /* Cho et al. 2014b */
  PLAIT_CELL_LSTM, /* Hochreiter & Schmidhuber 1997, with forget gates (Gers et al. 2000), without peepholes */
} PlaitCellKind;

/* Where the reset gate of a GRU acts. */
typedef enum
{
  PLAIT_RESET_BEFORE, /* on the state before its product, U (r * h): as the papers write */
  PLAIT_RESET_AFTER,  /* on the product, r * (U h): as dl4mt and cuDNN compute */
} PlaitResetPlace;

/* How many gates a cell has, and so how many widths a projected input. */
static inline gint
plait_cell_gates (PlaitCellKind kind)
{
  return kind == PLAIT_CELL_GRU ? 3 : 4;
}
