/* SPDX-License-Identifier: MIT */
#include "corpus/text-cache.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data-files.h"
#include "files.h"
#include "harness.h"

/* A cache of texts and a corpus that uses it. In these tests, texts of any size are cached. */
typedef struct
{
  DataText text;
  PlaitKnownText known[3];
  const PlaitKnownText *lists[3]; /* one list for each stream, with a pointer to known */
  PlaitTextCache text_cache;
  const char *folder;
  char *said;
  gsize said_length;
  FILE *stream;
} Kept;

static void
set_up (Kept *kept, const char *one, const char *two, const char *target)
{
  data_text_set_up (&kept->text, one, two, target);
  kept->folder = plait_test_path ("index");
  kept->stream = open_memstream (&kept->said, &kept->said_length);
  kept->text_cache
      = (PlaitTextCache){ kept->folder, 1, 0, plait_log_new_with ((PlaitLogSettings){ .stream = kept->stream }) };
  for (guint i = 0; i < 3; i++)
    CHECK (plait_text_cache_digest (&kept->text_cache, kept->text.paths[i], &kept->known[i], NO_ERROR));
  for (guint i = 0; i < 3; i++)
    kept->lists[i] = &kept->known[i];
  kept->text.sources[0].known = &kept->lists[0];
  kept->text.sources[1].known = &kept->lists[1];
  kept->text.target.known = &kept->lists[2];
  kept->text.settings.text_cache = &kept->text_cache;
}

static void
kept_clear (Kept *kept)
{
  plait_log_free (kept->text_cache.log);
  fclose (kept->stream);
  free (kept->said);
  data_text_clear (&kept->text);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Kept, kept_clear)

static const char *
said (Kept *kept)
{
  fflush (kept->stream);
  return kept->said;
}

/* Returns the whole contents of @corpus as text. (transfer full) */
static char *
describe (PlaitCorpus *corpus)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (GStrv) report = plait_corpus_report (corpus);
  g_autofree char *reported = g_strjoinv ("; ", report);

  g_string_append_printf (text, "%d of %d, %s", (int)plait_corpus_size (corpus), (int)plait_corpus_lines (corpus),
                          reported);
  for (gint64 tuple = 0; tuple < plait_corpus_size (corpus); tuple++)
    {
      g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, &tuple, 1, NO_ERROR);

      g_string_append_printf (text, "\n%d:", (int)plait_corpus_line (corpus, tuple));
      for (gint64 s = 0; batch && s < batch->n_sources; s++, g_string_append (text, " |"))
        for (gint64 i = 0; i < batch->inputs[s].rows.offsets[1]; i++)
          g_string_append_printf (text, " %d", batch->inputs[s].tokens[i]);
      for (gint64 i = 0; batch && i < batch->target_rows.offsets[1]; i++)
        g_string_append_printf (text, " %d", batch->target_outputs[i]);
    }
  for (gint64 s = 0; s < 3; s++)
    g_string_append_printf (text, "\n%d tokens, %d unknown, %d missing, longest %d",
                            (int)plait_corpus_counts (corpus, s)->tokens, (int)plait_corpus_counts (corpus, s)->unknown,
                            (int)plait_corpus_counts (corpus, s)->missing, (int)plait_corpus_longest (corpus, s));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Opens the corpus of @kept and describes it. (transfer full) */
static char *
open_and_describe (Kept *kept)
{
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&kept->text.settings, NULL, NO_ERROR);

  return corpus ? describe (corpus) : g_strdup ("");
}

/* Opens the corpus of @kept without cache and describes it. (transfer full) */
static char *
read_and_describe (Kept *kept)
{
  char *described;

  kept->text.settings.text_cache = NULL;
  described = open_and_describe (kept);
  kept->text.settings.text_cache = &kept->text_cache;
  return described;
}

#define ONE "a b\nc c c\nb zzz\nd\na\n"
#define TWO "b\n\na a a\na\na\n"
#define TARGET "c\nd\na\n\nb b\n"

/* Replaces the text of each stream, but keeps the old digests: only the cache has the old text. */
static void
replace_text (Kept *kept)
{
  static const char *const names[] = { "one", "two.gz", "target" };

  for (guint i = 0; i < 3; i++)
    {
      const char *path = plait_test_write (names[i], "d d\n");

      kept->known[i].stamp = plait_file_stamp (path);
    }
}

