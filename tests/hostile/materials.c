/* SPDX-License-Identifier: MIT */
#include "materials.h"

#include <glib/gstdio.h>
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Files
 */

GBytes *
materials_read (const char *name)
{
  g_autofree char *path = plait_test_path (name);
  char *bytes = NULL;
  gsize length = 0;

  CHECK (g_file_get_contents (path, &bytes, &length, NULL));
  return g_bytes_new_take (bytes, length);
}

static void
remove_path (const char *path)
{
  if (g_file_test (path, G_FILE_TEST_IS_DIR) && !g_file_test (path, G_FILE_TEST_IS_SYMLINK))
    {
      g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
      const char *name;

      while (folder && (name = g_dir_read_name (folder)))
        {
          g_autofree char *below = g_build_filename (path, name, NULL);
          remove_path (below);
        }
    }
  g_remove (path);
}

void
materials_remove (const char *name)
{
  g_autofree char *path = plait_test_path (name);

  remove_path (path);
}

void
materials_write (const char *name, gconstpointer bytes, gsize length)
{
  g_autofree char *path = plait_test_path (name);

  remove_path (path);
  CHECK (g_file_set_contents_full (path, bytes, (gssize)length, G_FILE_SET_CONTENTS_NONE, 0644, NULL));
}

void
materials_write_text (const char *name, const char *text)
{
  materials_write (name, text, strlen (text));
}

static void
copy_path (const char *from, const char *to)
{
  if (g_file_test (from, G_FILE_TEST_IS_DIR))
    {
      g_autoptr (GDir) folder = g_dir_open (from, 0, NULL);
      const char *name;

      g_mkdir (to, 0755);
      while (folder && (name = g_dir_read_name (folder)))
        {
          g_autofree char *below_from = g_build_filename (from, name, NULL);
          g_autofree char *below_to = g_build_filename (to, name, NULL);
          copy_path (below_from, below_to);
        }
      return;
    }
  g_autofree char *bytes = NULL;
  gsize length;

  CHECK (g_file_get_contents (from, &bytes, &length, NULL)
         && g_file_set_contents_full (to, bytes, (gssize)length, G_FILE_SET_CONTENTS_NONE, 0644, NULL));
}

void
materials_copy (const char *from, const char *to)
{
  g_autofree char *from_path = plait_test_path (from);
  g_autofree char *to_path = plait_test_path (to);

  if (g_str_equal (from, to))
    return;
  remove_path (to_path);
  copy_path (from_path, to_path);
}

void
materials_replace (const char *name, const char *old, const char *new_text)
{
  g_autoptr (GBytes) bytes = materials_read (name);
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  char *at = strstr (text, old);

  REQUIRE (at != NULL);
  *at = '\0';
  g_autofree char *replaced = g_strconcat (text, new_text, at + strlen (old), NULL);
  materials_write_text (name, replaced);
}

