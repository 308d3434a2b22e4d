/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>

#include "axes/cells.h"
#include "axes/training-differences.h"
#include "axes/vocabularies.h"
#include "grids.h"
#include "files.h"
#include "harness.h"
#include "runs.h"

/* Tests of cells whose files differ, of the vocabularies that they share, and of the reasons why their training text
 * may differ. */

static const char head[] = "[data]\ntrain.a=one\ntrain.b=one\ntest.a=one\ntest.b=one\nvalidation.a=one\n"
                           "validation.b=one\ntarget=b\nvocabulary_type=words\nvocabulary_size=0\n[source a]\n"
                           "encoder=transformer\n[decoder]\nwidth=64\n[grid]\n";

/* Writes @text to the file @name, and makes the folders above it. */
static void
write_file (const char *name, const char *text)
{
  const char *path = plait_test_path (name);
  g_autofree char *folder = g_path_get_dirname (path);

  plait_test_make_folder (folder);
  plait_test_write (path, text);
}

static PlaitCells *
load (PlaitRegistry *registry, const char *axes)
{
  PlaitCells *cells;

  write_file ("grid.ini", plait_test_format ("%s%s", head, axes));
  cells = plait_cells_load (plait_test_path ("grid.ini"), NULL, 0, registry, NO_ERROR);
  g_assert_nonnull (cells);
  return cells;
}

TEST_CASE (cells, files_of_other_content_make_other_cells)
{
  static const char *const axes[] = { "data.folder=%s;%s",
                                      "data.train.a=%s/one;%s/one",
                                      "data.train.b=%s/one;%s/one",
                                      "data.validation.a=%s/one;%s/one",
                                      "data.test.b=%s/one;%s/one",
                                      "data.vocabulary.shared=%s/one;%s/one",
                                      "train.initialise=%s/one;%s/one" };
  g_autoptr (PlaitRegistry) registry = test_grid_registry ();

  write_file ("one", "u v\n");
  write_file ("first/one", "x\n");
  write_file ("other/one", "y\n");
  write_file ("copy/one", "x\n");
  for (guint i = 0; i < G_N_ELEMENTS (axes); i++)
    {
      CONTEXT ("%s", axes[i]);
      g_auto (GStrv) parts = g_strsplit (axes[i], "%s", 3);
      g_autofree char *differ = g_strconcat (parts[0], "first", parts[1], "other", parts[2], "\n", NULL);
      g_autofree char *alike = g_strconcat (parts[0], "first", parts[1], "copy", parts[2], "\n", NULL);
      g_autoptr (PlaitCells) two = load (registry, differ);
      g_autoptr (PlaitCells) one = load (registry, alike);
      g_autofree char *none = plait_cells_describe_duplicates (two);
      g_autofree char *told = plait_cells_describe_duplicates (one);

      CHECK_INT (two->n_cells, 2);
      CHECK_STRING (none, NULL);
      REQUIRE (one->n_cells == 1);
      CHECK_STRING (one->duplicate_of[0], one->cells[0].label);
      CHECK_CONTAINS (told, "1 cell is left out, because an earlier cell has the same settings and file contents");
      CHECK_CONTAINS (told, "copy");
    }
}

/* Returns the texts from which @cell learns vocabulary @name. A text that a key
 * vocabulary_text.NAME.N names has '+' before it. (transfer full) */
static char *
texts_of (const PlaitExperimentCell *cell, const char *name)
{
  g_autoptr (GArray) texts = plait_experiment_vocabulary_texts (cell->experiment, name);
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; i < texts->len; i++)
    {
      const PlaitVocabularyText *text = &g_array_index (texts, PlaitVocabularyText, i);
      g_autofree char *file = text->path ? g_path_get_basename (text->path) : g_strdup (text->stream);

      g_string_append_printf (list, "%s%s%s", i > 0 ? " " : "", text->key ? "+" : "", file);
    }
  return g_string_free (g_steal_pointer (&list), FALSE);
}

typedef struct
{
  const char *data; /* further lines of [data] */
  const char *axes;
  const char *vocabulary;
  const char *texts[3]; /* expected texts of each cell; '+': named by a key */
} Sharing;

