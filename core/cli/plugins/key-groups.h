/* SPDX-License-Identifier: MIT */
#pragma once

#include "loading/registry.h"

/*
 * The reference of all keys: groups of experiment files, [grid], parameters of plugins, options of metrics. plait
 * inspect, experiments/KEYS.md and plait-keys(5) are made of it, so they cannot differ.
 */
typedef struct
{
  const char *name;      /* "train"; of a plugin or a metric its own */
  char *heading;         /* "[train]" */
  const char *summary;   /* one line */
  const char *reference; /* of a plugin: its paper; NULL: none */
  const char *details;   /* paragraphs, one a line; NULL: none */
  const char *members;   /* "plugins" or "metrics" if such groups follow that are below this one; else NULL */
  gboolean is_member;    /* is a plugin or a metric */
  GPtrArray *settings;   /* (element-type PlaitSettingSpecification) */
  GStringChunk *texts;   /* of a metric: owns the texts of its settings; else NULL */
} PlaitKeyGroup;

/* Returns all groups, each before its members; of plugins those that @registry finds, with @own only those that came
 * with plait. The registry must outlive them. (transfer full) (element-type PlaitKeyGroup) */
GPtrArray *plait_key_groups_new (const PlaitRegistry *registry, gboolean own);

/* Paragraphs on how values are written, before all groups; ends with NULL. */
extern const char *const plait_key_introduction[];

/* Returns the values that @setting takes, short: "integer  1 .. 64", "choice  pre | post". (transfer full) */
char *plait_key_type (const PlaitSettingSpecification *setting);

/* Returns the default, or that the key may be left out or must be given. (transfer full) */
char *plait_key_default (const PlaitSettingSpecification *setting);

/* Prints all of @groups to stdout, for experiments/KEYS.md and for man. */
void plait_key_groups_print_markdown (const GPtrArray *groups);
void plait_key_groups_print_manual (const GPtrArray *groups);
