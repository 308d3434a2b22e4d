/* SPDX-License-Identifier: MIT */
#include "axes/vocabularies.h"

#include <string.h>

#include "files/path.h"
#include "axes/keys.h"
#include "setup/vocabularies.h"

#define KEY "vocabularies"

gboolean
plait_vocabularies_read_own (const PlaitGridGroup *grid)
{
  PlaitGridSettings read;

  plait_settings_free (plait_grid_read_keys (grid, KEY, &read));
  return read.vocabularies == PLAIT_GRID_VOCABULARIES_OWN;
}

/* TRUE if the order of the texts changes what is learnt, because a sample of their lines is drawn. */
static gboolean
is_ordered (const PlaitExperiment *experiment)
{
  return experiment->data.vocabulary_sentences > 0;
}

/* Returns a text with the settings that must be equal in two cells that learn vocabulary @name together. The settings
 * of [data] do not matter for a factor or tags. (transfer full) */
static char *
describe_settings (const PlaitExperiment *experiment, const char *name)
{
  static const char *const keys[] = { "vocabulary_type",          "vocabulary_size",
                                      "vocabulary_minimum_count", "vocabulary_character_coverage",
                                      "vocabulary_normalisation", "vocabulary_byte_fallback",
                                      "vocabulary_sentences" };
  const PlaitExperimentSource *factor_of = plait_experiment_factor_source (experiment, name);
  g_autoptr (GString) text = g_string_new (name);

  for (guint i = 0; i < G_N_ELEMENTS (keys) && !factor_of; i++)
    g_string_append_printf (text, "\n%s", plait_experiment_value (experiment, "data", keys[i]));
  if (factor_of)
    g_string_append_printf (text, "\n%jd", factor_of->factor_vocabulary_size);
  if (experiment->task)
    g_string_append_printf (text, "\n%s", experiment->task->name);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gint
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Returns the digests of @texts, sorted if the order of texts does not matter. An unreadable file gets its path in
 * place of a digest; the code that reads the file reports the error. NULL-terminated. (transfer container) */
static GPtrArray *
digest_texts (const PlaitExperiment *experiment, const GArray *texts, PlaitDigests *taken)
{
  GPtrArray *digests = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  for (guint i = 0; i < texts->len; i++)
    {
      const PlaitVocabularyText *text = &g_array_index (texts, PlaitVocabularyText, i);
      const char *digest = plait_digests_text (taken, experiment, text, NULL);

      g_ptr_array_add (digests, (gpointer)(digest ? digest : text->path));
    }
  if (!is_ordered (experiment))
    g_ptr_array_sort (digests, compare_texts);
  return digests;
}

static gboolean
are_alike (const GPtrArray *a, const GPtrArray *b)
{
  for (guint i = 0; i < MIN (a->len, b->len); i++)
    if (!g_str_equal (a->pdata[i], b->pdata[i]))
      return FALSE;
  return a->len == b->len;
}

/* Cells that learn equal vocabularies, because the settings, streams and texts of the vocabulary are equal. */
typedef struct
{
  const char *name; /* name of the vocabulary */
  char *settings;
  PlaitExperiment *first; /* first of the cells */
  GPtrArray *cells;       /* (element-type PlaitExperiment) */
  GArray *texts;          /* (element-type PlaitVocabularyText) */
  GPtrArray *digests;     /* digests of the texts; sorted if the order of the texts does not matter */
  GPtrArray *streams;     /* names of the streams with this vocabulary */
  guint together;         /* classes with equal numbers learn one vocabulary together */
} Class;

static void
class_free (gpointer data)
{
  Class *class = data;

  g_free (class->settings);
  g_ptr_array_unref (class->cells);
  g_array_unref (class->texts);
  g_ptr_array_unref (class->digests);
  g_ptr_array_unref (class->streams);
  g_free (class);
}

static void
add_learner (GPtrArray *classes, PlaitExperiment *experiment, const char *name, PlaitDigests *taken)
{
  g_autofree char *settings = describe_settings (experiment, name);
  g_autoptr (GArray) texts = plait_experiment_vocabulary_texts (experiment, name);
  g_autoptr (GPtrArray) digests = digest_texts (experiment, texts, taken);
  g_autoptr (GPtrArray) streams = plait_experiment_vocabulary_streams (experiment, name);
  Class *class = NULL;

  for (guint i = 0; i < classes->len && !class; i++)
    {
      Class *other = classes->pdata[i];

      if (g_str_equal (other->settings, settings) && are_alike (other->digests, digests)
          && are_alike (other->streams, streams))
        class = other;
    }
  if (!class)
    {
      class = g_new0 (Class, 1);
      *class = (Class){ .name = name,
                        .settings = g_steal_pointer (&settings),
                        .first = experiment,
                        .cells = g_ptr_array_new (),
                        .texts = g_steal_pointer (&texts),
                        .digests = g_steal_pointer (&digests),
                        .streams = g_steal_pointer (&streams),
                        .together = classes->len };
      g_ptr_array_add (classes, class);
    }
  g_ptr_array_add (class->cells, experiment);
}

/* TRUE if @a and @b have a common stream and equal settings. Such classes should learn one vocabulary together. */
static gboolean
have_common_stream (const Class *a, const Class *b)
{
  for (guint i = 0; i < a->streams->len; i++)
    if (g_ptr_array_find_with_equal_func (b->streams, a->streams->pdata[i], g_str_equal, NULL))
      return g_str_equal (a->settings, b->settings);
  return FALSE;
}

/* Gives one number to all classes that should learn one vocabulary together: classes with a common stream and equal
 * settings, directly or through other classes. */
static void
number_classes (const GPtrArray *classes)
{
  for (guint i = 0; i < classes->len; i++)
    for (guint k = 0; k < i; k++)
      {
        guint from = ((const Class *)classes->pdata[i])->together, to = ((const Class *)classes->pdata[k])->together;

        if (from == to || !have_common_stream (classes->pdata[i], classes->pdata[k]))
          continue;
        for (guint c = 0; c <= i; c++)
          if (((Class *)classes->pdata[c])->together == from)
            ((Class *)classes->pdata[c])->together = to;
      }
}

/* A text, and an experiment that reads the text and can parse the name of the text. */
typedef struct
{
  PlaitVocabularyText text;
  const PlaitExperiment *experiment;
} Text;

static void
add_texts (GArray *all, const Class *class, GHashTable *seen, PlaitDigests *taken)
{
  gboolean first = all->len == 0;

  for (guint t = 0; t < class->texts->len; t++)
    {
      const Text text = { g_array_index (class->texts, PlaitVocabularyText, t), class->first };
      const char *digest = plait_digests_text (taken, class->first, &text.text, NULL);

      if (g_hash_table_add (seen, (gpointer)(digest ? digest : text.text.path)) || first)
        g_array_append_val (all, text);
    }
}

/* Returns the texts of all classes whose number is @together: the texts of the class with the most texts, followed by
 * the texts that only other classes have. (transfer full) (element-type Text) */
static GArray *
unite (const GPtrArray *classes, guint together, PlaitDigests *taken)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  const Class *max = NULL;
  GArray *texts = g_array_new (FALSE, FALSE, sizeof (Text));

  for (guint i = 0; i < classes->len; i++)
    {
      const Class *class = classes->pdata[i];

      if (class->together == together && (!max || class->texts->len > max->texts->len))
        max = class;
    }
  add_texts (texts, max, seen, taken);
  for (guint i = 0; i < classes->len; i++)
    if (((const Class *)classes->pdata[i])->together == together)
      add_texts (texts, classes->pdata[i], seen, taken);
  return texts;
}

