/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "grids.h"

/* Tests of plait without one of its modules: a copy of the program with links to all other modules. */

/* Makes a copy of plait in the folder "bare" that lacks @module, a pattern "KIND/NAME". */
static void
make_without (const char *module)
{
  const char *build = plait_test_build_path ("."), *bare = plait_test_path ("bare");
  g_autofree char *script = g_strdup_printf (
      "rm -rf %s && mkdir %s && cd %s && cp %s/plait . && cp -rs %s/plugins . && rm -f plugins/%s.so", bare, bare, bare,
      build, build, module);
  const char *const words[] = { "sh", "-c", script, NULL };
  int status = -1;

  CHECK (g_spawn_sync (NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, NULL));
  CHECK_INT (status, 0);
}

/* Calls bare/plait with the environment variables @variable, which are separated by blanks. */
static PlaitTestCall
call_bare (const char *variable, const char *const *arguments)
{
  g_auto (GStrv) variables = g_strsplit (variable, " ", -1);
  g_autoptr (GPtrArray) words = g_ptr_array_new ();

  g_ptr_array_add (words, (gpointer) "env");
  g_ptr_array_add (words, (gpointer)plait_test_format ("XDG_DATA_HOME=%s", plait_test_path ("bare/data")));
  for (guint i = 0; variables[i]; i++)
    g_ptr_array_add (words, variables[i]);
  g_ptr_array_add (words, (gpointer)plait_test_path ("bare/plait"));
  for (guint i = 0; arguments[i]; i++)
    g_ptr_array_add (words, (gpointer)arguments[i]);
  g_ptr_array_add (words, NULL);
  return plait_test_call_command ((const char *const *)words->pdata);
}

#define BARE(...) call_bare ("", (const char *[]){ __VA_ARGS__, NULL })

/* Checks commands that need no module. */
static void
check_others_work (void)
{
  PlaitTestCall version = BARE ("--version"), plugins = BARE ("plugins"), inspected = BARE ("inspect", "serial");

  CHECK_INT (version.code, 0);
  CHECK_INT (plugins.code, 0);
  CHECK_CONTAINS (plugins.output, "serial");
  CHECK_INT (inspected.code, 0);
  CHECK_STRING (inspected.errors, "");
}

/* Replaces @module by the file that the shell command @command creates at $MODULE. */
static void
put (const char *module, const char *command)
{
  g_autofree char *script = g_strdup_printf ("MODULE=%s/bare/plugins/%s.so; %s", plait_test_folder (), module, command);
  const char *const words[] = { "sh", "-c", script, NULL };
  int status = -1;

  CHECK (g_spawn_sync (NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, NULL));
  CHECK_INT (status, 0);
}

TEST_CASE (modules, without_plot)
{
  make_without ("plot/cairo");
  CHECK_REFUSED (BARE ("plot", "run.h5", "/x", "-o", "x.svg"),
                 "drawing figures needs the module plot/cairo, which is in none of the folders that "
                 "the command plait plugins lists; install libcairo2-dev and libpango1.0-dev (Debian) and "
                 "build plait again");
  check_others_work ();

  put ("plot/cairo", "echo no library > $MODULE");
  PlaitTestCall spoilt = BARE ("plot", "run.h5", "/x", "-o", "x.svg");
  CHECK_REFUSED (spoilt, "drawing figures needs the module plot/cairo, which cannot be loaded (");
  CHECK_CONTAINS (spoilt.errors, "; install libcairo2-dev and libpango1.0-dev (Debian)\n");

  put ("plot/cairo", "cp $(dirname $MODULE)/../combiner/serial.so $MODULE");
  CHECK_REFUSED (BARE ("plot", "run.h5", "/x", "-o", "x.svg"),
                 "bare/plugins/plot/cairo.so, built for another version of plait; build or install this plait "
                 "again");
}

