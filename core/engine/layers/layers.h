/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The layers for plugins. plait_X_declare declares the parameters of a layer, when the model is built; plait_X_apply
 * applies it on a tape. A layer is a plain struct: keep it in the plugin's state.
 */
#include "layers/encoder-stack.h"
#include "layers/feed-forward.h"
#include "layers/linear.h"
#include "layers/norm.h"
#include "layers/positions.h"
#include "layers/pyramid.h"
#include "layers/recurrent-stack.h"
#include "layers/recurrent.h"
#include "layers/tree.h"

/* Puts the sizes of the layers' structs into the layout with which a plugin is compiled (interface/plugin.h). */
#undef PLAIT_LAYER_SIZE
#define PLAIT_LAYER_SIZE(Struct) sizeof (Struct)
