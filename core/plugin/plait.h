/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * All that a plugin may use: the plugin interface, the layers and operators that plugins compose, and what they stand
 * on. With pkg-config: cc $(pkg-config --cflags --libs plait-1) -shared -fPIC NAME.c -o NAME.so
 */
#include "autograd/operators.h"
#include "layers/attention.h"
#include "layers/blocks.h"
#include "layers/embedding.h"
#include "layers/encoder-stack.h"
#include "layers/feed-forward.h"
#include "layers/linear.h"
#include "layers/norm.h"
#include "layers/positions.h"
#include "layers/pyramid.h"
#include "layers/recurrent.h"
#include "layers/recurrent-stack.h"
#include "layers/tree.h"
#include "interface/plugin.h"