#define OF_FILES "train.a=a\ntrain.b=b\ntrain.c=c\ntarget=c\nvocabulary_type=words\nvocabulary_size=0\n"
#define SOURCES "[source a]\nencoder=transformer\n[source b]\nencoder=transformer\n[decoder]\nwidth=64\n[grid]\n"

static const Sharing sharings[] = {
  /* The vocabulary is learnt from all texts that any cell reads, in the order of the cell that reads most; with
   * vocabularies=own, from the texts of each cell. */
  { OF_FILES, "experiment.sources=a;a+b\n", "shared", { "+a +b +c", "a b c" } },
  { OF_FILES, "experiment.sources=a;b\n", "shared", { "+a +c +b", "+a +c +b" } },
  { OF_FILES, "experiment.sources=a;a+b\nvocabularies=together\n", "shared", { "+a +b +c", "a b c" } },
  { OF_FILES, "experiment.sources=a;a+b\nvocabularies=own\n", "shared", { "a c", "a b c" } },
  /* The cells have different texts for a stream. Texts with equal contents count once. */
  { OF_FILES, "data.train.a=a;other\nexperiment.sources=a\n", "shared", { "+a +c +other", "+a +c +other" } },
  { OF_FILES,
    "data.train.a=a;copy\nexperiment.sources=a;a+b\nexclude=data.train.a=copy & experiment.sources=a\n",
    "shared",
    { "+a +b +c", "a b c" } },
  /* The cells read equal texts in another order, which makes no difference. */
  { OF_FILES, "experiment.sources=a+b;b+a\n", "shared", { "a b c", "b a c" } },
  { OF_FILES "vocabulary=separate\n", "experiment.sources=a;a+b\n", "a", { "a", "a" } },
  { OF_FILES "vocabulary=separate\n", "data.train.a=a;other\n", "a", { "+a +other", "+a +other" } },
  { OF_FILES "vocabulary=separate\n", "data.train.a=a;other\n", "c", { "c", "c" } },
  /* The cells differ in a setting of the vocabulary, so each learns its own. */
  { OF_FILES, "data.vocabulary_minimum_count=1;2\nexperiment.sources=a\n", "shared", { "a c", "a c" } },
  { OF_FILES,
    "data.vocabulary_minimum_count=1;2\nexperiment.sources=a;a+b\nzip=data.vocabulary_minimum_count & "
    "experiment.sources\n",
    "shared",
    { "a c", "a b c" } },
  /* The cells have no stream in common. */
  { OF_FILES "train.d=other\n[source c]\nencoder=transformer\n[source d]\nencoder=transformer\n",
    "data.target=c;d\nexperiment.sources=a;b\nzip=data.target & experiment.sources\n",
    "shared",
    { "a c", "b other" } },
  { "generate=agreement\ngenerate.train=20\n",
    "experiment.sources=a;a+b\n",
    "shared",
    { "+a +b +target", "a b target" } },
  { "generate=agreement\n",
    "data.generate.train=20;30\nexperiment.sources=a\n",
    "shared",
    { "+a +target +a train=30 +target train=30", "+a train=20 +target train=20 +a +target" } },
  { "generate=agreement\n", "data.generate.test=20;30\nexperiment.sources=a\n", "shared", { "a target", "a target" } },
  { "",
    "data.generate=agreement;copy\ndata.target=target\nexperiment.sources=a\nexperiment.seed=1\n",
    "shared",
    { "a target", "a target" } },
  /* A vocabulary that is read from a file is not learnt. */
  { OF_FILES "vocabulary.shared=a\n", "experiment.sources=a;a+b\n", "shared", { "a c", "a b c" } },
};

TEST_CASE (cells, learn_one_vocabulary_from_the_text_of_all)
{
  g_autoptr (PlaitRegistry) registry = test_grid_registry ();

  write_file ("a", "u v\n");
  write_file ("b", "w\n");
  write_file ("c", "x y\n");
  write_file ("other", "z\n");
  write_file ("copy", "u v\n");
  for (guint i = 0; i < G_N_ELEMENTS (sharings); i++)
    {
      const Sharing *sharing = &sharings[i];
      CONTEXT ("%s%s", sharing->data, sharing->axes);
      g_autofree char *text = g_strconcat ("[data]\n", sharing->data, SOURCES, sharing->axes, NULL);
      g_autoptr (PlaitCells) cells = NULL;

      write_file ("grid.ini", text);
      cells = plait_cells_load (plait_test_path ("grid.ini"), NULL, 0, registry, NO_ERROR);
      REQUIRE (cells != NULL);
      for (guint c = 0; sharing->texts[c]; c++)
        {
          REQUIRE (c < cells->n_cells);
          const PlaitExperimentCell *cell = &cells->cells[c];
          g_autofree char *texts = texts_of (cell, sharing->vocabulary);

          CHECK_STRING (texts, sharing->texts[c]);
        }
    }
}

