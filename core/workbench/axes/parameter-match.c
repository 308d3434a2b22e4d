/* SPDX-License-Identifier: MIT */
#include "axes/parameter-match.h"

#include <math.h>

#include "text/separators.h"
#include "axes/keys.h"
#include "setup/experiment-model.h"
#include "setup/vocabularies.h"

#define KEY "match"
#define VARY "match.vary"
#define MAX_WIDTH ((gint64)1 << 20) /* maximum width in the file; the search does not double a width from here on */

/* A width that match.vary names, with its value in the file. */
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
  char *location; /* location of match.vary in the file, for messages */
  double tolerance;
  gint64 multiple;
  GHashTable *sizes; /* cache: result of describe_origin() -> entries of the vocabulary (gint64); 0: number unknown */
  gboolean failed;   /* TRUE if the first cell has a fault, so that other cells are checked but not matched */
  gint64 target; /* number of parameters of the grid's first cell, which the other cells match; 0 before that cell is
                    resolved */
};

static gboolean
is_key (const char *key)
{
  return g_str_equal (key, KEY) || g_str_has_prefix (key, KEY ".");
}

static void
width_clear (gpointer data)
{
  Width *width = data;

  g_free (width->dotted);
  g_free (width->group);
  g_free (width->key);
  g_free (width->written);
}

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
read_width (PlaitParameterMatch *match, const PlaitGridGroup *grid, const char *dotted)
{
  Width width = { .dotted = g_strdup (dotted) };
  g_autofree char *mended = plait_separators_mend (dotted, ";", has_value, grid->file);
  const char *value = value_of (grid->file, dotted);

  plait_experiment_split_key (dotted, &width.group, &width.key);
  if (mended)
    plait_grid_problem (grid, VARY, "\"%s\" is not a key; did you mean \"%s\"?", dotted, mended);
  else if (!value || !g_ascii_string_to_signed (value, 10, 1, MAX_WIDTH, &width.value, NULL))
    plait_grid_problem (grid, VARY,
                        "this file gives \"%s\" no width; name keys such as decoder.feed_forward or "
                        "source.en.feed_forward, and set each key in its own group to the width of the first cell",
                        dotted);
  width.written = g_strdup (value);
  g_array_append_val (match->widths, width);
}

/* Reads the keys match and match.* of @grid. @first: the first of these keys in the file. */
static void
read_keys (PlaitParameterMatch *match, const PlaitGridGroup *grid, const char *first)
{
  PlaitGridSettings read;
  guint before = plait_problems_count (grid->problems);
  g_autoptr (PlaitSettings) settings = plait_grid_read_keys (grid, KEY, &read);
  g_auto (GStrv) names = plait_key_file_list (grid->file, PLAIT_GRID_GROUP, VARY);

  if (plait_problems_count (grid->problems) > before)
    return;
  match->tolerance = read.match_tolerance;
  match->multiple = read.match_multiple;
  if (!plait_settings_text (settings, KEY))
    plait_grid_problem (grid, first,
                        "has no effect without the key " KEY "; write " KEY "=parameters, or drop this key");
  else if (!names || !names[0])
    plait_grid_problem (grid, KEY,
                        "needs " VARY "=KEY;..., the widths that may be changed, such as decoder.feed_forward");
  for (guint i = 0; names && names[i]; i++)
    read_width (match, grid, names[i]);
}

PlaitParameterMatch *
plait_parameter_match_new (const PlaitGridGroup *grid)
{
  const char *const *keys = plait_key_file_keys (grid->file, PLAIT_GRID_GROUP);
  guint before = plait_problems_count (grid->problems), i = 0;
  g_autoptr (PlaitParameterMatch) match = NULL;

  while (keys[i] && !is_key (keys[i]))
    i++;
  if (!keys[i])
    return NULL;
  match = g_new0 (PlaitParameterMatch, 1);
  match->sizes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  match->location = plait_key_file_location (grid->file, PLAIT_GRID_GROUP, VARY);
  match->widths = g_array_new (FALSE, FALSE, sizeof (Width));
  g_array_set_clear_func (match->widths, width_clear);
  read_keys (match, grid, keys[i]);
  return plait_problems_count (grid->problems) == before ? g_steal_pointer (&match) : NULL;
}

