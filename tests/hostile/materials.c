/* SPDX-License-Identifier: MIT */
#include "materials.h"

#include "experiments.h"

#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>

void
materials_write_features (const char *name, guint sentences, guint positions, guint width, float value)
{
  const char *path = plait_test_path (name);
  const hsize_t shape[3] = { sentences, positions, width };
  gsize n = (gsize)sentences * positions * width;
  g_autofree float *values = g_new (float, n + 1);

  for (gsize i = 0; i < n; i++)
    values[i] = value;
  plait_test_remove (path);
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple (3, shape, NULL);
  hid_t data = H5Dcreate2 (file, "/features", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  CHECK (data >= 0 && H5Dwrite (data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose (data);
  H5Sclose (space);
  H5Fclose (file);
}

/*
 * Functions that make valid files
 */

#define FILES(stream)                                                                                                  \
  "train." stream "=train." stream "\nvalidation." stream "=validation." stream "\ntest." stream "=test." stream "\n"
#define REST                                                                                                           \
  SMALL_DECODER ("hierarchical")                                                                                       \
  "[train]\nbatch=12\nepochs=1\nwarm_up=4\ncheckpoint_every=1\n"                                                       \
  "[decode]\nbeam=2\nmaximum_length=8\n[evaluate]\nresamples=5\nattention=1\nlength_bins=2;4\n"

static const char text_experiment[] = "[experiment]\nname=text\nseed=3\n"
                                      "[data]\ntarget=target\nvocabulary_type=words\n" FILES ("a") FILES ("b")
                                          FILES ("target") SMALL_SOURCE ("a") SMALL_SOURCE ("b") REST;
static const char image_experiment[]
    = "[experiment]\nname=image\n"
      "[data]\ntarget=target\nvocabulary_type=words\n" FILES ("a") FILES ("image") FILES ("target")
          SMALL_SOURCE ("a") "[source image]\nencoder=features\n" REST;
static const char pieces_experiment[]
    = "[experiment]\nname=pieces\n"
      "[data]\ntarget=target\nvocabulary.shared=pieces.model\n" FILES ("a") FILES ("target") SMALL_SOURCE ("a") REST;
static const char grid_experiment[] = "[experiment]\nname=grid\n"
                                      "[data]\ntarget=target\nvocabulary_type=words\n" FILES ("a") FILES ("target")
                                          SMALL_SOURCE ("a") REST "[grid]\ndecoder.combiner=serial;flat\n";

static const char tree_experiment[]
    = "[experiment]\nname=trees\n"
      "[data]\nfolder=reorder\ntarget=target\nvocabulary_type=words\n" FILES ("a") FILES ("a.trees")
          FILES ("target") "[source a]\nencoder=bitree-gru\nleaves=bigru\n[source a/leaves]\nwidth=4\n"
                           "[decoder]\ntype=gru\ncoverage=tree\nlayers=1\nwidth=8\n"
                           "[train]\nbatch=4\nepochs=1\n[decode]\nbeam=2\nmaximum_length=8\n[evaluate]\nresamples=5\n";

static char *kept; /* folder of the valid files, made once per process */
static gboolean sound;

static void
remove_kept (void)
{
  plait_test_remove (kept);
  g_free (kept);
}

static gboolean
done (const char *command)
{
  CONTEXT ("plait %s", command);
  PlaitTestCall attempt = QUIET (ATTEMPT (command));

  return attempt.code == 0;
}

/* Makes a run that is interrupted after its first checkpoint. */
static gboolean
begin (void)
{
  PlaitTestProcess process
      = attempt_start ("run text.ini -q -o begun.h5 --set train.epochs=1000000 --set train.log_every=1", NULL);
  const char *path = plait_test_path ("begun.h5");

  for (int i = 0; i < 20000 && !plait_test_exists (path); i++)
    g_usleep (1000);
  kill (process.process, SIGTERM);
  PlaitTestCall attempt = plait_test_call_end (&process);
  CHECK_INT (attempt.code, 130);
  return attempt.code == 130;
}

static gboolean
make (void)
{
  plait_test_write ("text.ini", text_experiment);
  plait_test_write ("image.ini", image_experiment);
  plait_test_write ("pieces.ini", pieces_experiment);
  plait_test_write ("grid.ini", grid_experiment);
  plait_test_write ("trees.ini", tree_experiment);
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
      plait_test_copy (plait_test_folder (), kept);
    }
  else if (sound)
    plait_test_copy (kept, plait_test_folder ());
  CHECK (sound);
  return sound;
}
