/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "toy.h"

#include "types/input.h"

/* Tests of diverse beam search (Vijayakumar et al. 2018) against a slow twin. */

#define MAX_BEAM 8

/* A hypothesis of the twin, which is ranked by path.value. */
typedef struct
{
  ToyPath path;
  double penalty;
} Path;

static gint
compare (gconstpointer a, gconstpointer b)
{
  return toy_compare (&((const Path *)a)->path, &((const Path *)b)->path);
}

static guint
count_ended (const GArray *group)
{
  guint n = 0;

  for (guint i = 0; i < group->len; i++)
    n += toy_is_ended (&g_array_index (group, Path, i).path);
  return n;
}

/* Returns the hypotheses that may follow those of @group, best first. @penalties [ids] lower the scores of words. With
 * decode.finished=compete, finished hypotheses are in the list too. (transfer full) */
static GArray *
list_next (const Toy *toy, const PlaitDecodeSettings *settings, const double *penalties, const GArray *group)
{
  GArray *next = g_array_new (FALSE, FALSE, sizeof (Path));

  for (guint i = 0; i < group->len; i++)
    {
      const Path *from = &g_array_index (group, Path, i);

      if (toy_is_ended (&from->path))
        {
          if (settings->finished == PLAIT_DECODE_FINISHED_COMPETE)
            g_array_append_val (next, *from);
          continue;
        }
      for (gint32 id = PLAIT_TOKEN_EOS; id < toy_size (toy); id = id == PLAIT_TOKEN_EOS ? TOY_FIRST : id + 1)
        {
          Path path = { toy_extend (toy, &from->path, id), from->penalty + penalties[id] };

          path.path.value
              = plait_hypothesis_score (settings, path.path.log_probability - path.penalty, path.path.length);
          g_array_append_val (next, path);
        }
    }
  g_array_sort (next, compare);
  return next;
}

/* Makes one step of beam search in @group, as decode.finished says. */
static void
step_group (const Toy *toy, const PlaitDecodeSettings *settings, const double *penalties, guint width, GArray *group)
{
  g_autoptr (GArray) next = list_next (toy, settings, penalties, group);
  gboolean compete = settings->finished == PLAIT_DECODE_FINISHED_COMPETE,
           refill = settings->finished == PLAIT_DECODE_FINISHED_REFILL;
  guint ended = count_ended (group), places = width - (compete || refill ? 0 : ended), open = 0;

  for (guint i = group->len; i-- > 0;)
    if (compete || !toy_is_ended (&g_array_index (group, Path, i).path))
      g_array_remove_index (group, i);
  for (guint i = 0; i < next->len; i++)
    {
      const Path *path = &g_array_index (next, Path, i);
      gboolean ends = toy_is_ended (&path->path);

      if (refill && !ends ? open < width : i < places && (compete || !ends || ended < width))
        {
          g_array_append_val (group, *path);
          ended += ends;
          open += !ends;
        }
    }
}

/* Algorithm 1 of the paper. In each step it goes from group to group. The score of a word falls by the diversity for
 * each hypothesis of an earlier group that takes this word in the same step. */
static void
twin (const Toy *toy, const PlaitDecodeSettings *settings, const PlaitRequirement *requirement, GArray *const *groups)
{
  for (gint64 g = 0; g < settings->groups; g++)
    {
      g_array_set_size (groups[g], 0);
      g_array_append_val (groups[g], ((Path){ .penalty = 0 }));
    }
  for (gint64 step = 0; step < toy->limit; step++)
    {
      double penalties[TOY_FIRST + TOY_MAX_WORDS] = { 0 };

      for (gint64 g = 0; g < settings->groups; g++)
        if (step < requirement->prefix_length)
          {
            Path *only = &g_array_index (groups[g], Path, 0);

            only->path = toy_extend (toy, &only->path, requirement->prefix[step]);
          }
        else
          {
            if (count_ended (groups[g]) >= (guint)(settings->beam / settings->groups))
              continue;
            step_group (toy, settings, penalties, (guint)(settings->beam / settings->groups), groups[g]);
            for (guint i = 0; i < groups[g]->len; i++)
              {
                const ToyPath *path = &g_array_index (groups[g], Path, i).path;

                if (path->length == step + 1)
                  penalties[path->tokens[step]] += settings->diversity;
              }
          }
    }
}