TEST_CASE (text_cache, gives_the_corpus_that_was_read)
{
  for (gint64 maximum = 0; maximum <= 2; maximum += 2)
    {
      g_auto (Kept) kept = { 0 };
      CONTEXT ("at most %d tokens", (int)maximum);
      set_up (&kept, ONE, TWO, TARGET);
      kept.text.sources[0].maximum_length = maximum;
      g_autofree char *expected = read_and_describe (&kept);
      g_autofree char *first = open_and_describe (&kept);
      replace_text (&kept);
      g_autofree char *second = open_and_describe (&kept);
      g_autofree char *other = read_and_describe (&kept);
      CHECK_STRING (first, expected);
      CHECK_STRING (second, expected);
      CHECK (!g_str_equal (other, expected));
    }
}

/* The ids of negative numbers are large. */
TEST_CASE (text_cache, gives_negative_numbers)
{
  g_auto (Kept) kept = { 0 };

  set_up (&kept, "a b\nc\n", "b\na\n", "-0.5\n2\n");
  kept.text.target.target = PLAIT_TARGET_NUMBER;
  kept.text.target.vocabulary = NULL;
  g_autofree char *first = open_and_describe (&kept);
  g_autofree char *second = open_and_describe (&kept);
  CHECK_STRING (second, first);
  CHECK (!strstr (said (&kept), "damaged"));
}

TEST_CASE (text_cache, is_of_these_settings_alone)
{
  g_auto (Kept) kept = { 0 };
  set_up (&kept, ONE, TWO, TARGET);
  g_free (open_and_describe (&kept));
  g_autoptr (PlaitVocabulary) words = data_words ("d c b\n");
  PlaitVocabulary *before = kept.text.vocabulary;

  for (guint i = 0; i < 5; i++)
    {
      CONTEXT ("setting %u", i);
      kept.text.sources[0].maximum_length = i == 0 ? 2 : 0;
      kept.text.target.maximum_length = i == 1 ? 1 : 0;
      kept.text.settings.keep_all = i == 2;
      kept.text.sources[1].vocabulary = i == 3 ? words : before;
      g_strlcpy (kept.known[2].digest, i == 4 ? "another" : kept.known[2].digest, sizeof kept.known[2].digest);
      g_autofree char *expected = read_and_describe (&kept);
      g_autofree char *actual = open_and_describe (&kept);
      CHECK_STRING (actual, expected);
    }
}

/* Returns the names of the files in the folder of @kept that end with @ending. (transfer full) */
static GPtrArray *
list (const Kept *kept, const char *ending)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) folder = g_dir_open (kept->folder, 0, NULL);
  const char *name;

  while (folder && (name = g_dir_read_name (folder)))
    if (g_str_has_suffix (name, ending))
      g_ptr_array_add (paths, g_build_filename (kept->folder, name, NULL));
  return paths;
}

/* If any byte of any cache file is changed, or any file is truncated, the text is read and cached again. */
TEST_CASE (text_cache, is_read_again_where_it_is_damaged)
{
  g_auto (Kept) kept = { 0 };
  set_up (&kept, ONE, TWO, TARGET);
  kept.text.sources[0].maximum_length = 2;
  g_autofree char *expected = open_and_describe (&kept);
  g_autoptr (GPtrArray) ids = list (&kept, PLAIT_TEXT_CACHE_IDS_SUFFIX),
                        corpus = list (&kept, PLAIT_TEXT_CACHE_CORPUS_SUFFIX);
  CHECK_INT (ids->len, 3);
  REQUIRE (corpus->len == 1);
  g_ptr_array_extend_and_steal (ids, g_steal_pointer (&corpus));
  for (guint i = 0; i < ids->len; i++)
    {
      g_autofree char *bytes = NULL;
      gsize length;

      REQUIRE (g_file_get_contents (ids->pdata[i], &bytes, &length, NULL));
      for (gsize at = 0; at < length; at += 41)
        for (guint cut = 0; cut < 2; cut++)
          {
            g_autofree char *damaged = g_memdup2 (bytes, length);
            g_autofree char *now = NULL;
            g_autofree char *again = NULL;
            gsize length_now;

            CONTEXT ("file %u, byte %d, %s", i, (int)at, cut ? "cut" : "changed");
            damaged[at] ^= 0x20;
            plait_test_write_bytes (ids->pdata[i], damaged, (cut ? at : length));
            again = open_and_describe (&kept);
            CHECK_STRING (again, expected);
            REQUIRE (g_file_get_contents (ids->pdata[i], &now, &length_now, NULL));
            CHECK (length_now == length && memcmp (now, bytes, length) == 0);
          }
    }
  CHECK_CONTAINS (said (&kept), "is damaged or incomplete, so the text is read again");
}

