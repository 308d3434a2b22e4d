/* SPDX-License-Identifier: MIT */
#pragma once

#include <gmodule.h>

#include "text/error.h"

/*
 * Modules: parts of plait that call an optional library, such as Cairo. A module is KIND/NAME.so in a plugin folder. It
 * is opened when its library is first needed, and stays open. It calls no function of plait. Only one file of core
 * opens each kind of module. The header of the last column declares the functions of the module:
 *
 *     kind        names                what it does                     table declared in
 *     blas        openblas, blis, mkl  products of matrices             tensor/blas.h
 *     parser      link-grammar         trees of English                 trees/parser.h
 *     plot        cairo                draws figures                    plot/plot.h
 *     ranks       mpi                  exchange between processes       process/ranks.h
 *     subwords    sentencepiece        vocabularies of subwords         vocabulary/sentencepiece.h
 *     tokeniser   mecab                words of Japanese                words/tokeniser.h
 *     unicode     icu                  ends of sentences, lower case    process/unicode.h
 */

/* Version of the layout of modules and their tables. Increase it when a function of a table changes its meaning. */
#define PLAIT_MODULE_INTERFACE 1

#define PLAIT_MODULE_SYMBOL plait_module

/* Symbol that every module exports. */
typedef struct
{
  guint interface;     /* PLAIT_MODULE_INTERFACE with which the module was built */
  guint scalar_size;   /* bytes of PlaitScalar with which the module was built */
  const char *kind;    /* kind of the module: name of the folder of such modules */
  gsize table_size;    /* bytes of the struct at @table */
  gconstpointer table; /* struct of functions, which the header of the kind declares */
} PlaitModule;

#ifdef PLAIT_SCALAR_DOUBLE
#define PLAIT_MODULE_SCALAR_SIZE sizeof (double)
#else
#define PLAIT_MODULE_SCALAR_SIZE sizeof (float)
#endif

G_BEGIN_DECLS
/* Declared first, because constants have internal linkage in C++. */
G_MODULE_EXPORT extern const PlaitModule PLAIT_MODULE_SYMBOL;
G_END_DECLS

/* Defines the exported symbol of a module of kind @module_kind; @functions is a constant struct. */
#define PLAIT_MODULE_DEFINE(module_kind, functions)                                                                    \
  const PlaitModule PLAIT_MODULE_SYMBOL                                                                                \
      = { PLAIT_MODULE_INTERFACE, PLAIT_MODULE_SCALAR_SIZE, module_kind, sizeof (functions), &(functions) };

/* Request for a module. */
typedef struct
{
  const char *kind, *name;
  const char *use;      /* beginning of error messages, such as "drawing figures" */
  const char *packages; /* Debian packages with the library and its headers: "libcairo2-dev and libpango1.0-dev" */
  gsize table_size;     /* expected bytes of the table's struct */
} PlaitModuleWanted;

/* Returns the table of the module that @wanted describes. Opens the module if needed, from the first plugin folder that
 * has it. Fails with PLAIT_ERROR_INPUT if no folder has the module, or if this plait cannot load the module of that
 * first folder, even if a later folder has another one; the message names the remedy. Thread-safe. (transfer none) */
gconstpointer plait_module_open (const PlaitModuleWanted *wanted, GError **error);
