/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * All that a plugin may use: the plugin interface, the layers and operators that plugins compose, and what they stand
 * on. With pkg-config: cc $(pkg-config --cflags --libs plait-1) -shared -fPIC NAME.c -o NAME.so
 */
#include "autograd/operators.h"
#include "nn/attention.h"
#include "nn/blocks.h"
#include "nn/embedding.h"
#include "nn/encoder-stack.h"
#include "nn/feed-forward.h"
#include "nn/linear.h"
#include "nn/norm.h"
#include "nn/positions.h"
#include "nn/pyramid.h"
#include "nn/recurrent.h"
#include "nn/recurrent-stack.h"
#include "nn/tree.h"
#include "plugin/plugin.h"