/* Returns all paths of @groups, best score first. (transfer full) */
static GArray *
join (const PlaitDecodeSettings *settings, GArray *const *groups)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (ToyPath));

  for (gint64 g = 0; g < settings->groups; g++)
    for (guint i = 0, open = count_ended (groups[g]); i < groups[g]->len; i++)
      {
        ToyPath path = g_array_index (groups[g], Path, i).path;

        /* Finished hypotheses come first, then unfinished ones. */
        if (!toy_is_ended (&path) && open++ >= (guint)(settings->beam / settings->groups))
          continue;
        path.value = plait_hypothesis_score (settings, path.log_probability, path.length);
        g_array_append_val (all, path);
      }
  g_array_sort (all, toy_compare);
  return all;
}

TEST_CASE (diverse, finds_what_algorithm_1_of_vijayakumar_2018_finds)
{
  static const gint64 shapes[][2] = { { 1, 1 }, { 4, 1 }, { 2, 2 }, { 4, 2 }, { 4, 4 }, { 8, 2 }, { 6, 3 }, { 8, 4 } };
  GArray *groups[MAX_BEAM];

  for (guint g = 0; g < MAX_BEAM; g++)
    groups[g] = g_array_new (FALSE, FALSE, sizeof (Path));
  for (guint t = 0; t < 60 * G_N_ELEMENTS (shapes); t++)
    {
      const gint64 *shape = shapes[t % G_N_ELEMENTS (shapes)];
      /* Some vocabularies are too small to fill a group. */
      Toy toy = { t, t % 6 == 5 ? 1 : 5, t % 6 == 5 ? 2 : 6, t % 3 - 1.0 };
      gint32 prefix[] = { TOY_FIRST + toy.words - 1, TOY_FIRST };
      PlaitRequirement requirement = { prefix, t % 4 == 3 ? toy.limit / 3 : 0, NULL };
      PlaitDecodeSettings settings;
      PlaitBeamResult results[MAX_BEAM];
      CONTEXT ("trial %u, beam %d, groups %d", t, (int)shape[0], (int)shape[1]);

      plait_setting_group_defaults (&plait_decode_group, &settings);
      settings.beam = settings.n_best = shape[0];
      settings.groups = shape[1];
      settings.diversity = t % 5 * 0.4;
      settings.length_normalisation = (gint)(t % 2);
      settings.finished = (gint)(t / 7 % 3);
      twin (&toy, &settings, &requirement, groups);
      g_autoptr (GArray) wanted = join (&settings, groups);
      g_autoptr (PlaitBeam) beam
          = toy_search (&toy, &settings, &(PlaitBeamSentences){ 1, &toy.limit, NULL, &requirement });
      guint n = plait_beam_results (beam, 0, results);

      CHECK_INT (n, wanted->len);
      for (guint i = 0; i < MIN (n, wanted->len); i++)
        {
          const ToyPath *path = &g_array_index (wanted, ToyPath, i);

          CHECK_INT (results[i].length, path->length);
          CHECK_NEAR (results[i].score, path->value, 1e-9);
          CHECK_NEAR (results[i].log_probability, path->log_probability, 1e-9);
        }
    }
  for (guint g = 0; g < MAX_BEAM; g++)
    g_array_unref (groups[g]);
}

/* If the diversity is large, each group begins with another word. The n best hypotheses come from n groups. */
TEST_CASE (diverse, gives_the_best_of_each_group)
{
  Toy toy = { 4, 6, 5, -2 };
  PlaitDecodeSettings settings;
  PlaitBeamResult results[8];
  gint32 first[4];

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = 8;
  settings.groups = settings.n_best = 4;
  settings.diversity = 50;
  g_autoptr (PlaitBeam) beam = toy_search (&toy, &settings, &(PlaitBeamSentences){ 1, &toy.limit });
  CHECK_INT (plait_beam_results (beam, 0, results), 4);
  for (guint i = 0; i < 4; i++)
    {
      ToyPath path = toy_path (&toy, beam, &results[i]);

      first[i] = path.tokens[0];
      CHECK (i == 0 || results[i].score <= results[i - 1].score);
    }
  CHECK (first[0] != first[1] && first[0] != first[2] && first[0] != first[3]);
  CHECK (first[1] != first[2] && first[1] != first[3] && first[2] != first[3]);
}
