/* SPDX-License-Identifier: MIT */
#include "axes/parameter-match.h"

#include <math.h>

#include "text/separators.h"
#include "axes/keys.h"
#include "setup/experiment-model.h"

#define KEY "match"
#define VARY "match.vary"
#define MAX_WIDTH ((gint64)1 << 20) /* width that is tried */

/* A key that varies, and what the file has for it. */
typedef struct
{
  char *dotted;
  char *group;
  char *key;
  char *written;
  gint64 value;
} Width;

struct PlaitParameterMatch
{
  GArray *widths;
  char *place; /* of match.vary, for messages */
  double tolerance;
  gint64 multiple;
  gint64 target; /* parameters of the first cell; 0: it has not been made */
};

static gboolean
is_key (const char *key)
{
  return g_str_equal (key, KEY) || g_str_has_prefix (key, KEY ".");
}

/*
 * Reading
 */

static void
width_clear (gpointer data)
{
  Width *width = data;

  g_free (width->dotted);
  g_free (width->group);
  g_free (width->key);
  g_free (width->written);
}

/* Returns the value that @file has for the key @dotted, or NULL. */
static const char *
value_of (const PlaitKeyFile *file, const char *dotted)
{
  g_autofree char *group = NULL, *key = NULL;

  return plait_experiment_split_key (dotted, &group, &key) ? plait_key_file_value (file, group, key) : NULL;
}

static gboolean
has_value (const char *dotted, gconstpointer file)
{
  return value_of (file, dotted) != NULL;
}

static void
read_width (PlaitParameterMatch *match, const PlaitKeyFile *file, const char *dotted, PlaitProblems *problems)
{
  Width width = { .dotted = g_strdup (dotted) };
  g_autofree char *mended = plait_separators_mend (dotted, ";", has_value, file);
  const char *value = value_of (file, dotted);

  plait_experiment_split_key (dotted, &width.group, &width.key);
  if (mended)
    plait_problems_add_key (problems, file, PLAIT_GRID_GROUP, VARY, "\"%s\" is no key; did you mean \"%s\"?", dotted,
                            mended);
  else if (!value || !g_ascii_string_to_signed (value, 10, 1, MAX_WIDTH, &width.value, NULL))
    plait_problems_add_key (problems, file, PLAIT_GRID_GROUP, VARY,
                            "\"%s\" is no key with a width in this file; name such keys as decoder.feed_forward or "
                            "source.en.feed_forward, and write their values for the first cell",
                            dotted);
  width.written = g_strdup (value);
  g_array_append_val (match->widths, width);
}

static void
read_keys (PlaitParameterMatch *match, const PlaitKeyFile *file, PlaitProblems *problems)
{
  PlaitGridSettings read;
  guint before = plait_problems_count (problems);
  g_autoptr (PlaitSettings) settings = plait_grid_read_keys (file, KEY, &read, problems);
  g_auto (GStrv) names = plait_key_file_list (file, PLAIT_GRID_GROUP, VARY);

  if (plait_problems_count (problems) > before)
    return;
  match->tolerance = read.match_tolerance;
  match->multiple = read.match_multiple;
  if (!plait_settings_text (settings, KEY))
    plait_problems_add_key (problems, file, PLAIT_GRID_GROUP, VARY,
                            "is of widths that are matched, but " KEY " is not there; write " KEY "=parameters");
  if (!names || !names[0])
    plait_problems_add_key (problems, file, PLAIT_GRID_GROUP, KEY,
                            "needs " VARY "=KEY;..., the widths that may be changed, such as decoder.feed_forward");
  for (guint i = 0; names && names[i]; i++)
    read_width (match, file, names[i], problems);
}

PlaitParameterMatch *
plait_parameter_match_new (const PlaitKeyFile *file, PlaitProblems *problems)
{
  const char *const *keys = plait_key_file_keys (file, PLAIT_GRID_GROUP);
  guint before = plait_problems_count (problems), i = 0;
  g_autoptr (PlaitParameterMatch) match = NULL;

  while (keys[i] && !is_key (keys[i]))
    i++;
  if (!keys[i])
    return NULL;
  match = g_new0 (PlaitParameterMatch, 1);
  match->place = plait_key_file_location (file, PLAIT_GRID_GROUP, VARY);
  match->widths = g_array_new (FALSE, FALSE, sizeof (Width));
  g_array_set_clear_func (match->widths, width_clear);
  read_keys (match, file, problems);
  return plait_problems_count (problems) == before ? g_steal_pointer (&match) : NULL;
}

void
plait_parameter_match_free (PlaitParameterMatch *match)
{
  if (!match)
    return;
  g_array_unref (match->widths);
  g_free (match->place);
  g_free (match);
}

gboolean
plait_parameter_match_varies (const PlaitParameterMatch *match, const char *key)
{
  for (guint i = 0; i < match->widths->len; i++)
    if (g_str_equal (g_array_index (match->widths, Width, i).dotted, key))
      return TRUE;
  return FALSE;
}

/*
 * Solving
 */

typedef struct
{
  const PlaitParameterMatch *match;
  const PlaitResolver *resolver;
  PlaitKeyFile *file;
  PlaitProblems *problems;
} Search;

