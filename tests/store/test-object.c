/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "harness.h"
#include "process/sandbox.h"
#include "sample-file.h"
#include "hdf5/internal.h"
#include "hdf5/walk.h"

#include <glib/gstdio.h>

#include <string.h>

static PlaitStore *
create (void)
{
  PlaitStore *store = plait_store_create (plait_test_path ("run.h5"), NO_ERROR);
  return store;
}

static PlaitStore *
open_sample (void)
{
  const char *path = plait_test_path ("run.h5");
  plait_test_write_sample (path);
  PlaitStore *store = plait_store_open (path, NO_ERROR);
  return store;
}

TEST_CASE (store_object, refuses_bad_paths)
{
  g_autoptr (PlaitStore) store = create ();
  GError *error = NULL;
  g_autofree char *deep = g_strnfill (200, '/');
  for (int i = 1; i < 200; i += 2)
    deep[i] = 'a';
  const char *const bad[] = { "", "name", "/a/", "//a", "/a//b", "/.", "/a/../b", "/a/./b", "/\377", deep };
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      CONTEXT ("'%s'", bad[i]);
      CHECK (!plait_store_make_group (store, bad[i], &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is not a valid path");
      CHECK (!plait_store_has (store, bad[i]));
    }
  CHECK (plait_store_make_group (store, "/a.b/..c", NO_ERROR));
}

TEST_CASE (store_object, writes_nothing_twice)
{
  g_autoptr (PlaitStore) store = create ();
  GError *error = NULL;
  double value = 1;
  CHECK (plait_store_write (store, "/a/b", PLAIT_STORE_DOUBLE, 0, NULL, &value, PLAIT_STORE_PLAIN, &error));
  CHECK (!plait_store_write (store, "/a/b", PLAIT_STORE_DOUBLE, 0, NULL, &value, PLAIT_STORE_PLAIN, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/a/b exists already");
  CHECK (!plait_store_write (store, "/a/b/c", PLAIT_STORE_DOUBLE, 0, NULL, &value, PLAIT_STORE_PLAIN, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/a/b is not a group");
  CHECK (!plait_store_write (store, "/", PLAIT_STORE_DOUBLE, 0, NULL, &value, PLAIT_STORE_PLAIN, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "root group");
  CHECK (plait_store_make_group (store, "/a", NO_ERROR));
}

TEST_CASE (store_object, names_what_is_absent)
{
  g_autoptr (PlaitStore) store = open_sample ();
  PlaitStoreObject object;
  GError *error = NULL;
  CHECK (plait_store_has (store, "/"));
  CHECK (plait_store_has (store, "/training/loss"));
  CHECK (!plait_store_has (store, "/training/loss/deeper"));
  CHECK (!plait_store_has (store, "/training/los"));
  CHECK (!plait_store_describe (store, "/training/los", &object, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "there is no /training/los; /training has no member 'los'; did you mean \"loss\"?");
  CHECK (!plait_store_describe (store, "/checkpoint/worst/x", &object, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/checkpoint has no member 'worst'");
  CHECK (!plait_store_members (store, "/training/loss", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/training/loss is not a group");
}

TEST_CASE (store_object, lists_members_as_they_were_made)
{
  g_autoptr (PlaitStore) store = create ();
  const char *const names[] = { "/g/9", "/g/10", "/g/b", "/g/a" };
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    CHECK (plait_store_make_group (store, names[i], NO_ERROR));
  g_auto (GStrv) members = plait_store_members (store, "/g", NO_ERROR);
  REQUIRE (members && g_strv_length (members) == 4);
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    CHECK_STRING (members[i], names[i] + 3);
}

TEST_CASE (store_object, links_are_told_and_external_ones_not_followed)
{
  g_autoptr (PlaitStore) store = open_sample ();
  GError *error = NULL;
  plait_test_make_folder ("cells");
  plait_test_write_sample (plait_test_path ("cells/serial.h5"));

  PlaitStoreObject object;
  CHECK (plait_store_describe (store, "/cells/serial", &object, NO_ERROR));
  CHECK_INT (object.kind, PLAIT_STORE_EXTERNAL_LINK);
  CHECK (plait_store_has (store, "/cells/serial"));
  CHECK (!plait_store_has (store, "/cells/serial/training"));
  g_autofree char *file = NULL, *target = NULL;
  CHECK (plait_store_link_target (store, "/cells/serial", &file, &target, NO_ERROR));
  CHECK_STRING (file, "cells/serial.h5");
  CHECK_STRING (target, "/");
  CHECK (!plait_store_members (store, "/cells/serial", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the target of the link /cells/serial does not exist in this file");

  g_autofree char *soft_file = NULL, *soft_target = NULL;
  CHECK (plait_store_link_target (store, "/checkpoint/chosen", &soft_file, &soft_target, &error));
  CHECK (!soft_file);
  CHECK_STRING (soft_target, "/checkpoint/best");
  PlaitScalar weights[6] = { 0 };
  CHECK (plait_store_read (store, "/checkpoint/chosen/parameters/source/en/weight", PLAIT_STORE_SCALAR, 6, weights,
                           &error));
  CHECK_NEAR (weights[5], 6, 0);
  CHECK (!plait_store_link_target (store, "/training", &soft_file, &soft_target, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/training is not a link");
}

TEST_CASE (store_object, links_stay_relative)
{
  g_autoptr (PlaitStore) store = create ();
  GError *error = NULL;
  CHECK (!plait_store_link_external (store, "/cell", "/somewhere/else.h5", "/", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "expected a path relative to the folder of this file");
}

TEST_CASE (store_attribute, keeps_values)
{
  g_autoptr (PlaitStore) store = create ();
  GError *error = NULL;
  const char *const words[] = { "a", "", "\u00e9" };
  const double reals[] = { .5, -1e300 };
  gint64 n, integer;
  double real;
  CHECK (plait_store_make_group (store, "/g", NO_ERROR));
  CHECK (plait_store_set_string (store, "/g", "text", "\u6f22", NO_ERROR));
  CHECK (plait_store_set_string (store, "/g", "empty", "", NO_ERROR));
  CHECK (plait_store_set_int (store, "/g", "int", G_MININT64, NO_ERROR));
  CHECK (plait_store_set_double (store, "/g", "real", .1, NO_ERROR));
  CHECK (plait_store_set_list (store, "/g", "words", PLAIT_STORE_STRING, 3, words, NO_ERROR));
  CHECK (plait_store_set_list (store, "/g", "reals", PLAIT_STORE_DOUBLE, 2, reals, NO_ERROR));
  CHECK (plait_store_set_list (store, "/g", "none", PLAIT_STORE_INT64, 0, NULL, NO_ERROR));
  CHECK (plait_store_set_list (store, "/g", "no words", PLAIT_STORE_STRING, 0, NULL, NO_ERROR));
  CHECK (plait_store_set_int (store, "/g", "changed", 1, NO_ERROR));
  CHECK (plait_store_set_string (store, "/g", "changed", "yes", NO_ERROR));

  g_autofree char *text = plait_store_get_string (store, "/g", "text", NO_ERROR);
  g_autofree char *empty = plait_store_get_string (store, "/g", "empty", NO_ERROR);
  g_autofree char *changed = plait_store_get_string (store, "/g", "changed", NO_ERROR);
  CHECK_STRING (text, "\u6f22");
  CHECK_STRING (empty, "");
  CHECK_STRING (changed, "yes");
  CHECK (plait_store_get_int (store, "/g", "int", &integer, NO_ERROR) && integer == G_MININT64);
  CHECK (plait_store_get_double (store, "/g", "real", &real, NO_ERROR) && real == .1);
  g_auto (GStrv) found_words = plait_store_get_list (store, "/g", "words", PLAIT_STORE_STRING, &n, NO_ERROR);
  REQUIRE (found_words && n == 3);
  CHECK_STRING (found_words[1], "");
  CHECK_STRING (found_words[2], "\u00e9");
  g_autofree double *found_reals = plait_store_get_list (store, "/g", "reals", PLAIT_STORE_DOUBLE, &n, NO_ERROR);
  REQUIRE (found_reals && n == 2);
  CHECK (found_reals[1] == -1e300);
  g_autofree gint64 *none = plait_store_get_list (store, "/g", "none", PLAIT_STORE_INT64, &n, NO_ERROR);
  CHECK (none && n == 0);
  g_auto (GStrv) no_words = plait_store_get_list (store, "/g", "no words", PLAIT_STORE_STRING, &n, NO_ERROR);
  CHECK (no_words && n == 0);

  g_auto (GStrv) names = plait_store_attributes (store, "/g", &error);
  g_autofree char *joined = g_strjoinv (" ", names);
  CHECK_STRING (joined, "changed empty int no words none real reals text words");
}

TEST_CASE (store_attribute, refuses_what_is_not_there)
{
  g_autoptr (PlaitStore) store = create ();
  GError *error = NULL;
  gint64 value;
  CHECK (plait_store_set_string (store, "/", "learning", "slow", &error));
  CHECK (!plait_store_get_string (store, "/", "learnin", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/ has no attribute 'learnin'; the most similar name is 'learning'");
  CHECK (!plait_store_get_string (store, "/", "other", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, " / lists the attributes");
  CHECK (!plait_store_get_int (store, "/", "learning", &value, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "'learning' of / holds string, which cannot be read as int64");
  CHECK (!plait_store_get_int (store, "/nowhere", "x", &value, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no /nowhere");
  CHECK (!plait_store_set_string (store, "/", "x", "b\377d", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "not UTF-8");
}

/* A value above 8 kB is stored as a dataset, but is read like an attribute. */
TEST_CASE (store_attribute, may_be_of_any_size)
{
  g_autoptr (PlaitStore) store = create ();
  double value = 1;
  CHECK (plait_store_write (store, "/group/data", PLAIT_STORE_DOUBLE, 0, NULL, &value, PLAIT_STORE_PLAIN, NO_ERROR));
  const char *const owners[] = { "/", "/group", "/group/data" };
  const gsize sizes[] = { 8191, 8192, 100000 };
  for (gsize i = 0; i < G_N_ELEMENTS (owners); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (sizes); j++)
      {
        CONTEXT ("%d bytes of %s", (int)sizes[j], owners[i]);
        g_autofree char *text = g_strnfill (sizes[j], 't');
        /* A large value replaces a small one, and a small value a large one. */
        CHECK (plait_store_set_string (store, owners[i], "experiment", text, NO_ERROR));
        CHECK (plait_store_has_attribute (store, owners[i], "experiment"));
        g_autofree char *found = plait_store_get_string (store, owners[i], "experiment", NO_ERROR);
        CHECK_STRING (found, text);
        g_autofree char *shown = plait_store_attribute_text (store, owners[i], "experiment", G_MAXINT32, NO_ERROR);
        CHECK_STRING (shown, text);
      }
  for (gsize i = 0; i < G_N_ELEMENTS (owners); i++)
    {
      CHECK (plait_store_set_string (store, owners[i], "experiment", "short", NO_ERROR));
      g_autofree char *found = plait_store_get_string (store, owners[i], "experiment", NO_ERROR);
      CHECK_STRING (found, "short");
    }
  CHECK (plait_store_has (store, "/group/data"));
  CHECK (!plait_store_has (store, "/experiment"));
  CHECK (!plait_store_has (store, "/group/data.experiment"));
  /* A dataset that has the name of an attribute does not count as an attribute. */
  CHECK (!plait_store_has_attribute (store, "/group", "data"));
}

TEST_CASE (store_attribute, reads_as_text)
{
  g_autoptr (PlaitStore) store = create ();
  GError *error = NULL;
  const gint64 numbers[] = { 1, 2, 3 };
  CHECK (plait_store_set_list (store, "/", "numbers", PLAIT_STORE_INT64, 3, numbers, &error));
  CHECK (plait_store_set_double (store, "/", "rate", .001, &error));
  CHECK (plait_store_set_string (store, "/", "text", "\u00e4\u00f6\u00fc\u00df", &error));
  g_autofree char *list = plait_store_attribute_text (store, "/", "numbers", 80, &error);
  g_autofree char *rate = plait_store_attribute_text (store, "/", "rate", 80, &error);
  g_autofree char *cut = plait_store_attribute_text (store, "/", "text", 3, &error);
  CHECK_STRING (list, "1, 2, 3");
  CHECK_STRING (rate, "0.001");
  CHECK_STRING (cut, "\u00e4\u00f6\u2026");

  gint64 many[2000] = { 7, 8 };
  CHECK (plait_store_set_list (store, "/", "many", PLAIT_STORE_INT64, G_N_ELEMENTS (many), many, &error));
  g_autofree char *beginning = plait_store_attribute_text (store, "/", "many", 7, &error);
  CHECK_STRING (beginning, "7, 8, \u2026");
}

static PlaitStoreWalkAction
note_visit (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  GString *text = data;
  g_string_append_printf (text, "%s%s", visit->path, visit->object.kind == PLAIT_STORE_GROUP ? "/ " : " ");
  if (visit->link_object)
    g_string_append_printf (text, "-> %s:%s ", visit->link_file ? visit->link_file : "", visit->link_object);
  if (strcmp (visit->path, "/cells/serial") == 0)
    return PLAIT_STORE_WALK_STOP;
  return strcmp (visit->path, "/checkpoint/best") == 0 ? PLAIT_STORE_WALK_SKIP : PLAIT_STORE_WALK_CONTINUE;
}

TEST_CASE (store_walk, visits_in_order)
{
  g_autoptr (PlaitStore) store = open_sample ();
  g_autoptr (GString) text = g_string_new (NULL);
  GError *error = NULL;
  CHECK (plait_store_walk (store, "/", 2, note_visit, text, NO_ERROR));
  CHECK_STRING (text->str, "// /checkpoint/ /checkpoint/best/ /checkpoint/chosen -> :/checkpoint/best /large /scores "
                           "/evaluation/ /evaluation/test/ /vocabulary/ /vocabulary/shared/ /cells/ /cells/serial -> "
                           "cells/serial.h5:/ ");
  g_string_truncate (text, 0);
  CHECK (plait_store_walk (store, "/training", 0, note_visit, text, &error));
  CHECK_STRING (text->str, "/training/ ");
  CHECK (!plait_store_walk (store, "/nothing", 1, note_visit, text, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no /nothing");
}

static gboolean
open_path (gpointer path, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_open (path, error);
  return store != NULL;
}

/* A file is opened for reading in a process that may map little memory, so no old file is replaced. */
TEST_CASE (store_object, is_not_opened_with_too_little_memory)
{
  char *path = (char *)plait_test_path ("run.h5");
  g_autoptr (GError) error = NULL;

  plait_test_write_sample (path);
  CHECK (!plait_sandbox_run (path, PLAIT_ERROR_CORRUPT, open_path, path,
                             (PlaitSandboxLimits){ 20, 10, (gsize)20 << 20 }, &error));
  REQUIRE (error != NULL);
  CHECK (!strstr (error->message, "old file"));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "cannot open it as HDF5: Cannot allocate memory");
}

/* If malloc fails inside HDF5, the error does not blame the file. */
TEST_CASE (store_object, tells_that_there_is_no_memory)
{
  const char *path = plait_test_path ("run.h5");
  GError *error = NULL;

  plait_test_write_sample (path);
  g_autoptr (PlaitStore) store = plait_store_open (path, &error);
  REQUIRE (store != NULL);
  H5Eclear2 (H5E_DEFAULT);
  CHECK (!plait_store_lacks_memory ());
  H5Epush2 (H5E_DEFAULT, "H5MM.c", "H5MM_malloc", 1, H5E_ERR_CLS, H5E_RESOURCE, H5E_NOSPACE,
            "memory allocation failed");
  H5Epush2 (H5E_DEFAULT, "H5O.c", "H5O_open", 1, H5E_ERR_CLS, H5E_OHDR, H5E_CANTOPENOBJ, "unable to open object");
  CHECK (plait_store_lacks_memory ());
  CHECK (!plait_store_fail (store, "/training", "open it", &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "/training: cannot open it: there is not enough memory");
  H5Eclear2 (H5E_DEFAULT);
  CHECK (!plait_store_fail (store, "/training", "open it", &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "restore a copy");
}

TEST_CASE (store_object, tells_why_values_cannot_be_read)
{
  const char *path = plait_test_path ("run.h5");
  const hsize_t start[PLAIT_STORE_MAX_RANK] = { G_MAXINT32 }, count[PLAIT_STORE_MAX_RANK] = { 1, 1 };
  PlaitStoreObject object;
  gint32 values[1];

  plait_test_write_sample (path);
  g_autoptr (PlaitStore) store = plait_store_open (path, NO_ERROR);
  REQUIRE (store != NULL);
  g_auto (StoreId) id = plait_store_dataset (store, "/large", &object, NO_ERROR);
  CHECK (!plait_store_read_block (id, object.rank, start, count, H5T_NATIVE_INT32, values));
  g_autofree char *reason = plait_store_reason ();
  CHECK (strstr (reason, "HDF5 says") != NULL);
}