void
materials_write_features (const char *name, guint sentences, guint positions, guint width, float value)
{
  g_autofree char *path = plait_test_path (name);
  const hsize_t shape[3] = { sentences, positions, width };
  gsize n = (gsize)sentences * positions * width;
  g_autofree float *values = g_new (float, n + 1);

  for (gsize i = 0; i < n; i++)
    values[i] = value;
  remove_path (path);
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple (3, shape, NULL);
  hid_t data = H5Dcreate2 (file, "/features", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  CHECK (data >= 0 && H5Dwrite (data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose (data);
  H5Sclose (space);
  H5Fclose (file);
}

/*
 * The sound ones
 */

#define SOURCE(name) "[source " name "]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=8\n"
#define FILES(stream)                                                                                                  \
  "train." stream "=train." stream "\nvalidation." stream "=validation." stream "\ntest." stream "=test." stream "\n"
#define REST                                                                                                           \
  "[decoder]\ncombiner=hierarchical\nlayers=1\nwidth=8\nheads=2\nfeed_forward=8\n"                                     \
  "[train]\nbatch=12\nepochs=1\nwarm_up=4\ncheckpoint_every=1\n"                                                       \
  "[decode]\nbeam=2\nmaximum_length=8\n[evaluate]\nresamples=5\nattention=1\nlength_bins=2;4\n"

static const char text_experiment[] = "[experiment]\nname=text\nseed=3\n"
                                      "[data]\ntarget=target\nvocabulary_type=words\n" FILES ("a") FILES ("b")
                                          FILES ("target") SOURCE ("a") SOURCE ("b") REST;
static const char image_experiment[] = "[experiment]\nname=image\n"
                                       "[data]\ntarget=target\nvocabulary_type=words\n" FILES ("a") FILES ("image")
                                           FILES ("target") SOURCE ("a") "[source image]\nencoder=features\n" REST;
static const char pieces_experiment[]
    = "[experiment]\nname=pieces\n"
      "[data]\ntarget=target\nvocabulary.shared=pieces.model\n" FILES ("a") FILES ("target") SOURCE ("a") REST;
static const char grid_experiment[] = "[experiment]\nname=grid\n"
                                      "[data]\ntarget=target\nvocabulary_type=words\n" FILES ("a") FILES ("target")
                                          SOURCE ("a") REST "[grid]\ndecoder.combiner=serial;flat\n";

static const char tree_experiment[]
    = "[experiment]\nname=trees\n"
      "[data]\nfolder=reorder\ntarget=target\nvocabulary_type=words\n" FILES ("a") FILES ("a.trees")
          FILES ("target") "[source a]\nencoder=bitree-gru\nleaves=bigru\n[source a/leaves]\nwidth=4\n"
                           "[decoder]\ntype=gru\ncoverage=tree\nlayers=1\nwidth=8\n"
                           "[train]\nbatch=4\nepochs=1\n[decode]\nbeam=2\nmaximum_length=8\n[evaluate]\nresamples=5\n";

static char *kept; /* the folder of the sound files, for the process */
static gboolean sound;

static void
remove_kept (void)
{
  remove_path (kept);
  g_free (kept);
}

static gboolean
done (const char *command)
{
  CONTEXT ("plait %s", command);
  g_auto (Attempt) attempt = ATTEMPT (command);

  CHECK_STRING (attempt.errors, "");
  CHECK_INT (attempt.code, 0);
  return attempt.code == 0;
}

/* A run that was interrupted after its first checkpoint. */
static gboolean
begin (void)
{
  AttemptProcess process
      = attempt_start ("run text.ini -q -o begun.h5 --set train.epochs=1000000 --set train.log_every=1", NULL);
  g_autofree char *path = plait_test_path ("begun.h5");

  for (int i = 0; i < 20000 && !g_file_test (path, G_FILE_TEST_EXISTS); i++)
    g_usleep (1000);
  kill (process.process, SIGTERM);
  g_auto (Attempt) attempt = attempt_end (&process);
  CHECK_INT (attempt.code, 130);
  return attempt.code == 130;
}

static gboolean
make (void)
{
  materials_write_text ("text.ini", text_experiment);
  materials_write_text ("image.ini", image_experiment);
  materials_write_text ("pieces.ini", pieces_experiment);
  materials_write_text ("grid.ini", grid_experiment);
  materials_write_text ("trees.ini", tree_experiment);
  materials_write_features ("train.image", 48, 3, 4, 0.5f);
  materials_write_features ("validation.image", 6, 3, 4, 0.5f);
  materials_write_features ("test.image", 6, 3, 4, 0.5f);
  return done ("generate agreement -q -o . -s train=48 -s validation=6 -s test=6")
         && done ("generate reorder -q -o reorder -s train=8 -s validation=4 -s test=4")
         && done ("vocabulary -q -o words.vocabulary --type words train.a train.b train.target")
         && done ("vocabulary -q -o pieces.model --size 60 train.a train.b train.target") && done ("run text.ini -q")
         && done ("run image.ini -q") && done ("run trees.ini -q") && done ("grid grid.ini -q")
         && done ("translate text.h5 -q -s a=test.a -s b=test.b -o translated -a dump.h5")
         && done ("report text.h5 -q -o page.html") && begin ();
}

gboolean
materials_lay_out (void)
{
  if (!kept)
    {
      kept = g_dir_make_tmp ("plait-hostile-XXXXXX", NULL);
      atexit (remove_kept);
      sound = make ();
      copy_path (plait_test_folder (), kept);
    }
  else if (sound)
    copy_path (kept, plait_test_folder ());
  CHECK (sound);
  return sound;
}
