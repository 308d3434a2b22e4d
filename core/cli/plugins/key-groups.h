/* SPDX-License-Identifier: MIT */
#pragma once

#include "loading/registry.h"

/*
 * A group of the reference of all keys: a group of experiment files, the parameters of a plugin, or the options of a
 * metric. plait inspect, experiments/KEYS.md and plait-keys(5) are made from these groups.
 */
typedef struct
{
  const char *name;      /* name of the group, such as "train"; name of the plugin or metric if is_member */
  char *heading;         /* heading of the group, such as "[train]" */
  const char *summary;   /* description in one line */
  const char *reference; /* paper in which a plugin was published, or NULL */
  const char *details;   /* paragraphs, one on each line, or NULL */
  const char *members;   /* "plugins" or "metrics" if the next groups are members of this group; else NULL */
  gboolean is_member;    /* TRUE if the group is a plugin or a metric */
  GPtrArray *settings;   /* (element-type PlaitSettingSpecification): keys of the group */
  GStringChunk *texts;   /* owns the texts in @settings if the group is a metric; else NULL */
} PlaitKeyGroup;

/* Returns all groups, each followed by its members. @own: only plugins that come with plait; else all plugins that
 * @registry finds. @registry must outlive the groups. (transfer full) (element-type PlaitKeyGroup) */
GPtrArray *plait_key_groups_new (const PlaitRegistry *registry, gboolean own);

/* Paragraphs about how values are written, which are printed before the groups; NULL-terminated. */
extern const char *const plait_key_introduction[];

/* Returns the type and range of @setting: "integer  1 .. 64", "choice  pre | post". (transfer full) */
char *plait_key_type (const PlaitSettingSpecification *setting);

/* Returns the default of @setting: "default: 8", "may be left out" or "must be given". (transfer full) */
char *plait_key_default (const PlaitSettingSpecification *setting);

/* Prints every key that --set accepts (plait inspect --keys). Shell completion needs this, because plugins declare
 * keys. A line is "GROUP.KEY=" and the possible values, separated by blanks; for a path, FILE replaces the values; for
 * a number or text, no value follows. If @as_json, prints JSON instead. @path: experiment file whose sources, files and
 * task also have keys; NULL: no such file. */
gboolean plait_keys_print (const char *path, gboolean as_json, GError **error);

/* Print all groups on stdout: plait_key_groups_print_markdown() as experiments/KEYS.md,
 * plait_key_groups_print_manual() as a manual page. */
void plait_key_groups_print_markdown (const GPtrArray *groups);
void plait_key_groups_print_manual (const GPtrArray *groups);
