/* SPDX-License-Identifier: MIT */
#include "metrics/outside.h"

#include "text/number.h"
#include "metrics/metric-kind.h"

enum
{
  SCORE,
  SENTENCES,
  WIDTH,
};

static double
mean (const PlaitMetric *metric, const double *sums)
{
  return sums[SENTENCES] > 0 ? sums[SCORE] / sums[SENTENCES] : 0;
}

static char *
detail (const PlaitMetric *metric, const double *sums)
{
  return plait_format ("(sentences = %.0f)", sums[SENTENCES]);
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  g_string_append_printf (signature, "better:%s|", metric->kind->name);
}

#define KIND(name_, larger_)                                                                                           \
  {                                                                                                                    \
    .name = name_, .width = WIDTH, .size = sizeof (PlaitMetric), .larger_is_better = larger_, .score = mean,           \
    .detail = detail, .append_signature = append_signature,                                                            \
  }

static const PlaitMetricKind kinds[2] = { KIND ("smaller", FALSE), KIND ("larger", TRUE) };

PlaitMetric *
plait_metric_new_outside (const char *name, gboolean larger_is_better)
{
  const PlaitMetricKind *kind = &kinds[larger_is_better ? 1 : 0];
  g_autofree char *text = g_strdup_printf ("score/%s/%s", name, kind->name);
  PlaitMetric *metric = plait_metric_new_default (kind, text);

  metric->title = g_strdup (name);
  return metric;
}

PlaitMetric *
plait_metric_read_outside (const char *text, char **name)
{
  g_auto (GStrv) parts = g_strsplit (text, "/", -1);

  for (guint i = 0; i < G_N_ELEMENTS (kinds) && g_strv_length (parts) == 3; i++)
    if (g_str_equal (parts[0], "score") && g_str_equal (parts[2], kinds[i].name))
      {
        *name = g_strdup (parts[1]);
        return plait_metric_new_outside (parts[1], kinds[i].larger_is_better);
      }
  return NULL;
}

PlaitStatistics *
plait_outside_statistics (const double *scores, gsize n)
{
  PlaitStatistics *statistics = plait_statistics_new (n, WIDTH);

  for (gsize i = 0; i < n; i++)
    {
      statistics->values[i * WIDTH + SCORE] = scores[i];
      statistics->values[i * WIDTH + SENTENCES] = 1;
    }
  return statistics;
}
