/* SPDX-License-Identifier: MIT */
#pragma once

#include "contract/specimen.h"
#include "cross-attention/site.h"

/* What tests of models share beside the small models of core/workbench/contract. */

/* The part that @plugin plays with @settings (borrowed) as those of [@group], opened; fails the test case if it cannot
 * be. (transfer full) */
PlaitPart *test_opened_part (PlaitPlugin *plugin, PlaitSettings *settings, const char *group);

/* The attention without a name that @site declared, or NULL. */
const PlaitReader *test_reader (const PlaitDeclaredSite *site, PlaitReads reads, guint memory);

/* The plugin of @kind called @name of the build tree, loaded; fails the test case if there is none. (transfer none) */
PlaitPlugin *test_plugin (PlaitRegistry *registry, PlaitPluginKind kind, const char *name);
