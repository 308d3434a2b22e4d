/* SPDX-License-Identifier: MIT */
#include "setup/fingerprint.h"

#include <string.h>

#include "experiment/groups.h"

/* A rule: if deciding_key differs, differences of the keys of @group that begin with @prefix follow from that. Every
 * key begins with an empty @prefix. */
typedef struct
{
  const char *group;
  const char *prefix;
  const char *deciding_group; /* group of deciding_key; NULL: the field group */
  const char *deciding_key;
} Deciding;

static const Deciding deciding[] = {
  { "combiner", "", "decoder", "combiner" },     { "coverage", "", "decoder", "coverage" },
  { "output", "", "decoder", "output" },         { "data", "generate.", NULL, "generate" },
  { "data", "train.", "experiment", "sources" }, { "data", "validation.", "experiment", "sources" },
  { "data", "test", "experiment", "sources" },
};

static gboolean
is_equal (const PlaitKeyFile *a, const PlaitKeyFile *b, const char *group, const char *key)
{
  return g_strcmp0 (plait_key_file_value (a, group, key), plait_key_file_value (b, group, key)) == 0;
}

/* TRUE if [@group] @key differs only because another key differs. For example, another plugin has other parameters. */
static gboolean
follows (const PlaitKeyFile *a, const PlaitKeyFile *b, const char *group, const char *key)
{
  g_autofree char *outer = g_strndup (group, strcspn (group, "/"));

  /* If only one file has the source, the source itself is reported as a difference, so its keys need not be. */
  if (!plait_key_file_has_group (a, outer) || !plait_key_file_has_group (b, outer))
    return TRUE;
  if (g_str_equal (group, "decoder") && !plait_experiment_setting (group, key) && !is_equal (a, b, group, "type"))
    return TRUE;
  if (g_str_has_prefix (group, "source ") && !g_str_equal (key, "encoder")
      && (!is_equal (a, b, outer, "encoder") || (strchr (group, '/') && !is_equal (a, b, outer, "leaves"))))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (deciding); i++)
    if (g_str_equal (group, deciding[i].group) && g_str_has_prefix (key, deciding[i].prefix)
        && !is_equal (a, b, deciding[i].deciding_group ? deciding[i].deciding_group : group, deciding[i].deciding_key))
      return TRUE;
  return FALSE;
}

/* Returns @value as messages show it. */
static const char *
shown (const char *value)
{
  return !value ? "not there" : *value ? value : "empty";
}

void
plait_key_files_describe_differences (const PlaitKeyFile *listed, const PlaitKeyFile *before, const PlaitKeyFile *now,
                                      PlaitSettingDiffers differs, gconstpointer data, GPtrArray *sentences)
{
  const char *const *groups = plait_key_file_groups (listed);

  for (guint g = 0; groups[g]; g++)
    {
      const char *const *keys = plait_key_file_keys (listed, groups[g]);

      for (guint k = 0; keys[k]; k++)
        {
          const char *old = plait_key_file_value (before, groups[g], keys[k]);
          const char *new = plait_key_file_value (now, groups[g], keys[k]);
          g_autofree char *name = g_strdup_printf ("%s.%s", groups[g], keys[k]);

          if (differs (groups[g], keys[k], old, new, data))
            g_ptr_array_add (sentences, g_strdup_printf ("%s was %s, is %s", g_strdelimit (name, " ", '.'), shown (old),
                                                         shown (new)));
        }
    }
}

typedef struct
{
  const PlaitKeyFile *before, *now;
} Keys;

static gboolean
has_changed (const char *group, const char *key, const char *old, const char *new, gconstpointer data)
{
  const Keys *keys = data;

  return g_strcmp0 (old, new) != 0 && !follows (keys->before, keys->now, group, key);
}

static gboolean
is_gone (const char *group, const char *key, const char *old, const char *new, gconstpointer data)
{
  return !new &&has_changed (group, key, old, new, data);
}

char *
plait_fingerprint_difference (const char *before, const char *now)
{
  g_autoptr (PlaitKeyFile) a = plait_key_file_load_data (before, -1, "before", NULL);
  g_autoptr (PlaitKeyFile) b = plait_key_file_load_data (now, -1, "now", NULL);
  g_autoptr (GPtrArray) sentences = g_ptr_array_new_null_terminated (8, g_free, TRUE);
  const Keys keys = { a, b };

  if (g_str_equal (before, now))
    return NULL;
  if (a && b)
    {
      plait_key_files_describe_differences (b, a, b, has_changed, &keys, sentences);
      plait_key_files_describe_differences (a, a, b, is_gone, &keys, sentences);
    }
  if (sentences->len == 0)
    g_ptr_array_add (sentences, g_strdup ("its sources or keys are in another order"));
  return g_strjoinv ("; ", (char **)sentences->pdata);
}
