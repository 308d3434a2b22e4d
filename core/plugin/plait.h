/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * All that a plugin outside the tree of plait may use: the plugin interface, the layers, and the operators. With
 * pkg-config: cc $(pkg-config --cflags --libs plait-1) -shared -fPIC NAME.c -o NAME.so
 */
#include "autograd/operators.h"
#include "layers/layers.h"
#include "interface/plugin.h"