/* Replaces the file @path by a link to a device, by a pipe, or by a sparse file of a terabyte, as @way says. */
static void
spoil (const char *path, guint way)
{
  CHECK (g_unlink (path) == 0);
  if (way == 0)
    CHECK (symlink ("/dev/zero", path) == 0);
  else if (way == 1)
    CHECK (mkfifo (path, 0600) == 0);
  else
    {
      int file = g_open (path, O_WRONLY | O_CREAT, 0600);

      CHECK (file >= 0 && ftruncate (file, (off_t)1 << 40) == 0);
      close (file);
    }
}

/* Does not read cache files of the wrong size or kind; reads the text instead. */
TEST_CASE (text_cache, takes_nothing_endless)
{
  g_auto (Kept) kept = { 0 };
  set_up (&kept, ONE, TWO, TARGET);
  kept.text.sources[0].maximum_length = 2;
  g_autofree char *expected = open_and_describe (&kept);
  g_autoptr (GPtrArray) paths = list (&kept, "");
  PlaitKnownText known;

  CHECK_INT (paths->len, 7);
  for (guint i = 0; i < paths->len; i++)
    for (guint way = 0; way < 3; way++)
      {
        g_autofree char *bytes = NULL;
        g_autofree char *again = NULL;
        gsize length;

        CONTEXT ("%s, way %u", (char *)paths->pdata[i], way);
        REQUIRE (g_file_get_contents (paths->pdata[i], &bytes, &length, NULL));
        spoil (paths->pdata[i], way);
        again = open_and_describe (&kept);
        CHECK_STRING (again, expected);
        for (guint s = 0; s < 3; s++)
          {
            CHECK (plait_text_cache_digest (&kept.text_cache, kept.text.paths[s], &known, NO_ERROR));
            CHECK_STRING (known.digest, kept.known[s].digest);
          }
        g_unlink (paths->pdata[i]);
        plait_test_write_bytes (paths->pdata[i], bytes, length);
      }
}

TEST_CASE (text_cache, is_none_of_documents)
{
  g_auto (Kept) kept = { 0 };
  set_up (&kept, "a\nb\n", "a\nb\n", "a\nb\n");
  kept.text.sources[0].documents.layout = kept.text.sources[1].documents.layout = kept.text.target.documents.layout
      = PLAIT_LAYOUT_DOCUMENTS;
  g_free (open_and_describe (&kept));
  g_autoptr (GPtrArray) corpus = list (&kept, PLAIT_TEXT_CACHE_CORPUS_SUFFIX);
  CHECK_INT (corpus->len, 0);
}

TEST_CASE (text_cache, is_done_without_where_no_folder_can_be)
{
  g_auto (Kept) kept = { 0 };
  const char *file = plait_test_write ("file", "");
  g_autofree char *below = g_build_filename (file, "index", NULL);
  set_up (&kept, ONE, TWO, TARGET);
  g_autofree char *expected = read_and_describe (&kept);
  kept.text_cache.folder = below;
  g_autofree char *actual = open_and_describe (&kept);
  CHECK_STRING (actual, expected);
  CHECK_CONTAINS (said (&kept), "cannot be cached, so each run reads it again; set PLAIT_INDEX");
}

/* Lets writing fail at a limit of file sizes, as on a full disk: the corpus is read without a cache. */
TEST_CASE (text_cache, is_done_without_where_there_is_no_room)
{
  g_auto (Kept) kept = { 0 };
  struct rlimit before, none = { 64, RLIM_INFINITY };
  set_up (&kept, ONE, TWO, TARGET);
  g_autofree char *expected = read_and_describe (&kept);
  signal (SIGXFSZ, SIG_IGN);
  REQUIRE (getrlimit (RLIMIT_FSIZE, &before) == 0);
  none.rlim_max = before.rlim_max;
  REQUIRE (setrlimit (RLIMIT_FSIZE, &none) == 0);
  g_autofree char *actual = open_and_describe (&kept);
  CHECK (setrlimit (RLIMIT_FSIZE, &before) == 0);
  CHECK_STRING (actual, expected);
  CHECK_CONTAINS (said (&kept), "the encoded corpus is not cached: ");
  g_autoptr (GPtrArray) corpus = list (&kept, PLAIT_TEXT_CACHE_CORPUS_SUFFIX);
  CHECK_INT (corpus->len, 0);
}

