/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/* Grids of tiny models on a generated corpus for tests: 4 updates a cell. */

/* Their experiment, whose last line is [grid]. */
extern const char test_grid_text[];

#define TEST_TWO_BY_TWO "decoder.combiner=serial;flat\nexperiment.seed=1;2\n"

/* Writes tiny.ini with @axes. */
void test_grid_write (const char *axes);

/* Copies a file, with @appended behind it. */
void test_copy_file (const char *from, const char *to, const char *appended);

/* A folder of plugins that hides the built one of combiner @name: its schema from @schema, its module from @module with
 * @appended behind it, which loaders do not mind. */
void test_write_plugin (const char *name, const char *schema, const char *module, const char *appended);

/* The plugin that fails in the ways of faulty/. */
void test_write_faulty (void);

/* A registry of the test's own plugins, then the built ones. (transfer full) */
PlaitRegistry *test_grid_registry (void);

typedef struct
{
  PlaitRegistry *registry;
  PlaitGrid *grid;
} TestGrid;

void test_grid_clear (TestGrid *opened);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TestGrid, test_grid_clear)

/* Looks at tiny.ini in the folder @name. */
TestGrid test_grid_open (const char *name, const char *const *overrides, gboolean fresh);

/* Runs what is to be run; cells may fail, but not the grid. */
void test_grid_run (const TestGrid *opened, guint jobs);

/* Opens and runs; checks that all cells finish. */
void test_grid_run_all (const char *name, guint jobs, const char *const *overrides);
