/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * Rules that select the head among the children of a constituent. The rules of a language are a key-file,
 * schemas/head-rules/NAME.ini, which is searched for like a plugin (loading/registry.h). Another language needs only
 * another file:
 *
 *     [head-rules]
 *     summary=...
 *     reference=...
 *     # for constituents without a rule in [rules]
 *     other=left
 *
 *     [rules]
 *     PP=right IN TO; right VBG; right
 *
 * A rule is a list of searches; the first that finds a child decides. A search begins with the leftmost child ("left")
 * or the rightmost one ("right") and looks for a child with one of the labels that follow; without labels, it takes the
 * child with which it begins. Function tags of labels are ignored: the first '-' or '=' and all that follows (NP-SBJ);
 * in a label that begins with '-' (-LRB-), only '=' begins a tag. If no search finds a child, the head is the leftmost
 * or the rightmost child, as "other" says.
 */
typedef struct PlaitHeadRules PlaitHeadRules;

/* Subfolder of plugin folders that holds head rules, for plait_registry_find_text. */
#define PLAIT_HEAD_RULES_FOLDER "head-rules"

/* Reads head rules from the file at @path. (transfer full) */
PlaitHeadRules *plait_head_rules_read (const char *path, GError **error);

/* Reads head rules from a text that plait_head_rules_text returned; messages call it @name. (transfer full) */
PlaitHeadRules *plait_head_rules_parse (const char *text, const char *name, GError **error);

PlaitHeadRules *plait_head_rules_ref (PlaitHeadRules *rules);
void plait_head_rules_unref (PlaitHeadRules *rules);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitHeadRules, plait_head_rules_unref)

/* Returns the rules as the text of a key-file, without comments. A run stores this text. (transfer full) */
char *plait_head_rules_text (const PlaitHeadRules *rules);

/* A label inside a longer text, not NUL-terminated. */
typedef struct
{
  const char *text;
  gsize length;
} PlaitLabel;

/* Returns the index of the head, 0 .. n - 1, among the @n >= 1 children of a constituent with label @parent. */
gint64 plait_head_rules_find (const PlaitHeadRules *rules, PlaitLabel parent, const PlaitLabel *children, gint64 n);