/* The experiment that a cell stores gives the training fingerprint of the cell, vocabularies included. Only a cell that
 * reads all text has the fingerprint that its experiment has without the grid. */
TEST_CASE (cells, have_their_vocabularies_from_their_experiments)
{
  g_autoptr (PlaitRegistry) registry = test_grid_registry ();
  const char *path = plait_test_path ("grid.ini");
  g_autoptr (PlaitDigests) digests = plait_digests_new (NULL, NULL);
  g_autoptr (GError) error = NULL;

  write_file ("a", "u v\n");
  write_file ("b", "w\n");
  write_file ("c", "x y\n");
  write_file ("grid.ini", "[data]\n" OF_FILES SOURCES "experiment.sources=a;a+b\n");
  g_autoptr (PlaitCells) cells = plait_cells_load (path, NULL, 0, registry, NO_ERROR);
  REQUIRE (cells && cells->n_cells == 2);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *text = plait_experiment_text (cells->cells[i].experiment);
      g_autoptr (PlaitExperiment) again = plait_experiment_parse (text, "run.h5", NULL, registry, NO_ERROR);

      REQUIRE (again != NULL);
      g_autofree char *key = plait_training_fingerprint (again, digests, &error);
      CHECK_STRING (key, cells->cells[i].training_fingerprint);
    }
  for (guint i = 0; i < 2; i++)
    {
      const char *const overrides[] = { i == 0 ? "experiment.sources=a" : "experiment.sources=a+b", NULL };
      g_autoptr (PlaitExperiment) alone = plait_experiment_load (path, test_overrides (overrides), 0, registry, &error);

      REQUIRE (alone != NULL);
      g_autofree char *key = plait_training_fingerprint (alone, digests, &error);
      CHECK (g_str_equal (key, cells->cells[i].training_fingerprint) == (i == 1));
    }
  /* The fingerprint of a cell depends on the contents of texts from which its vocabulary is learnt, even if the
   * cell does not read them otherwise. */
  write_file ("b", "ww\n");
  g_autoptr (PlaitCells) changed = plait_cells_load (path, NULL, 0, registry, &error);
  REQUIRE (changed != NULL);
  CHECK (!g_str_equal (changed->cells[0].training_fingerprint, cells->cells[0].training_fingerprint));
}

/* match=parameters counts a vocabulary that is read from a file with its own entries: four special tokens and the words
 * u, v and w. */
TEST_CASE (cells, count_the_entries_of_given_vocabularies)
{
  const char *const sets[][2] = { { plait_test_format ("data.vocabulary.shared=%s", plait_test_path ("words")) },
                                  { "data.vocabulary_size=7" },
                                  { "data.vocabulary_size=8" } };
  const char *const paths[] = { plait_test_path ("one"), NULL };
  const PlaitVocabularySettings settings = { .type = "words", .minimum_count = 1 };
  g_autoptr (PlaitRegistry) registry = test_grid_registry ();
  char *matched[G_N_ELEMENTS (sets)];

  write_file ("one", "u v w\n");
  g_autoptr (PlaitVocabulary) words = plait_vocabulary_train (&settings, paths, NO_ERROR);
  REQUIRE (words != NULL);
  g_autoptr (GBytes) bytes = plait_vocabulary_to_file (words);
  g_assert_true (g_file_set_contents (plait_test_path ("words"), g_bytes_get_data (bytes, NULL),
                                      (gssize)g_bytes_get_size (bytes), NULL));
  write_file ("grid.ini", plait_test_format ("%sdecoder.layers=1\nmatch=parameters\nmatch.vary=decoder.width\n", head));
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++)
    {
      g_autoptr (PlaitCells) cells
          = plait_cells_load (plait_test_path ("grid.ini"), test_overrides (sets[i]), 0, registry, NO_ERROR);

      REQUIRE (cells && cells->cells[0].matched);
      matched[i] = g_steal_pointer (&cells->cells[0].matched);
    }
  CHECK_STRING (matched[0], matched[1]);
  CHECK (g_strcmp0 (matched[0], matched[2]) != 0);
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++)
    g_free (matched[i]);
}

