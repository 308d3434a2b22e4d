/* SPDX-License-Identifier: MIT */
#include "axes/executor-settings.h"

#include <string.h>

#include "text/number.h"
#include "text/separators.h"
#include "axes/keys.h"

#define YEAR ((gint64)366 * 24 * 60 * 60)

enum
{
  MAX_MEMORY_LENGTH = 20,
};

gboolean
plait_executor_parse_time (const char *text, gint64 *seconds)
{
  static const struct
  {
    char letter;
    gint64 seconds;
  } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 60 * 60 }, { 'd', 24 * 60 * 60 } };
  gsize length = strlen (text);
  g_autofree char *digits = g_strndup (text, length > 0 ? length - 1 : 0);
  gint64 number;

  for (guint i = 0; length > 0 && i < G_N_ELEMENTS (units); i++)
    if (text[length - 1] == units[i].letter && plait_parse_integer (digits, &number) && number > 0
        && number <= YEAR / units[i].seconds)
      {
        *seconds = number * units[i].seconds;
        return TRUE;
      }
  return FALSE;
}

/* TRUE if @text is a size in the form of sbatch --mem, such as "4G". */
static gboolean
is_memory (const char *text)
{
  gsize digits = strspn (text, "0123456789");

  return digits > 0 && strlen (text) <= MAX_MEMORY_LENGTH
         && (text[digits] == '\0' || (strchr ("KMGT", text[digits]) && text[digits + 1] == '\0'));
}

/* Options of sbatch that an experiment file may set: where, when and with which resources jobs run, and who is
 * notified. Options that change what is run are not among them, because experiment files may come from strangers. */
static const char *const allowed[] = {
  "--account",       "--acctg-freq", "--begin",        "--comment",       "--constraint",  "--contiguous",
  "--core-spec",     "--cpu-freq",   "--cpus-per-gpu", "--cpus-per-task", "--deadline",    "--delay-boot",
  "--exclude",       "--exclusive",  "--gpu-bind",     "--gpu-freq",      "--gpus",        "--gpus-per-node",
  "--gpus-per-task", "--gres",       "--gres-flags",   "--hint",          "--hold",        "--licenses",
  "--mail-type",     "--mail-user",  "--mem",          "--mem-bind",      "--mem-per-cpu", "--mem-per-gpu",
  "--mincpus",       "--nice",       "--nodelist",     "--oversubscribe", "--partition",   "--prefer",
  "--priority",      "--qos",        "--reservation",  "--switches",      "--thread-spec", "--threads-per-core",
  "--time",          "--time-min",   "--tmp",          "--use-min-nodes", "--wckey",       NULL,
};

/* Allowed options that may lack a value. Other options need "=VALUE", or sbatch would take the next word as their
 * value. */
static const char *const flags[]
    = { "--contiguous", "--exclusive", "--hold", "--oversubscribe", "--use-min-nodes", NULL };

/* TRUE if @word is the full name of an allowed option and "=VALUE", which only options in flags may lack. sbatch also
 * accepts abbreviations, which could stand for an option that is not allowed. */
static gboolean
is_allowed (const char *word, gconstpointer data)
{
  gsize length = strcspn (word, "=");
  g_autofree char *name = g_strndup (word, length);

  return g_strv_contains (word[length] == '=' ? allowed : flags, name);
}

static void
refuse (const PlaitGridGroup *grid, const char *key, const char *expected)
{
  plait_grid_problem (grid, key, "cannot be \"%s\"; expected %s",
                      plait_key_file_value (grid->file, PLAIT_GRID_GROUP, key), expected);
}

void
plait_executor_read (const PlaitGridGroup *grid, PlaitExecutorSettings *settings)
{
  settings->values = plait_grid_read_keys (grid, "executor", &settings->keys);
  settings->words = plait_key_file_list (grid->file, PLAIT_GRID_GROUP, "executor.options");
  settings->timed = g_strcmp0 (settings->keys.executor_time, PLAIT_EXECUTOR_MEASURED) == 0;
  if (settings->keys.executor_time && !settings->timed
      && !plait_executor_parse_time (settings->keys.executor_time, &settings->seconds))
    refuse (grid, "executor.time",
            "a number and s, m, h or d, such as 90s or 2h, up to a year, or " PLAIT_EXECUTOR_MEASURED);
  if (settings->keys.executor_memory && !is_memory (settings->keys.executor_memory)
      && !g_str_equal (settings->keys.executor_memory, PLAIT_EXECUTOR_MEASURED))
    refuse (grid, "executor.memory", "a size such as 500M or 4G, or " PLAIT_EXECUTOR_MEASURED);
  for (guint i = 0; settings->words && settings->words[i]; i++)
    {
      g_autofree char *mended = plait_separators_mend (settings->words[i], ";", is_allowed, NULL);

      if (mended)
        plait_grid_problem (grid, "executor.options", "\"%s\" is several options; did you mean \"%s\"?",
                            settings->words[i], mended);
      else if (!is_allowed (settings->words[i], NULL))
        {
          g_autofree char *choices = g_strjoinv (", ", (char **)allowed);

          plait_grid_problem (grid, "executor.options",
                              "\"%s\" is not allowed; expected options of sbatch separated by ';', such as "
                              "--partition=cpu;--account=mt, and only these: %s",
                              settings->words[i], choices);
        }
    }
}