/* Returns @texts with the names that @experiment gives them. The names of generated texts are added to @names, which
 * owns them. (transfer full) (element-type PlaitVocabularyText) */
static GArray *
name_texts (const PlaitExperiment *experiment, const GArray *texts, GPtrArray *names)
{
  GArray *named = g_array_new (FALSE, FALSE, sizeof (PlaitVocabularyText));

  for (guint i = 0; i < texts->len; i++)
    {
      const Text *one = &g_array_index (texts, Text, i);
      PlaitVocabularyText text = one->text;
      g_auto (PlaitTaskSettings) settings = { 0 };
      const char *stream = text.path ? NULL
                                     : plait_task_parse_text (one->experiment->task, &one->experiment->task_settings,
                                                              text.stream, &settings, NULL);

      if (stream)
        {
          text.stream = plait_task_name_text (experiment->task, &experiment->task_settings, stream, &settings);
          g_ptr_array_add (names, (gpointer)text.stream);
        }
      g_array_append_val (named, text);
    }
  return named;
}

/* Makes all classes of number @together learn one vocabulary. TRUE if that changed a cell. */
static gboolean
join (const GPtrArray *classes, guint together, PlaitDigests *taken)
{
  g_autoptr (GArray) texts = unite (classes, together, taken);
  gboolean changed = FALSE;

  for (guint i = 0; i < classes->len; i++)
    {
      const Class *class = classes->pdata[i];
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GArray) named = class->together == together ? name_texts (class->first, texts, names) : NULL;
      g_autoptr (GPtrArray) digests = named ? digest_texts (class->first, named, taken) : NULL;

      if (!named || are_alike (class->digests, digests))
        continue;
      for (guint c = 0; c < class->cells->len; c++)
        plait_experiment_set_vocabulary_texts (class->cells->pdata[c], class->name, named);
      changed = TRUE;
    }
  return changed;
}