TEST_CASE (cells, tell_which_vocabularies_differ)
{
  static const struct
  {
    const char *axes;
    const char *differs;
    const char *text; /* text that describes the first vocabulary of the first cell */
  } cases[] = {
    { "experiment.sources=a;a+b\n", NULL, "words, learnt from a, b, c" },
    { "experiment.sources=a;a+b\nvocabularies=own\n", "shared", "words, learnt from a, c" },
    { "data.vocabulary_size=10;0\n", "shared", "words of at most 10 entries, learnt from a, b, c" },
    { "data.vocabulary_size=10;0\nsource.a.factors=pos\ndata.train.a.pos=a\nexperiment.sources=a\n", "shared",
      "words of at most 10 entries, learnt from a, c" },
    { "data.vocabulary.shared=a;b\n", "shared", "read from a" },
    { "data.vocabulary.shared=a\ndecoder.width=64;128\n", NULL, "read from a" },
  };
  g_autoptr (PlaitRegistry) registry = test_grid_registry ();
  const char *path = plait_test_path ("grid.ini");

  write_file ("a", "u v\n");
  write_file ("b", "w\n");
  write_file ("c", "x y\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].axes);
      g_autofree char *text = g_strconcat ("[data]\n", OF_FILES, SOURCES, cases[i].axes, NULL);
      g_autoptr (PlaitCells) cells = NULL;

      write_file ("grid.ini", text);
      cells = plait_cells_load (path, NULL, 0, registry, NO_ERROR);
      REQUIRE (cells != NULL);
      g_autofree const char **differ = plait_vocabularies_that_differ (cells);
      const PlaitCellVocabulary *first = g_ptr_array_index (cells->cells[0].vocabularies, 0);
      CHECK_STRING (differ[0], cases[i].differs);
      CHECK (!differ[0] || !differ[1]); /* not a.pos, a vocabulary of words without settings */
      CHECK_STRING (first->text, cases[i].text);
    }
}

TEST_CASE (cells, tell_what_may_make_their_lines_differ)
{
  static const struct
  {
    const char *data, *axes;
    const char *told[3]; /* first words of the sentences */
  } cases[] = {
    { "", "experiment.sources=a;a+b\n", { NULL } },
    { "maximum_source_length=9\n", "experiment.sources=a;a+b\n", { "Limits of length" } },
    { "maximum_source_length=9\n", "decoder.width=64;128\n", { NULL } },
    { "maximum_target_length=9\n", "data.vocabulary_size=0;9\n", { "Limits of length" } },
    { "",
      "experiment.sources=a;a+b\ntrain.batch_unit=tokens\ndata.maximum_source_length=0;9\n",
      { "Limits of length", "Batches count the tokens" } },
    { "document_length=9\ndocuments=a;b;c\n", "experiment.sources=a;a+b\n", { "Documents are cut" } },
  };
  g_autoptr (PlaitRegistry) registry = test_grid_registry ();
  const char *path = plait_test_path ("grid.ini");

  write_file ("a", "u v\n");
  write_file ("b", "w\n");
  write_file ("c", "x y\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s%s", cases[i].data, cases[i].axes);
      g_autofree char *text = g_strconcat ("[data]\n", OF_FILES, cases[i].data, SOURCES, cases[i].axes, NULL);
      g_autoptr (PlaitCells) cells = NULL;

      write_file ("grid.ini", text);
      cells = plait_cells_load (path, NULL, 0, registry, NO_ERROR);
      REQUIRE (cells != NULL);
      g_auto (GStrv) told = plait_cells_describe_training_differences (cells);
      guint n = 0;
      for (; cases[i].told[n] && told[n]; n++)
        CHECK (g_str_has_prefix (told[n], cases[i].told[n]));
      CHECK (!cases[i].told[n] && !told[n]);
    }
}
