/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * Head rules: which child of a constituent is its head. A key-file, schemas/head-rules/NAME.ini, found where plugins
 * are found (loading/registry.h), so that rules for another language are one file more:
 *
 *     [head-rules]
 *     summary=...
 *     reference=...
 *     # of constituents that [rules] has not
 *     other=left
 *
 *     [rules]
 *     PP=right IN TO; right VBG; right
 *
 * A rule is a list of searches, the first that finds a child wins: "left" begins with the leftmost child and "right"
 * with the rightmost, for a child of one of the labels that follow, or for any. What a label has from its first '-' or
 * '=' on (NP-SBJ) does not count. If none finds one, "other" tells the side.
 */
typedef struct PlaitHeadRules PlaitHeadRules;

/* Beside the folders of plugins: what plait_registry_find_text looks through. */
#define PLAIT_HEAD_RULES_FOLDER "head-rules"

/* Reads the file at @path. (transfer full) */
PlaitHeadRules *plait_head_rules_read (const char *path, GError **error);

/* Reads what plait_head_rules_text gave; @name stands for it in messages. (transfer full) */
PlaitHeadRules *plait_head_rules_parse (const char *text, const char *name, GError **error);

PlaitHeadRules *plait_head_rules_ref (PlaitHeadRules *rules);
void plait_head_rules_unref (PlaitHeadRules *rules);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitHeadRules, plait_head_rules_unref)

/* What a run stores. (transfer full) */
char *plait_head_rules_text (const PlaitHeadRules *rules);

/* A label inside some text. */
typedef struct
{
  const char *text;
  gsize length;
} PlaitLabel;

/* The head among the @n children (at least one) of a constituent of label @parent: 0 .. n - 1. */
gint64 plait_head_rules_find (const PlaitHeadRules *rules, PlaitLabel parent, const PlaitLabel *children, gint64 n);
