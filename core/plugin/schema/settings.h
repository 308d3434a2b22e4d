/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/json.h"
#include "interface/plugin.h"

/*
 * Typed settings, for the parameters of plugins and for the core's groups of experiment files. Schemas describe both,
 * and schemas/settings.py generates a struct and a table from each schema. The tables of schemas/group are compiled
 * into the core. Values do not depend on the locale: integers are in decimal, reals have a point, booleans are true or
 * false, and ';' separates the items of lists.
 */

enum
{
  /* The setting cannot change results (names, log intervals), so it is not part of a fingerprint. */
  PLAIT_SETTING_NEUTRAL = 1 << 0,

  /* The value is a path, made absolute (files/path.h); a fingerprint contains the file's digest, not the path. */
  PLAIT_SETTING_PATH = 1 << 1,

  PLAIT_SETTING_OPTIONAL = 1 << 2, /* the setting may be left out although it has no default */
};

/* The type and range of one setting. The creator of the specification owns its texts. */
typedef struct
{
  const char *name;
  PlaitSettingType type;
  const char *standard; /* the default, as text; NULL: no default, so the setting must be given unless
                           PLAIT_SETTING_OPTIONAL is set */
  const char *minimum;  /* minimum of an integer or real, as text; NULL: no minimum */
  const char *maximum;  /* maximum of an integer or real, as text; NULL: no maximum */
  const char *choices;  /* the choices, or the allowed items of a list, such as "pre;post"; NULL: any item is allowed */
  const char *summary;  /* summary for users, one line */
  const char *reference; /* source such as a paper or "eq. 7", or NULL */
  guint flags;
} PlaitSettingSpecification;

/* A specification and the offset of the struct field that receives the value. */
typedef struct
{
  PlaitSettingSpecification specification;
  gsize offset;
} PlaitSettingDefinition;

/* A group of the core, such as "[decoder]", and its keys. */
typedef struct
{
  const char *name;
  const char *summary;
  gsize settings_size;
  const PlaitSettingDefinition *definitions;
  guint n_definitions;
  const char *details; /* explains to users the keys that are not in the table, one paragraph on each line; or NULL */
} PlaitSettingGroup;

/* The value of a setting; the setting's type says which member is valid. */
typedef union
{
  gint64 integer;
  double real;
  gboolean boolean;
  gint choice;
  const char *text; /* canonical form of a text or list (transfer none) */
} PlaitSettingValue;

/* Returns the name of @type in schemas: "integer", "real", ... (transfer none) */
const char *plait_setting_type_name (PlaitSettingType type);

/* Names of all types in the order of PlaitSettingType, NULL-terminated. */
extern const char *const plait_setting_type_names[];

/* Returns the index of the specification with name @name among @specifications [n], or -1. */
gint plait_setting_find (const PlaitSettingSpecification *const *specifications, guint n, const char *name);

/* Returns the last part of a message about the unknown name @name: the nearest known name, or @otherwise (see
 * plait_name_remedy). (transfer full) */
char *plait_setting_remedy (const PlaitSettingSpecification *const *specifications, guint n, const char *name,
                            const char *otherwise);

/* Returns @choices with ", " between the values: "pre;post" becomes "pre, post". (transfer full) */
char *plait_choices_text (const char *choices);

/* Returns the allowed values as text: "an integer from 1 to 64", "one of pre, post". (transfer full) */
char *plait_setting_expectation (const PlaitSettingSpecification *specification);

/* Adds the value @text of @specification to @json as a number, a truth value or a text. Adds null if @text is NULL, not
 * of the type or not among the choices. Does not check ranges. */
void plait_setting_add_json (const PlaitSettingSpecification *specification, const char *text, PlaitJson *json,
                             const char *name);

/* Checks that @specification is consistent: minimum at most maximum, default in range, choices distinct. The error
 * begins with the fault ("minimum=4 is above maximum=2 ..."). */
gboolean plait_setting_check (const PlaitSettingSpecification *specification, GError **error);

/* Returns the canonical form of @text, or NULL with an error if @text is not a value of @specification. (transfer full)
 * In canonical form, numbers are as short as exactness allows, and no spaces surround list items. @value (may be NULL)
 * receives the value; its text points into the result. The caller can put "FILE:LINE: [group] key: " before the
 * error. */
char *plait_setting_parse (const PlaitSettingSpecification *specification, const char *text, PlaitSettingValue *value,
                           GError **error);

/*
 * The values of one group of settings; initially the defaults.
 */
typedef struct PlaitSettings PlaitSettings;

/* Returns settings with the default values of @specifications [n], which must outlive them. (transfer full) */
PlaitSettings *plait_settings_new (const PlaitSettingSpecification *const *specifications, guint n);

/* Returns settings with the default values of a group of the core. (transfer full) */
PlaitSettings *plait_settings_new_for_group (const PlaitSettingGroup *group);

/* Adds a reference to @settings and returns it; each owner calls plait_settings_free. Shared settings must not be
 * changed. Not thread-safe. (transfer full) */
PlaitSettings *plait_settings_share (PlaitSettings *settings);
void plait_settings_free (PlaitSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitSettings, plait_settings_free)

guint plait_settings_n (const PlaitSettings *settings);
const PlaitSettingSpecification *plait_settings_specification (const PlaitSettings *settings, guint index);

/* Returns the index of the setting with name @name, or -1. */
gint plait_settings_find (const PlaitSettings *settings, const char *name);

/* Returns the last part of a message about the unknown setting @name: the nearest known name, or @otherwise (see
 * plait_name_remedy). (transfer full) */
char *plait_settings_remedy (const PlaitSettings *settings, const char *name, const char *otherwise);

/* Sets the setting @name to the value of @text. Returns FALSE with an error, and changes nothing, if the name is
 * unknown or the value wrong. */
gboolean plait_settings_set (PlaitSettings *settings, const char *name, const char *text, GError **error);

/* Return the canonical text of a setting; NULL if the setting does not exist, or has no default and was not given.
 * (transfer none) */
const char *plait_settings_text (const PlaitSettings *settings, const char *name);
const char *plait_settings_text_at (const PlaitSettings *settings, guint index);

/* TRUE if the setting was set with plait_settings_set. */
gboolean plait_settings_is_given (const PlaitSettings *settings, guint index);

/* Writes the values into @memory, a plugin's own struct, at the offsets in @bindings. Texts stay owned by @settings.
 * Each binding must have the name and the type of a setting; the registry has checked this. */
void plait_settings_fill (const PlaitSettings *settings, const PlaitBinding *bindings, guint n_bindings,
                          gpointer memory);

/* Writes the values into @memory, the struct of @group. @settings must be of this group. Texts stay owned by
 * @settings. */
void plait_settings_fill_group (const PlaitSettings *settings, const PlaitSettingGroup *group, gpointer memory);

/* Fills @memory, the struct of @group, with the defaults. Texts are static. */
void plait_setting_group_defaults (const PlaitSettingGroup *group, gpointer memory);
