/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "forge.h"

/* Tests of commands that print runs, dumps and grids with correct digests but wrong contents. The commands print what
 * is valid and refuse the rest; none hangs or crashes. */

static void
look (const char *const *commands, const PlaitTestCallSettings *settings)
{
  for (guint i = 0; commands[i]; i++)
    {
      attempt_refused_or_done (commands[i], settings, "forged.h5");
      plait_test_remove ("new");
    }
}

typedef struct
{
  const char *place;
  const char *commands[4]; /* commands that read the file, NULL-terminated */
} Look;

/* Replaces each object that a command reads by each kind of unexpected object. */
static void
forge_and_look (const char *from, const char *to, const Look *looks, guint n)
{
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < forge_n_ways; k++)
      {
        CONTEXT ("%s is %s", looks[i].place, forge_ways[k].name);

        forge (from, to, looks[i].place, forge_ways[k].write);
        look (looks[i].commands, NULL);
      }
}

HOSTILE_CASE (hostile_forged, places_that_are_shown)
{
  static const Look looks[] = {
    { "/attention/test", { "show forged.h5 --json" } },
    { "/attention/test/a",
      { "show forged.h5 /attention/test/0/a", "show forged.h5 /attention/test/0/a --json",
        "show forged.h5 /attention/test/0" } },
    { "/attention/test/a/sentence", { "show forged.h5" } },
    { "/attention/test/a/weights_shape", { "show forged.h5 /attention/test/0/a" } },
    { "/attention/test/a/row_labels_offsets", { "show forged.h5 /attention/test/0/a" } },
    { "/training/validation", { "show forged.h5 /training/validation" } },
  };

  forge_and_look ("text.h5", "forged.h5", looks, G_N_ELEMENTS (looks));
}

#define REPORT "report forged.h5 -q -o new"
#define COMPARE "compare forged.h5 text.h5 -q --trials 2"
#define COMPARE_ATTENTION "compare forged.h5 text.h5 -q --attention"

/* libhdf5 crashes on one of twenty files of forge_structure(), sometimes after corrupting memory, so each file is read
 * in its own process. */
HOSTILE_CASE (hostile_forged, structure_that_is_shown)
{
  static const PlaitTestCallSettings started = { .started = TRUE };
  static const char *const commands[] = { "show forged.h5 --all", REPORT, NULL };

  for (guint32 seed = 0; seed < 40; seed++)
    {
      CONTEXT ("seed %u", seed);

      forge_structure ("text.h5", "forged.h5", seed);
      look (commands, &started);
    }
}

HOSTILE_CASE (hostile_forged, places_that_are_reported)
{
  static const Look looks[] = {
    { "/attention", { REPORT } },
    { "/attention/test/a/weights", { REPORT, COMPARE_ATTENTION } },
    { "/attention/test/a/weights_offsets", { REPORT, COMPARE_ATTENTION } },
    { "/training/updates/target_tokens_per_second", { COMPARE } },
    { "/evaluation/test/metrics/score", { COMPARE } },
    { "/evaluation/test/hypotheses", { REPORT } },
    { "/evaluation/test/length_bins", { REPORT, COMPARE } },
    { "/evaluation/test/length_bins/score", { REPORT, COMPARE } },
    { "/evaluation/test/length_bins/bin", { COMPARE } },
    { "/environment", { REPORT } },
  };

  forge_and_look ("text.h5", "forged.h5", looks, G_N_ELEMENTS (looks));
}

/* Takes runs with wrong contents as train.initialise: wrong values are refused or not used. */
HOSTILE_CASE (hostile_forged, places_that_training_begins_with)
{
#define BEGIN "run text.ini -q --dry-run -o new --set train.initialise=forged.h5 --set train.initialise_checkpoint=last"
  static const Look looks[] = {
    { "/checkpoint", { BEGIN } },
    { "/checkpoint/last/parameters", { BEGIN } },
    { "/checkpoint/last/parameters/embedding/shared/table", { BEGIN } },
    { "/vocabulary/shared", { BEGIN } },
  };

  forge_and_look ("begun.h5", "forged.h5", looks, G_N_ELEMENTS (looks));
}

HOSTILE_CASE (hostile_forged, places_of_a_grid)
{
  static const Look looks[] = {
    { "/runs", { "compare grid/forged.h5 -q --trials 2", "report grid/forged.h5 -q -o new" } },
    { "/summary", { "report grid/forged.h5 -q -o new" } },
    { "/cells", { "show grid/forged.h5 --all" } },
  };

  forge_and_look ("grid/grid.h5", "grid/forged.h5", looks, G_N_ELEMENTS (looks));
}

