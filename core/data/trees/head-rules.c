/* SPDX-License-Identifier: MIT */
#include "trees/head-rules.h"

#include <string.h>

#include "files/key-file.h"
#include "files/problems.h"

#define GROUP "head-rules"
#define RULES "rules"

/* One step of a rule: searches the children for the head. */
typedef struct
{
  gboolean from_right;
  char **labels; /* labels to look for, NULL-terminated; empty: any child matches */
} Search;

struct PlaitHeadRules
{
  int references; /* counter, changed atomically */
  PlaitKeyFile *file;
  gboolean other_right;
  GHashTable *rules; /* label -> GArray of Search */
};

static void
search_clear (gpointer data)
{
  g_strfreev (((Search *)data)->labels);
}

PlaitHeadRules *
plait_head_rules_ref (PlaitHeadRules *rules)
{
  g_atomic_int_inc (&rules->references);
  return rules;
}

void
plait_head_rules_unref (PlaitHeadRules *rules)
{
  if (!rules || !g_atomic_int_dec_and_test (&rules->references))
    return;
  g_hash_table_unref (rules->rules);
  plait_key_file_free (rules->file);
  g_free (rules);
}

static gboolean
read_side (const char *text, gboolean *right)
{
  *right = strcmp (text, "right") == 0;
  return *right || strcmp (text, "left") == 0;
}

static void
read_rule (const PlaitHeadRules *rules, const char *label, PlaitProblems *problems)
{
  g_auto (GStrv) items = plait_key_file_list (rules->file, RULES, label);
  GArray *rule = g_array_new (FALSE, TRUE, sizeof (Search));
  g_array_set_clear_func (rule, search_clear);
  g_hash_table_insert (rules->rules, g_strdup (label), rule);
  if (!items[0])
    plait_problems_add_key (problems, rules->file, RULES, label,
                            "is empty; expected searches such as \"left VB VBD; right\"");
  for (guint i = 0; items[i]; i++)
    {
      g_auto (GStrv) words = g_strsplit_set (items[i], " \t", -1);
      g_autoptr (GStrvBuilder) labels = g_strv_builder_new ();
      Search search = { FALSE, NULL };
      if (!read_side (words[0] ? words[0] : "", &search.from_right))
        plait_problems_add_key (
            problems, rules->file, RULES, label,
            "has a search that begins with neither left nor right; expected for example \"left VB VBD; right\"");
      for (guint j = 1; words[0] && words[j]; j++)
        if (*words[j] != '\0')
          g_strv_builder_add (labels, words[j]);
      search.labels = g_strv_builder_end (labels);
      g_array_append_val (rule, search);
    }
}

static void
check_names (const PlaitHeadRules *rules, PlaitProblems *problems)
{
  static const char *const known[] = { "summary", "reference", "other", NULL };
  const char *const *groups = plait_key_file_groups (rules->file);
  const char *const *keys = plait_key_file_keys (rules->file, GROUP);
  for (guint i = 0; groups[i]; i++)
    if (strcmp (groups[i], GROUP) != 0 && strcmp (groups[i], RULES) != 0)
      plait_problems_add_key (problems, rules->file, groups[i], NULL,
                              "is not a group of head rules; expected [head-rules] and [rules]");
  for (guint i = 0; keys[i]; i++)
    if (!g_strv_contains (known, keys[i]))
      plait_problems_add_key (problems, rules->file, GROUP, keys[i],
                              "no such key; expected summary, reference or other");
}

/* Takes ownership of @file. If @file is NULL, returns NULL: reading the file has set @error. */
static PlaitHeadRules *
rules_new (PlaitKeyFile *file, GError **error)
{
  if (!file)
    return NULL;
  g_autoptr (PlaitHeadRules) rules = g_new0 (PlaitHeadRules, 1);
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  rules->references = 1;
  rules->file = file;
  rules->rules = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
  if (!plait_key_file_has_group (file, GROUP))
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: has no group [head-rules], so it holds no head rules; name another file",
                            plait_key_file_name (file));
  check_names (rules, problems);
  const char *other = plait_key_file_value (file, GROUP, "other");
  if (!other || !read_side (other, &rules->other_right))
    plait_problems_add_key (problems, rules->file, GROUP, other ? "other" : NULL,
                            "expected other=left or other=right: the side of the head in a constituent without a rule");
  const char *const *labels = plait_key_file_keys (file, RULES);
  for (guint i = 0; labels[i]; i++)
    read_rule (rules, labels[i], problems);
  return plait_problems_report (problems, PLAIT_ERROR_INPUT, error) ? g_steal_pointer (&rules) : NULL;
}

PlaitHeadRules *
plait_head_rules_read (const char *path, GError **error)
{
  return rules_new (plait_key_file_load (path, error), error);
}

PlaitHeadRules *
plait_head_rules_parse (const char *text, const char *name, GError **error)
{
  return rules_new (plait_key_file_load_data (text, -1, name, error), error);
}

char *
plait_head_rules_text (const PlaitHeadRules *rules)
{
  return plait_key_file_text (rules->file);
}

/* Returns the length of @label without function tags (NP-SBJ). A label that begins with '-' has no tag that begins
 * with '-' (-LRB-). */
static gsize
category_length (PlaitLabel label)
{
  for (gsize i = 1; i < label.length; i++)
    if ((label.text[i] == '-' && label.text[0] != '-') || label.text[i] == '=')
      return i;
  return label.length;
}

static gboolean
is_one_of (PlaitLabel label, char *const *labels)
{
  gsize length = category_length (label);
  if (!labels[0])
    return TRUE;
  for (guint i = 0; labels[i]; i++)
    if (strlen (labels[i]) == length && memcmp (labels[i], label.text, length) == 0)
      return TRUE;
  return FALSE;
}

gint64
plait_head_rules_find (const PlaitHeadRules *rules, PlaitLabel parent, const PlaitLabel *children, gint64 n)
{
  g_autofree char *category = g_strndup (parent.text, category_length (parent));
  const GArray *rule = category ? g_hash_table_lookup (rules->rules, category) : NULL;
  for (guint i = 0; rule && i < rule->len; i++)
    {
      const Search *search = &g_array_index (rule, Search, i);
      for (gint64 k = 0; k < n; k++)
        {
          gint64 child = search->from_right ? n - 1 - k : k;
          if (is_one_of (children[child], search->labels))
            return child;
        }
    }
  return rules->other_right ? n - 1 : 0;
}