void
plait_parameter_match_free (PlaitParameterMatch *match)
{
  if (!match)
    return;
  g_array_unref (match->widths);
  g_hash_table_unref (match->sizes);
  g_free (match->location);
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

typedef struct
{
  const PlaitParameterMatch *match;
  const PlaitResolver *resolver;
  PlaitKeyFile *file;
  PlaitProblems *problems;
} Search;

/* Multiplies @width by the factor that changes the first width to @first. Rounds to a multiple of match.multiple. */
static gint64
scaled (const PlaitParameterMatch *match, const Width *width, gint64 first)
{
  const Width *leader = &g_array_index (match->widths, Width, 0);
  double exact = (double)width->value * (double)first / (double)leader->value;

  return MAX (1, (gint64)round (exact / (double)match->multiple)) * match->multiple;
}

/* Sets all widths in the file so that the first width is @first. 0 restores the values of the file. */
static void
set_widths (const Search *search, gint64 first)
{
  for (guint i = 0; i < search->match->widths->len; i++)
    {
      const Width *width = &g_array_index (search->match->widths, Width, i);
      g_autofree char *value
          = first == 0 ? g_strdup (width->written) : g_strdup_printf ("%jd", scaled (search->match, width, first));

      plait_key_file_set (search->file, width->group, width->key, value, first == 0 ? NULL : search->match->location,
                          NULL);
    }
}

/* Returns a text that says where @experiment takes the vocabulary of @stream from. Equal texts mean equal origins.
 * (transfer full) */
static char *
describe_origin (const PlaitExperiment *experiment, const char *stream)
{
  const char *name = plait_experiment_vocabulary (experiment, stream);
  const char *file = plait_experiment_vocabulary_file (experiment, name);

  return g_strdup_printf ("%s\n%s\n%s\n%d %d %d %d %d", name, file ? file : "", experiment->train.initialise,
                          (int)experiment->train.initialise_vocabulary, (int)experiment->data.vocabulary,
                          (int)experiment->data.vocabulary_type, (int)plait_experiment_target_kind (experiment, stream),
                          plait_experiment_factor_source (experiment, stream) != NULL);
}

/* Returns a table from names of vocabularies to their sizes, for those vocabularies of @experiment that come from a
 * file or a run. (transfer full) */
static GHashTable *
find_sizes (const PlaitParameterMatch *match, const PlaitExperiment *experiment)
{
  GHashTable *known = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree const char **streams = plait_experiment_first_streams (experiment);

  for (guint i = 0; streams[i]; i++)
    {
      g_autofree char *origin = describe_origin (experiment, streams[i]);
      gint64 *size = g_hash_table_lookup (match->sizes, origin);

      if (!size)
        {
          size = g_new (gint64, 1);
          *size = plait_vocabulary_given_size (experiment, streams[i]);
          g_hash_table_insert (match->sizes, g_steal_pointer (&origin), size);
        }
      if (*size > 0)
        g_hash_table_insert (known, (gpointer)plait_experiment_vocabulary (experiment, streams[i]), size);
    }
  return known;
}

/* Returns the number of parameters of the model of @experiment, or -1 after adding a problem if the model cannot be
 * built. */
static gint64
count (const PlaitParameterMatch *match, const PlaitExperiment *experiment, PlaitProblems *problems)
{
  g_autoptr (GHashTable) known = find_sizes (match, experiment);
  GError *fault = NULL;
  gint64 parameters = plait_experiment_model_count_parameters (experiment, known, &fault);

  if (parameters < 0)
    plait_problems_add_error (problems, fault);
  return parameters;
}

/* Makes the first width @first, and returns the number of parameters of the model; -1 after a problem. */
static gint64
try (const Search *search, gint64 first)
{
  g_autoptr (PlaitExperiment) experiment = NULL;

  set_widths (search, first);
  experiment = plait_resolver_resolve (search->resolver, search->file, search->problems);
  return experiment ? count (search->match, experiment, search->problems) : -1;
}

/* Searches for widths that give the number of parameters nearest to that of the first cell. Sets *@parameters to the
 * number that the widths give. Returns the value of the first key in match.vary; 0 after a problem. Bisects, because a
 * larger width gives more parameters. */
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

/* Returns the widths that match.vary names, such as "decoder.feed_forward=231 source.a.feed_forward=115", scaled so
 * that the first is @first; 0: the widths of the file. (transfer full) */
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

/* Returns the experiment in which the first width is @first. Returns NULL after adding a problem if @parameters differs
 * from the first cell's number by more than match.tolerance. */
static PlaitExperiment *
take (const Search *search, gint64 first, gint64 parameters, const char *widths)
{
  const PlaitParameterMatch *match = search->match;
  double off = fabs ((double)(parameters - match->target)) / (double)match->target;

  if (off > match->tolerance)
    {
      plait_problems_add_key (
          search->problems, search->file, PLAIT_GRID_GROUP, VARY,
          "the first cell has %jd parameters; the closest match of this cell has %jd parameters, with %s, and differs "
          "by %.1f percent; name other widths in match.vary, or raise match.tolerance",
          match->target, parameters, widths, 100 * off);
      return NULL;
    }
  set_widths (search, first);
  return plait_resolver_resolve (search->resolver, search->file, search->problems);
}

PlaitExperiment *
plait_parameter_match_resolve (PlaitParameterMatch *match, const PlaitResolver *resolver, PlaitKeyFile *file,
                               gint64 *parameters, char **widths, PlaitProblems *problems)
{
  Search search = { match, resolver, file, problems };
  g_autoptr (PlaitExperiment) experiment = plait_resolver_resolve (resolver, file, problems);
  gboolean is_first = match->target == 0 && !match->failed, solved;
  GError *fault = NULL;
  gint64 first, own;

  if (experiment && !plait_experiment_model_try_build (experiment, &fault))
    {
      plait_problems_add_error (problems, fault);
      g_clear_pointer (&experiment, plait_experiment_free);
    }
  own = experiment && !match->failed ? count (match, experiment, problems) : -1;
  if (!match->failed)
    *parameters = own;
  if (is_first)
    {
      match->failed = own < 0;
      match->target = MAX (own, 0);
    }
  if (own < 0 || own == match->target)
    {
      *widths = describe (match, 0);
      return match->failed && is_first ? NULL : g_steal_pointer (&experiment);
    }
  g_clear_pointer (&experiment, plait_experiment_free);
  first = solve (&search, parameters);
  solved = first > 0;
  /* Keep the widths of the file if no others come nearer: a width without effect stays as it is. */
  if (solved && ABS (own - match->target) <= ABS (*parameters - match->target))
    {
      first = 0;
      *parameters = own;
    }
  *widths = describe (match, first);
  if (solved)
    experiment = take (&search, first, *parameters, *widths);
  set_widths (&search, 0);
  return g_steal_pointer (&experiment);
}
