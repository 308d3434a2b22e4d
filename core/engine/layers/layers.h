/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The layers that encoders and coverages are made of. plait_X_declare declares the parameters of a layer, in build;
 * plait_X_apply composes operators on a tape. A layer is a value: keep it in the plugin's state.
 */
#include "layers/encoder-stack.h"
#include "layers/linear.h"
#include "layers/norm.h"
#include "layers/positions.h"
#include "layers/pyramid.h"
#include "layers/recurrent-stack.h"
#include "layers/recurrent.h"
#include "layers/tree.h"

/* The layers are part of the layout that a module was built against (interface/plugin.h). */
#undef PLAIT_LAYER_SIZE
#define PLAIT_LAYER_SIZE(Struct) sizeof (Struct)