gboolean
plait_vocabularies_join (PlaitExperimentCell *cells, guint n, PlaitDigests *digests)
{
  g_autoptr (GPtrArray) classes = g_ptr_array_new_with_free_func (class_free);
  gboolean changed = FALSE;

  for (guint i = 0; i < n; i++)
    {
      PlaitExperiment *experiment = cells[i].experiment;
      g_autofree const char **streams = plait_experiment_first_streams (experiment);

      for (guint s = 0; streams[s]; s++)
        if (plait_vocabulary_origin (experiment, streams[s]) == PLAIT_VOCABULARY_LEARNT)
          add_learner (classes, experiment, plait_experiment_vocabulary (experiment, streams[s]), digests);
    }
  number_classes (classes);
  for (guint i = 0; i < classes->len; i++)
    if (((const Class *)classes->pdata[i])->together == i)
      changed |= join (classes, i, digests);
  return changed;
}

static void
vocabulary_free (gpointer data)
{
  PlaitCellVocabulary *vocabulary = data;

  g_free (vocabulary->name);
  g_free (vocabulary->key);
  g_free (vocabulary->text);
  g_free (vocabulary);
}

/* Returns @path, relative to the folder of the experiment file if it is below that folder. (transfer full) */
static char *
shorten (const PlaitExperiment *experiment, const char *path)
{
  g_autofree char *folder = plait_experiment_folder (experiment->path);

  return g_strdup (plait_path_within (path, folder));
}