HOSTILE_CASE (hostile_forged, values_that_are_shown)
{
  static const Look looks[] = {
    { "/attention/test/a/weights", { "show forged.h5 /attention/test/0", REPORT, COMPARE_ATTENTION } },
    { "/attention/test/a/weights_offsets", { "show forged.h5 /attention/test/0", REPORT, COMPARE_ATTENTION } },
    { "/attention/test/a/weights_shape", { "show forged.h5 /attention/test/0", REPORT } },
    { "/attention/test/a/row_labels_offsets", { "show forged.h5 /attention/test/0", REPORT } },
    { "/training/validation/step", { "show forged.h5 /training/validation --json", REPORT } },
    { "/training/validation/perplexity", { "show forged.h5 /training/validation", REPORT } },
    { "/evaluation/test/metrics/score", { REPORT, COMPARE } },
    { "/evaluation/test/metrics/low", { REPORT, COMPARE } },
  };
  static const double values[] = { NAN, -INFINITY, 1e300 };

  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    for (guint k = 0; k < G_N_ELEMENTS (values); k++)
      {
        CONTEXT ("%s is %g", looks[i].place, values[k]);

        forge_values ("text.h5", "forged.h5", looks[i].place, values[k]);
        look (looks[i].commands, NULL);
      }
}

/* Texts with control characters of terminals, and bytes that are not text. */
HOSTILE_CASE (hostile_forged, texts_that_are_shown)
{
  static const char *const texts[] = { "\x1b[2J\x07", "\xff\xfe", "<script>x" };
  static const char *const commands[] = { "show forged.h5", "show forged.h5 --json", REPORT, NULL };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      CONTEXT ("text %u", i);

      forge_string ("text.h5", "forged.h5", "/", "name", texts[i]);
      forge_string ("forged.h5", "forged.h5", "/environment", "command", texts[i]);
      look (commands, NULL);
      PlaitTestCall shown = ATTEMPT ("show forged.h5");
      CHECK (!strpbrk (shown.output, "\x1b\x07"));
      CHECK (g_utf8_validate (shown.output, -1, NULL));
      DONE (ATTEMPT (REPORT));
      g_autoptr (GBytes) page = plait_test_read ("new");
      CHECK (g_utf8_validate (g_bytes_get_data (page, NULL), (gssize)g_bytes_get_size (page), NULL));
      CHECK (!g_strstr_len (g_bytes_get_data (page, NULL), (gssize)g_bytes_get_size (page), "<script>x"));
      plait_test_remove ("new");
    }
}

static void
write_links (hid_t file, const char *path, const char *target, guint n)
{
  H5Gclose (forge_make_group (file, path));
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s/%u", path, i);

      CHECK (H5Lcreate_external (target, "/", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    }
}

static void
write_links_to_itself (hid_t file, const char *path)
{
  write_links (file, path, "forged.h5", 2);
}

static void
write_very_many_links (hid_t file, const char *path)
{
  write_links (file, path, "../text.h5", 1001);
}

static void
write_links_to_a_device (hid_t file, const char *path)
{
  write_links (file, path, "/dev/zero", 2);
}

HOSTILE_CASE (hostile_forged, runs_of_a_grid)
{
  static const struct
  {
    ForgeWrite write;
    const char *parts;
  } ways[] = {
    { write_links_to_itself, "grid/forged.h5: is not a run" },
    { write_very_many_links, "there are more than 1000 runs" },
    { write_links_to_a_device, "/dev/zero: is not a regular file" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      CONTEXT ("way %u", i);

      forge ("grid/grid.h5", "grid/forged.h5", "/runs", ways[i].write);
      REFUSED ("compare grid/forged.h5 -q --trials 2", ways[i].parts);
    }
}

/* A cell whose file is a run of another experiment is run again. A file of another kind with the name of a cell is
 * kept, except with --fresh. */
HOSTILE_CASE (hostile_forged, cells_of_a_grid)
{
  static const char *const others[] = { "dump.h5", "test.a", "pieces.model" };

  g_autoptr (GDir) cells = g_dir_open (plait_test_path ("grid"), 0, NULL);
  g_autofree char *cell = NULL;
  const char *name;

  while (cells && (name = g_dir_read_name (cells)))
    if (g_str_has_prefix (name, "combiner-flat") && g_str_has_suffix (name, ".h5"))
      cell = g_build_filename ("grid", name, NULL);
  REQUIRE (cell != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      CONTEXT ("%s", others[i]);

      plait_test_copy (others[i], cell);
      REFUSED ("grid grid.ini --dry-run -q", "--fresh");
      REFUSED ("grid grid.ini -q", "--fresh");
    }
  DONE (ATTEMPT ("grid grid.ini --dry-run -q --fresh"));
  plait_test_copy ("image.h5", cell);
  PlaitTestCall plan = DONE (ATTEMPT ("grid grid.ini --dry-run -q"));
  CHECK_CONTAINS (plan.output, "0 to run, 1 to run again");
  DONE (ATTEMPT ("grid grid.ini -q"));
  PlaitTestCall again = ATTEMPT ("grid grid.ini --dry-run -q");
  CHECK_CONTAINS (again.output, "0 to run, 0 to run again");
}
