/* SPDX-License-Identifier: MIT */
#pragma once

#include "loading/registry.h"

/*
 * The reference of all keys.
 *
 * It has the groups of experiment files, [grid], the parameters of plugins and the options of metrics. plait inspect,
 * experiments/KEYS.md and plait-keys(5) are made from it, so they cannot differ.
 */
typedef struct
{
  const char *name;      /* such as "train"; name of the plugin or metric if is_member */
  char *heading;         /* heading of the group, such as "[train]" */
  const char *summary;   /* one line */
  const char *reference; /* paper of a plugin, or NULL */
  const char *details;   /* paragraphs, one a line, or NULL */
  const char *members;   /* "plugins" or "metrics" if the next groups are members of this one, else NULL */
  gboolean is_member;    /* TRUE for a plugin or a metric */
  GPtrArray *settings;   /* (element-type PlaitSettingSpecification) */
  GStringChunk *texts;   /* owns the texts in settings of a metric; NULL for other groups */
} PlaitKeyGroup;

/* Returns all groups, each followed by its members. The plugins are those that @registry finds, with @own only those
 * that come with plait. @registry must outlive the groups. (transfer full) (element-type PlaitKeyGroup) */
GPtrArray *plait_key_groups_new (const PlaitRegistry *registry, gboolean own);

/* Paragraphs about writing values, printed before the groups; NULL-terminated. */
extern const char *const plait_key_introduction[];

/* Returns the type and range of @setting: "integer  1 .. 64", "choice  pre | post". (transfer full) */
char *plait_key_type (const PlaitSettingSpecification *setting);

/* Returns the default of @setting: "default: 8", "may be left out" or "must be given". (transfer full) */
char *plait_key_default (const PlaitSettingSpecification *setting);

/* Prints every key that --set accepts, which shell completion needs since plugins declare keys (plait inspect --keys).
 * One key a line, "GROUP.KEY=VALUE VALUE": without values for numbers and texts, with FILE for a path; or as JSON.
 * Sources, files and the task are those of the experiment file @path, or none if @path is NULL. */
gboolean plait_keys_print (const char *path, gboolean as_json, GError **error);

/* Print all groups to stdout: as experiments/KEYS.md, and as a manual page. */
void plait_key_groups_print_markdown (const GPtrArray *groups);
void plait_key_groups_print_manual (const GPtrArray *groups);
