/* SPDX-License-Identifier: MIT */
#include "metrics/translation-rate.h"

#include "text/number.h"
#include "metrics/metric-kind.h"

#include <string.h>

static const PlaitMetricKind kinds[2]; /* indexed by PlaitTranslationFault */

static double
share (const PlaitMetric *metric, const double *sums)
{
  return sums[2] > 0 ? 100 * sums[metric->kind - kinds] / sums[2] : 0;
}

static char *
detail (const PlaitMetric *metric, const double *sums)
{
  return plait_format ("(over = %.0f under = %.0f words = %.0f)", sums[0], sums[1], sums[2]);
}

/* Appends the options that the metric's text has, in the form "of:search|source:en|...|". */
static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  const char *colon = strchr (metric->text, ':');
  g_autofree char *settings = g_strdup (colon ? colon + 1 : "");
  g_strdelimit (settings, "=", ':');
  g_strdelimit (settings, ",", '|');
  g_string_append_printf (signature, "%s%s", settings, *settings ? "|" : "");
}

#define KIND(name_)                                                                                                    \
  {                                                                                                                    \
    .name = name_, .width = PLAIT_TRANSLATION_RATE_WIDTH, .size = sizeof (PlaitMetric), .score = share,                \
    .detail = detail, .append_signature = append_signature,                                                            \
  }

static const PlaitMetricKind kinds[2] = {
  [PLAIT_OVER_TRANSLATION] = KIND ("over-translation"),
  [PLAIT_UNDER_TRANSLATION] = KIND ("under-translation"),
};

static PlaitMetric *
new_rate (const PlaitMetricKind *kind, const char *text, const char *title)
{
  PlaitMetric *metric = plait_metric_new_default (kind, text);

  metric->title = g_strdup (title);
  return metric;
}

PlaitMetric *
plait_metric_new_translation_rate (PlaitTranslationFault fault, double bound, const char *of, const char *source,
                                   const char *layers, const char *title)
{
  char number[PLAIT_NUMBER_LENGTH];
  g_autofree char *text = g_strdup_printf ("%s:of=%s,source=%s,layers=%s,bound=%s", kinds[fault].name, of, source,
                                           layers, plait_format_double (number, bound));

  return new_rate (&kinds[fault], text, title);
}

PlaitMetric *
plait_metric_read_translation_rate (const char *text, const char *title, char **of, char **source)
{
  const char *colon = strchr (text, ':');
  g_autofree char *name = g_strndup (text, colon ? (gsize)(colon - text) : 0);
  const PlaitMetricKind *kind = NULL;
  g_auto (GStrv) settings = g_strsplit (colon ? colon + 1 : "", ",", -1);

  *of = *source = NULL;
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    if (g_str_equal (name, kinds[k].name))
      kind = &kinds[k];
  for (guint i = 0; kind && settings[i]; i++)
    if (!*of && g_str_has_prefix (settings[i], "of="))
      *of = g_strdup (settings[i] + strlen ("of="));
    else if (!*source && g_str_has_prefix (settings[i], "source="))
      *source = g_strdup (settings[i] + strlen ("source="));
  if (*of && *source)
    return new_rate (kind, text, title);
  g_clear_pointer (of, g_free);
  g_clear_pointer (source, g_free);
  return NULL;
}
