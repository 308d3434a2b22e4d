/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/pyramid.h"

/* A pyramid with two levels above its rows, which have PYRAMID_WIDTH columns, in blocks of three. */

#define PYRAMID_WIDTH 6

static inline PlaitPyramidDeclaration
pyramid_declaration (PlaitPooling pooling)
{
  return (PlaitPyramidDeclaration){
    .pooling = pooling,
    .width = PYRAMID_WIDTH,
    .block = 3,
    .levels = 2,
    .epsilon = 0.01,
    .tail = 0.5,
  };
}

static inline PlaitCellState
pyramid_leaves (PlaitNode *x)
{
  return (PlaitCellState){ x, NULL };
}
