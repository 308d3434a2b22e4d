/* SPDX-License-Identifier: MIT */
#include "experiment/groups.h"

#include "settings/settings.h"
#include "training/settings.h"

const PlaitSettingGroup *const *
plait_experiment_groups (void)
{
  static const PlaitSettingGroup *const groups[] = {
    &plait_experiment_group, &plait_data_group,   &plait_source_group,   &plait_predict_group, &plait_decoder_group,
    &plait_train_group,      &plait_decode_group, &plait_evaluate_group, &plait_bench_group,   NULL,
  };

  return groups;
}

const PlaitSettingSpecification *
plait_experiment_setting (const char *group, const char *key)
{
  const char *name = g_str_has_prefix (group, "source ") ? "source" : group;

  for (const PlaitSettingGroup *const *known = plait_experiment_groups (); *known; known++)
    for (guint i = 0; g_str_equal ((*known)->name, name) && i < (*known)->n_definitions; i++)
      if (g_str_equal ((*known)->definitions[i].specification.name, key))
        return &(*known)->definitions[i].specification;
  return NULL;
}

gboolean
plait_experiment_changes_scores (const char *group, const char *key)
{
  static const char *const scoring[] = { "checkpoint", "join", "alignment_attention", NULL };
  const PlaitSettingSpecification *known = plait_experiment_setting (group, key);

  if ((known && (known->flags & PLAIT_SETTING_NEUTRAL))
      || (g_str_equal (group, plait_decode_group.name) && g_str_equal (key, "batch")))
    return FALSE;
  return !g_str_equal (group, plait_evaluate_group.name) || g_strv_contains (scoring, key);
}
