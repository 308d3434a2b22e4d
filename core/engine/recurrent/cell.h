/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/* Recurrent cells, and the order of their gates in a row of projected inputs. */
typedef enum
{
  PLAIT_CELL_GRU,  /* gates: reset, update, candidate. Cho et al. 2014b */
  PLAIT_CELL_LSTM, /* gates: input, forget, candidate, output. Hochreiter & Schmidhuber 1997; forget gates of Gers et
                      al. 2000; no peepholes */
} PlaitCellKind;

/* Cells that compute a tree node from its two children, and the order of their gates. */
typedef enum
{
  PLAIT_TREE_GRU,  /* gates: reset left, reset right, update left, update right, update; then the candidate. Chen et al.
                      2017, eq. 8 */
  PLAIT_TREE_LSTM, /* gates: input, forget left, forget right, candidate, output. Tai et al. 2015, eq. 9-14 */
  PLAIT_TREE_HEAD_WORD, /* one gate mixes the two children's embeddings. Teng & Zhang 2016 */
} PlaitTreeKind;

/* The order in which a GRU applies its reset gate r and its recurrent weight U to the state h. */
typedef enum
{
  PLAIT_RESET_BEFORE, /* U (r * h), as in the papers */
  PLAIT_RESET_AFTER,  /* r * (U h), as in dl4mt and cuDNN */
} PlaitResetOrder;

/* Returns the number of gates of a cell. A row of projected inputs has this many times the cell's width. */
static inline gint
plait_cell_gates (PlaitCellKind kind)
{
  return kind == PLAIT_CELL_GRU ? 3 : 4;
}