/* Returns a text such as "bpe of at most 8000 entries, learnt from text/train.en, text/train.cs". (transfer full) */
static char *
describe_learnt (const PlaitExperiment *experiment, const char *stream, const GArray *texts)
{
  const PlaitExperimentSource *factor_of = plait_experiment_factor_source (experiment, stream);
  gint64 size = factor_of ? factor_of->factor_vocabulary_size : experiment->data.vocabulary_size;
  g_autoptr (GString) text
      = g_string_new (factor_of ? "words" : plait_experiment_value (experiment, "data", "vocabulary_type"));

  if (size > 0)
    g_string_append_printf (text, " of at most %jd entries", size);
  g_string_append (text, ", learnt from");
  for (guint i = 0; i < texts->len; i++)
    {
      const PlaitVocabularyText *one = &g_array_index (texts, PlaitVocabularyText, i);
      g_autofree char *name
          = one->path ? shorten (experiment, one->path) : g_strdup_printf ("generated %s", one->stream);

      g_string_append_printf (text, "%s %s", i > 0 ? "," : "", name);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Returns the digest of the file at @path. Returns @path if the file is unreadable; the code that reads the file
 * reports the error. */
static const char *
digest_file (PlaitDigests *taken, const char *path)
{
  const PlaitKnownText *known = plait_digests_file (taken, path, NULL);

  return known ? known->digest : path;
}

static void
describe_origin (const PlaitExperiment *experiment, const char *stream, PlaitCellVocabulary *vocabulary,
                 PlaitDigests *taken)
{
  const char *initial = experiment->train.initialise;
  const char *file = plait_experiment_vocabulary_file (experiment, vocabulary->name);
  g_autoptr (GArray) texts = plait_experiment_vocabulary_texts (experiment, vocabulary->name);
  g_autoptr (GPtrArray) digests = digest_texts (experiment, texts, taken);
  g_autofree char *settings = describe_settings (experiment, vocabulary->name);
  g_autofree char *path = NULL, *joined = NULL;

  joined = g_strjoinv ("\n", (char **)digests->pdata);
  switch (plait_vocabulary_origin (experiment, stream))
    {
    case PLAIT_VOCABULARY_OF_LABELS:
      vocabulary->key = g_strdup (joined);
      vocabulary->text = g_strdup ("the labels of the training text");
      break;
    case PLAIT_VOCABULARY_OF_FILE:
      path = shorten (experiment, file);
      vocabulary->key = g_strdup (digest_file (taken, file));
      vocabulary->text = g_strdup_printf ("read from %s", path);
      break;
    case PLAIT_VOCABULARY_OF_INITIAL:
      path = shorten (experiment, initial);
      vocabulary->key = g_strdup (digest_file (taken, initial));
      vocabulary->text = g_strdup_printf ("taken from %s, as train.initialise says", path);
      break;
    case PLAIT_VOCABULARY_LEARNT:
      vocabulary->key = g_strdup_printf ("%s\n%s", settings, joined);
      vocabulary->text = describe_learnt (experiment, stream, texts);
      break;
    default:
      g_assert_not_reached ();
    }
}

GPtrArray *
plait_vocabularies_describe (const PlaitExperiment *experiment, PlaitDigests *digests)
{
  g_autofree const char **streams = plait_experiment_first_streams (experiment);
  GPtrArray *vocabularies = g_ptr_array_new_with_free_func (vocabulary_free);

  for (guint i = 0; streams[i]; i++)
    {
      PlaitCellVocabulary *vocabulary = g_new0 (PlaitCellVocabulary, 1);

      vocabulary->name = g_strdup (plait_experiment_vocabulary (experiment, streams[i]));
      describe_origin (experiment, streams[i], vocabulary, digests);
      g_ptr_array_add (vocabularies, vocabulary);
    }
  return vocabularies;
}

const char **
plait_vocabularies_that_differ (const PlaitCells *cells)
{
  g_autoptr (GHashTable) keys
      = g_hash_table_new (g_str_hash, g_str_equal); /* name of a vocabulary -> its key in the first cell that has it */
  GPtrArray *differ = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  for (guint i = 0; i < cells->n_cells; i++)
    for (guint v = 0; v < cells->cells[i].vocabularies->len; v++)
      {
        const PlaitCellVocabulary *vocabulary = cells->cells[i].vocabularies->pdata[v];
        const char *first = g_hash_table_lookup (keys, vocabulary->name);

        if (!first)
          g_hash_table_insert (keys, vocabulary->name, vocabulary->key);
        else if (!g_str_equal (first, vocabulary->key)
                 && !g_ptr_array_find_with_equal_func (differ, vocabulary->name, g_str_equal, NULL))
          g_ptr_array_add (differ, vocabulary->name);
      }
  return (const char **)g_ptr_array_free (differ, FALSE);
}