TEST_CASE (modules, without_link_grammar)
{
  make_without ("parser/link-grammar");
  plait_test_write ("text", "A dog barks .\n");
  CHECK_REFUSED (BARE ("parse", "text", "-o", "trees"),
                 "parsing English needs the module parser/link-grammar, which is in none of the folders "
                 "that the command plait plugins lists; install liblink-grammar-dev and "
                 "link-grammar-dictionaries-en (Debian) and build plait again");
  CHECK (!plait_test_exists ("trees"));
  check_others_work ();
}

TEST_CASE (modules, without_mpi)
{
  make_without ("ranks/mpi");
  plait_test_write ("tiny.ini", "");
  CHECK_REFUSED (call_bare ("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2",
                            (const char *[]){ "run", "tiny.ini", "-o", "x.h5", NULL }),
                 "2 processes were started together, which needs MPI; a single process does not need MPI: exchange "
                 "between processes needs the module ranks/mpi, which is in none of the folders that the "
                 "command plait plugins lists; install libopenmpi-dev (Debian) and build plait again");
  check_others_work ();
}

TEST_CASE (modules, without_sentencepiece)
{
  make_without ("subwords/sentencepiece");
  plait_test_write ("text", "one two three\n");
  DONE (BARE ("vocabulary", "text", "--type", "words", "--size", "10", "-o", "words"));
  PlaitTestCall subwords = BARE ("vocabulary", "text", "--type", "bpe", "--size", "20", "-o", "subwords");

  CHECK_REFUSED (subwords, "a vocabulary of subwords needs the module subwords/sentencepiece, which is in "
                           "none of the folders that the command plait plugins lists; install libsentencepiece-dev "
                           "(Debian) and build plait again");
  check_others_work ();
}

TEST_CASE (modules, without_icu)
{
  make_without ("unicode/icu");
  plait_test_write ("text", "one two three\n");
  DONE (BARE ("evaluate", "-r", "text", "-i", "text", "-m", "bleu"));
  CHECK_REFUSED (BARE ("evaluate", "-r", "text", "-i", "text", "-m", "ter"),
                 "text by the rules of Unicode needs the module unicode/icu, which is in none of the "
                 "folders that the command plait plugins lists; install libicu-dev (Debian) and build plait again");

  check_others_work ();
}

TEST_CASE (modules, without_mecab)
{
  make_without ("tokeniser/mecab");
  plait_test_write ("text", "one two three\n");
  DONE (BARE ("evaluate", "-r", "text", "-i", "text", "-m", "bleu:tok=zh"));
  CHECK_REFUSED (
      BARE ("evaluate", "-r", "text", "-i", "text", "-m", "bleu:tok=ja-mecab"),
      "metric \"bleu:tok=ja-mecab\": the tokeniser ja-mecab needs the module tokeniser/mecab, which is in none "
      "of the folders that the command plait plugins lists; install libmecab-dev and mecab-ipadic-utf8 (Debian) and "
      "build plait again");
}

/* If there is no BLAS library, plait's own kernels multiply matrices, and the run records this. A library that the user
 * names must exist. */
TEST_CASE (modules, without_blas)
{
  static const char *const run[] = { "run", "tiny.ini", "-q", "-o", "x.h5", "--force", NULL };

  plait_test_write_grid ("");
  make_without ("blas/*");
  PlaitTestCall trained = call_bare ("", run), shown = BARE ("show", "x.h5", "/environment");
  PlaitTestCall wanted = call_bare ("PLAIT_BLAS=openblas", run), unknown = call_bare ("PLAIT_BLAS=none", run);

  CHECK_INT (trained.code, 0);
  CHECK_CONTAINS (shown.output, "no BLAS, kernels v");
  CHECK_CONTAINS (shown.output, "products by the kernels");
  CHECK_REFUSED (wanted, "multiplying matrices by OpenBLAS needs the module blas/openblas, which is in none of "
                         "the folders that the command plait plugins lists; install libopenblas-dev (Debian) and build "
                         "plait again");
  CHECK_REFUSED (unknown, "the environment variable PLAIT_BLAS is \"none\"; set it to openblas, blis or mkl");
  check_others_work ();
}