/* What @width is where the first one is @first. */
static gint64
scaled (const PlaitParameterMatch *match, const Width *width, gint64 first)
{
  const Width *leader = &g_array_index (match->widths, Width, 0);
  double exact = (double)width->value * (double)first / (double)leader->value;

  return MAX (1, (gint64)round (exact / (double)match->multiple)) * match->multiple;
}

/* Gives the file the widths where the first one is @first; 0: those that it had. */
static void
set_widths (const Search *search, gint64 first)
{
  for (guint i = 0; i < search->match->widths->len; i++)
    {
      const Width *width = &g_array_index (search->match->widths, Width, i);
      g_autofree char *value
          = first == 0 ? g_strdup (width->written) : g_strdup_printf ("%jd", scaled (search->match, width, first));

      plait_key_file_set (search->file, width->group, width->key, value, first == 0 ? NULL : search->match->place,
                          NULL);
    }
}

/* The parameters of the model of @experiment, or -1 where it cannot be built, which is noted. */
static gint64
count (const PlaitExperiment *experiment, PlaitProblems *problems)
{
  GError *fault = NULL;
  gint64 parameters = plait_experiment_model_count_parameters (experiment, &fault);

  if (parameters < 0)
    plait_problems_add_error (problems, fault);
  return parameters;
}

/* The parameters where the first width is @first, or -1. */
static gint64
try (const Search *search, gint64 first)
{
  g_autoptr (PlaitExperiment) experiment = NULL;

  set_widths (search, first);
  experiment = plait_resolver_resolve (search->resolver, search->file, search->problems);
  return experiment ? count (experiment, search->problems) : -1;
}

/* The first width with which the parameters come nearest to those of the first cell; 0 after a problem. More width is
 * more parameters. */
static gint64
solve (const Search *search, gint64 *parameters)
{
  gint64 step = search->match->multiple, target = search->match->target;
  gint64 low = 0, high = 1, below = -1, above;

  for (above = try (search, step); above >= 0 && above < target && high * step < MAX_WIDTH;)
    {
      low = high;
      below = above;
      high *= 2;
      above = try (search, high * step);
    }
  while (above >= 0 && high - low > 1)
    {
      gint64 middle = low + (high - low) / 2, n = try (search, middle * step);

      if (n < 0)
        return 0;
      if (n < target)
        {
          low = middle;
          below = n;
        }
      else
        {
          high = middle;
          above = n;
        }
    }
  if (above < 0)
    return 0;
  if (below >= 0 && target - below < ABS (above - target))
    {
      *parameters = below;
      return low * step;
    }
  *parameters = above;
  return high * step;
}

/* "decoder.feed_forward=231 source.a.feed_forward=115" */
static char *
describe (const PlaitParameterMatch *match, gint64 first)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < match->widths->len; i++)
    {
      const Width *width = &g_array_index (match->widths, Width, i);

      g_string_append_printf (text, "%s%s=%jd", i > 0 ? " " : "", width->dotted,
                              first == 0 ? width->value : scaled (match, width, first));
    }
  return g_strdup (text->str);
}

/* The experiment with the first width @first, or NULL where it does not come near enough. */
static PlaitExperiment *
take (const Search *search, gint64 first, gint64 parameters, const char *chosen)
{
  const PlaitParameterMatch *match = search->match;
  double off = fabs ((double)(parameters - match->target)) / (double)match->target;

  if (off > match->tolerance)
    {
      plait_problems_add_key (search->problems, search->file, PLAIT_GRID_GROUP, VARY,
                              "the nearest to the %jd parameters of the first cell are %jd, with %s, which is off by "
                              "%.1f percent; let other widths vary, or raise match.tolerance",
                              match->target, parameters, chosen, 100 * off);
      return NULL;
    }
  set_widths (search, first);
  return plait_resolver_resolve (search->resolver, search->file, search->problems);
}

PlaitExperiment *
plait_parameter_match_resolve (PlaitParameterMatch *match, const PlaitResolver *resolver, PlaitKeyFile *file,
                               gint64 *parameters, char **chosen, PlaitProblems *problems)
{
  Search search = { match, resolver, file, problems };
  g_autoptr (PlaitExperiment) experiment = plait_resolver_resolve (resolver, file, problems);
  GError *fault = NULL;
  gint64 first;

  if (experiment && !plait_experiment_model_try_build (experiment, &fault))
    {
      plait_problems_add_error (problems, fault);
      return NULL;
    }
  if (!experiment)
    return NULL;
  if (match->target == 0)
    {
      match->target = *parameters = count (experiment, problems);
      *chosen = describe (match, 0);
      match->target = MAX (match->target, 0);
      return *parameters >= 0 ? g_steal_pointer (&experiment) : NULL;
    }
  first = solve (&search, parameters);
  *chosen = describe (match, first);
  g_clear_pointer (&experiment, plait_experiment_free);
  if (first > 0)
    experiment = take (&search, first, *parameters, *chosen);
  set_widths (&search, 0);
  return g_steal_pointer (&experiment);
}
