/* SPDX-License-Identifier: MIT */
#pragma once

#include <gmodule.h>

#include "text/error.h"

/*
 * Modules: code of plait that calls a library which not every command needs, such as Cairo. A module is KIND/NAME.so in
 * a plugin folder. It is opened when its library is first wanted, and stays open. It calls nothing of plait, and nobody
 * but its kind's own file in core asks for it:
 *
 *     kind        names                what it does                     asked for by
 *     blas        openblas, blis, mkl  products of matrices             tensor/blas.h
 *     parser      link-grammar         trees of English                 trees/parser.h
 *     plot        cairo                draws figures                    plot/plot.h
 *     ranks       mpi                  exchange between processes       process/ranks.h
 *     subwords    sentencepiece        vocabularies of subwords         vocabulary/sentencepiece.h
 *     unicode     icu                  ends of sentences, lower case    process/unicode.h
 */

/* A number for the layout of all modules and tables. Raise it where a function of a table changes its meaning. */
#define PLAIT_MODULE_INTERFACE 1

#define PLAIT_MODULE_SYMBOL plait_module

/* The table that a module exports. */
typedef struct
{
  guint interface;     /* PLAIT_MODULE_INTERFACE */
  guint scalar_size;   /* bytes of a tensor's element */
  const char *kind;    /* as its folder is called */
  gsize table_size;    /* bytes */
  gconstpointer table; /* a struct of functions, which the kind's header declares */
} PlaitModule;

#ifdef PLAIT_SCALAR_DOUBLE
#define PLAIT_MODULE_SCALAR_SIZE sizeof (double)
#else
#define PLAIT_MODULE_SCALAR_SIZE sizeof (float)
#endif

G_BEGIN_DECLS
/* Declared, since C++ would keep a constant to itself. */
G_MODULE_EXPORT extern const PlaitModule PLAIT_MODULE_SYMBOL;
G_END_DECLS

/* Exports @functions, a constant struct, as the module's table. */
#define PLAIT_MODULE_DEFINE(module_kind, functions)                                                                    \
  const PlaitModule PLAIT_MODULE_SYMBOL                                                                                \
      = { PLAIT_MODULE_INTERFACE, PLAIT_MODULE_SCALAR_SIZE, module_kind, sizeof (functions), &(functions) };

/* How a module is asked for. */
typedef struct
{
  const char *kind, *name;
  const char *use;      /* begins the refusal: "drawing figures" */
  const char *packages; /* of Debian, which bring the library and its headers: "libcairo2-dev and libpango1.0-dev" */
  gsize table_size;     /* bytes of the struct that is expected */
} PlaitModuleWanted;

/* Returns the table of the first module of that kind and name in the plugin folders, which is opened unless it is open
 * already. PLAIT_ERROR_INPUT if there is no module, or none that can be loaded into this plait: one sentence, which
 * names the packages. Any thread may call. (transfer none) */
gconstpointer plait_module_open (const PlaitModuleWanted *wanted, GError **error);