/* If a text is changed while it is read, reading fails and nothing is cached. */
TEST_CASE (text_cache, keeps_nothing_of_a_text_that_changed)
{
  g_auto (Kept) kept = { 0 };
  g_autoptr (GError) error = NULL;
  set_up (&kept, ONE, TWO, TARGET);
  kept.known[0].stamp.changed.tv_nsec ^= 1;
  CHECK (!plait_corpus_open (&kept.text.settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "one: the file has been changed while it was in use");
  g_autoptr (GPtrArray) corpus = list (&kept, PLAIT_TEXT_CACHE_CORPUS_SUFFIX);
  CHECK_INT (corpus->len, 0);
}

TEST_CASE (text_cache, keeps_the_corpora_that_were_used_last)
{
  g_auto (Kept) kept = { 0 };
  set_up (&kept, ONE, TWO, TARGET);
  for (gint64 maximum = 1; maximum <= PLAIT_TEXT_CACHE_CORPORA + 2; maximum++)
    {
      g_autofree char *described = NULL;
      g_autofree char *first = NULL;

      kept.text.sources[0].maximum_length = 100;
      plait_test_await_tick ();
      first = open_and_describe (&kept); /* the entry that is in use all the time */
      kept.text.sources[0].maximum_length = maximum;
      plait_test_await_tick ();
      described = open_and_describe (&kept);
    }
  g_autoptr (GPtrArray) corpora = list (&kept, PLAIT_TEXT_CACHE_CORPUS_SUFFIX),
                        ids = list (&kept, PLAIT_TEXT_CACHE_IDS_SUFFIX);
  CHECK_INT (corpora->len, PLAIT_TEXT_CACHE_CORPORA);
  CHECK_INT (ids->len, 3 * PLAIT_TEXT_CACHE_CORPORA);
  CHECK_CONTAINS (said (&kept), "removed the least recently used encoded corpus");
  kept.text.sources[0].maximum_length = 100;
  g_autofree char *expected = read_and_describe (&kept);
  replace_text (&kept);
  g_autofree char *still = open_and_describe (&kept);
  CHECK_STRING (still, expected);
}

static gpointer
open_in_thread (gpointer data)
{
  return open_and_describe (data);
}

TEST_CASE (text_cache, may_be_made_by_several_at_a_time)
{
  g_auto (Kept) kept = { 0 };
  GThread *threads[4];
  set_up (&kept, ONE, TWO, TARGET);
  g_clear_pointer (&kept.text_cache.log, plait_log_free); /* a log belongs to one thread */
  g_autofree char *expected = read_and_describe (&kept);
  for (guint round = 0; round < 5; round++)
    {
      g_autoptr (GPtrArray) corpora = list (&kept, PLAIT_TEXT_CACHE_CORPUS_SUFFIX),
                            ids = list (&kept, PLAIT_TEXT_CACHE_IDS_SUFFIX);

      kept.text.settings.text_cache = &kept.text_cache;
      for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
        threads[i] = g_thread_new (NULL, open_in_thread, &kept);
      for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
        {
          g_autofree char *described = g_thread_join (threads[i]);
          CHECK_STRING (described, expected);
        }
      for (guint i = 0; i < corpora->len; i++)
        g_remove (corpora->pdata[i]);
      for (guint i = 0; i < ids->len; i += 2)
        g_remove (ids->pdata[i]);
    }
}

/* A cached digest is valid for one version of a file, not for a later one of the same size and time. */
TEST_CASE (text_cache, knows_a_file_by_its_mark)
{
  const char *folder = plait_test_path ("index");
  const char *path = plait_test_write ("text", "first");
  PlaitTextCache text_cache = { folder, 1, 0, NULL };
  PlaitKnownText first, second, third;
  struct stat status;
  g_autoptr (GError) error = NULL;

  REQUIRE (plait_text_cache_digest (&text_cache, path, &first, &error));
  REQUIRE (stat (path, &status) == 0);
  g_autoptr (GDir) entries = g_dir_open (folder, 0, NULL);
  REQUIRE (entries != NULL);
  g_autofree char *kept = g_build_filename (folder, g_dir_read_name (entries), NULL);
  g_autofree char *contents = NULL;
  REQUIRE (g_file_get_contents (kept, &contents, NULL, NULL));
  CHECK_CONTAINS (contents, first.digest);

  plait_test_await_tick ();
  int descriptor = g_open (path, O_WRONLY, 0);
  REQUIRE (write (descriptor, "other", 5) == 5);
  const struct timespec times[] = { status.st_atim, status.st_mtim };
  CHECK (futimens (descriptor, times) == 0);
  g_close (descriptor, NULL);
  REQUIRE (plait_text_cache_digest (&text_cache, path, &second, &error));
  CHECK (!g_str_equal (first.digest, second.digest));

  /* Uses the cached digest unless the cache file is damaged. */
  for (gsize at = 0; at < strlen (contents); at += 29)
    {
      g_autofree char *damaged = NULL;

      g_clear_pointer (&contents, g_free);
      REQUIRE (g_file_get_contents (kept, &contents, NULL, NULL));
      damaged = g_strdup (contents);
      damaged[at] ^= 1;
      plait_test_write (kept, damaged);
      REQUIRE (plait_text_cache_digest (&text_cache, path, &third, &error));
      CHECK_STRING (third.digest, second.digest);
    }
}

/* The clock of a file system advances in ticks, so a file written just now may change without a new time. */
TEST_CASE (text_cache, keeps_no_digest_of_a_file_written_just_now)
{
  const char *folder = plait_test_path ("index");
  const char *path = plait_test_write ("text", "first");
  PlaitTextCache text_cache = { folder, 1, 1000, NULL };
  PlaitKnownText known;
  g_autoptr (GError) error = NULL;

  REQUIRE (plait_text_cache_digest (&text_cache, path, &known, &error));
  CHECK (!plait_test_exists (folder));
}

TEST_CASE (text_cache, is_for_large_files)
{
  const char *path = plait_test_write ("text", "four");
  PlaitTextCache text_cache = { NULL, 4, 0, NULL };

  CHECK (plait_text_cache_accepts (&text_cache, path));
  text_cache.min_bytes = 5;
  CHECK (!plait_text_cache_accepts (&text_cache, path));
  CHECK (!plait_text_cache_accepts (NULL, path));
  CHECK (!plait_text_cache_accepts (&text_cache, plait_test_folder ()));
}

TEST_CASE (text_cache, a_corpus_of_several_files_keeps_where_each_begins)
{
  g_auto (Kept) kept = { 0 };
  PlaitKnownText known[3];
  const PlaitKnownText *lists[3][2];
  const char *paths[3][3] = { { NULL } };
  PlaitCorpusStream *streams[] = { &kept.text.sources[0], &kept.text.sources[1], &kept.text.target };
  g_autofree char *place = NULL;

  set_up (&kept, "a\nb\n", "b\nb\n", "c\nd\n");
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("second.%u", i);

      paths[i][0] = kept.text.paths[i];
      paths[i][1] = plait_test_write (name, "d\nc\nb\n");
      CHECK (plait_text_cache_digest (&kept.text_cache, paths[i][1], &known[i], NO_ERROR));
      lists[i][0] = &kept.known[i];
      lists[i][1] = &known[i];
      streams[i]->paths = paths[i];
      streams[i]->known = lists[i];
    }
  g_autofree char *first = open_and_describe (&kept);
  CHECK_CONTAINS (said (&kept), "keeps the encoded corpus");
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&kept.text.settings, NULL, NO_ERROR);
  g_autofree char *second = describe (corpus);
  CHECK_STRING (second, first);
  place = plait_corpus_location (corpus, 0, 3);
  CHECK (g_str_has_suffix (place, "second.0:2"));

  /* A text with one line less makes another corpus. */
  paths[0][1] = paths[1][1] = paths[2][1] = plait_test_write ("other", "d\nc\n");
  CHECK (plait_text_cache_digest (&kept.text_cache, paths[0][1], &known[0], NO_ERROR));
  known[1] = known[2] = known[0];
  g_autoptr (PlaitCorpus) other = plait_corpus_open (&kept.text.settings, NULL, NO_ERROR);
  CHECK_INT (plait_corpus_size (other), 4);
}
