/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/json.h"
#include "interface/plugin.h"

/*
 * Typed settings: one mechanism for the parameters of plugins and for the groups of experiment files that the core
 * reads. Schemas describe both. schemas/settings.py makes a struct and a table of each; the table of a group of the
 * core, schemas/group/NAME.ini, is compiled in.
 *
 * Values are written strictly and without a locale: integers in decimal, reals with a point, true or false, one of the
 * choices, texts as they stand, lists separated by ';'.
 */

enum
{
  PLAIT_SETTING_NEUTRAL = 1 << 0,  /* cannot change results (names, log intervals): no part of a grid cell's key */
  PLAIT_SETTING_PATH = 1 << 1,     /* a path, made absolute (files/path.h): whether one is given and its digest are part
                                       of the key, not its place */
  PLAIT_SETTING_OPTIONAL = 1 << 2, /* without a default it may be left out all the same */
};

/* What one setting may be. Every text belongs to whoever made the specification. */
typedef struct
{
  const char *name;
  PlaitSettingType type;
  const char *standard;  /* the default, as text; NULL: must be given */
  const char *minimum;   /* of integers and reals, as text; NULL: none */
  const char *maximum;   /* likewise */
  const char *choices;   /* of a choice, and of the items of a list: "pre;post"; NULL: none */
  const char *summary;   /* one line for people */
  const char *reference; /* where it comes from: "eq. 7", a paper; or NULL */
  guint flags;
} PlaitSettingSpecification;

/* A specification and the field of a struct that takes the value. */
typedef struct
{
  PlaitSettingSpecification specification;
  gsize offset;
} PlaitSettingDefinition;

/* A group of the core: "[decoder]" and its keys. */
typedef struct
{
  const char *name;
  const char *summary;
  gsize settings_size;
  const PlaitSettingDefinition *definitions;
  guint n_definitions;
  const char *details; /* on keys that no table can hold, for people, one paragraph a line; or NULL */
} PlaitSettingGroup;

/* One value; which member counts is the type's affair. */
typedef union
{
  gint64 integer;
  double real;
  gboolean boolean;
  gint choice;
  const char *text; /* of texts and lists: the canonical text, owned by the PlaitSettings */
} PlaitSettingValue;

/* "integer", "real", ...; as a schema spells it. (transfer none) */
const char *plait_setting_type_name (PlaitSettingType type);

/* All of them in the order of PlaitSettingType, ended by NULL. */
extern const char *const plait_setting_type_names[];

/* The place of the one called @name among @specifications [n], or -1. */
gint plait_setting_find (const PlaitSettingSpecification *const *specifications, guint n, const char *name);

/* How a message about @name, which is none of theirs, ends (plait_name_remedy). (transfer full) */
char *plait_setting_remedy (const PlaitSettingSpecification *const *specifications, guint n, const char *name,
                            const char *otherwise);

/* "pre;post" as "pre, post". (transfer full) */
char *plait_choices_text (const char *choices);

/* What a value may be, for people: "an integer from 1 to 64", "one of pre, post". (transfer full) */
char *plait_setting_expectation (const PlaitSettingSpecification *specification);

/* Adds the value @text of @specification to @json as what it is: a number, a truth value or a text; null where it is
 * NULL or no such value. Ranges are not looked at. */
void plait_setting_add_json (const PlaitSettingSpecification *specification, const char *text, PlaitJson *json,
                             const char *name);

/* Checks that @specification makes sense in itself: range of numbers in order, default within it, choices distinct. The
 * message begins with the fault ("minimum=4 is above maximum=2 ..."). */
gboolean plait_setting_check (const PlaitSettingSpecification *specification, GError **error);

/* The canonical spelling of @text, or NULL when it is not a value of @specification; @value (may be NULL) receives it,
 * its text pointing into the result. Canonical: numbers in their shortest exact form, list items without spaces. The
 * message begins with the offending value, so that a caller can put "FILE:LINE: [group] key" before it.
 * (transfer full) */
char *plait_setting_parse (const PlaitSettingSpecification *specification, const char *text, PlaitSettingValue *value,
                           GError **error);

/*
 * The values of one group. Starts as the defaults.
 */
typedef struct PlaitSettings PlaitSettings;

/* @specifications [n] must outlive the settings. (transfer full) */
PlaitSettings *plait_settings_new (const PlaitSettingSpecification *const *specifications, guint n);

/* Of a group of the core. (transfer full) */
PlaitSettings *plait_settings_new_for_group (const PlaitSettingGroup *group);

/* @settings for one owner more: each frees them, and none sets a value while there are several. Not for several
 * threads. (transfer full) */
PlaitSettings *plait_settings_share (PlaitSettings *settings);
void plait_settings_free (PlaitSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitSettings, plait_settings_free)

guint plait_settings_n (const PlaitSettings *settings);
const PlaitSettingSpecification *plait_settings_specification (const PlaitSettings *settings, guint index);

/* The place of @name, or -1. */
gint plait_settings_find (const PlaitSettings *settings, const char *name);

/* How a message about @name, which is no setting, ends (plait_name_remedy). (transfer full) */
char *plait_settings_remedy (const PlaitSettings *settings, const char *name, const char *otherwise);

/* Gives @name the value that @text spells. Unknown names and bad values leave everything as it was. */
gboolean plait_settings_set (PlaitSettings *settings, const char *name, const char *text, GError **error);

/* The canonical text of a setting, or NULL where it has no default and was not given. (transfer none) */
const char *plait_settings_text (const PlaitSettings *settings, const char *name);
const char *plait_settings_text_at (const PlaitSettings *settings, guint index);

/* TRUE if the setting was given, rather than left at its default. */
gboolean plait_settings_is_given (const PlaitSettings *settings, guint index);

/* Writes the values into @memory, a plugin's own struct, as @bindings say. Texts stay owned by @settings. Every binding
 * must name a setting of its type (the registry has checked that). */
void plait_settings_fill (const PlaitSettings *settings, const PlaitBinding *bindings, guint n_bindings,
                          gpointer memory);

/* Writes the values into @memory, the struct of @group, which the settings are of. Texts stay owned by @settings. */
void plait_settings_fill_group (const PlaitSettings *settings, const PlaitSettingGroup *group, gpointer memory);

/* Fills @memory, the struct of @group, with the defaults: what an empty group gives. Texts are static. */
void plait_setting_group_defaults (const PlaitSettingGroup *group, gpointer memory);
