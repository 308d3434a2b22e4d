/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/* Recurrent cells. Their gates stand side by side: of a GRU reset, update, candidate; of an LSTM input, forget,
 * candidate, output. */
typedef enum
{
  PLAIT_CELL_GRU,  /* Cho et al. 2014b */
  PLAIT_CELL_LSTM, /* Hochreiter & Schmidhuber 1997, with forget gates (Gers et al. 2000), without peepholes */
} PlaitCellKind;

/* Cells over the two children of a node. The gates of a GRU are reset left and right, update left and right, update,
 * and its candidate; of an LSTM input, forget left and right, candidate, output. */
typedef enum
{
  PLAIT_TREE_GRU,       /* Chen et al. 2017, eq. 8 */
  PLAIT_TREE_LSTM,      /* Tai et al. 2015, eq. 9-14 */
  PLAIT_TREE_HEAD_WORD, /* a gate that chooses between the children: Teng & Zhang 2016 */
} PlaitTreeKind;

/* Where the reset gate of a GRU acts. */
typedef enum
{
  PLAIT_RESET_BEFORE, /* on the state before its product, U (r * h): as the papers write */
  PLAIT_RESET_AFTER,  /* on the product, r * (U h): as dl4mt and cuDNN compute */
} PlaitResetOrder;

/* How many gates a cell has, and so how many widths a projected input. */
static inline gint
plait_cell_gates (PlaitCellKind kind)
{
  return kind == PLAIT_CELL_GRU ? 3 : 4;
}
