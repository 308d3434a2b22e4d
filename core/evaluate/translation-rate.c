/* SPDX-License-Identifier: MIT */
#include "evaluate/translation-rate.h"

#include "base/number.h"
#include "evaluate/metric-kind.h"

#include <string.h>

static gboolean
finish (PlaitMetric *metric, GError **error)
{
  metric->title = g_strdup (metric->kind->name);
  metric->width = PLAIT_TRANSLATION_RATE_WIDTH;
  return TRUE;
}

static double
share (const double *sums, PlaitTranslationFault fault)
{
  return sums[2] > 0 ? 100 * sums[fault] / sums[2] : 0;
}

static double
score_over (const PlaitMetric *metric, const double *sums)
{
  return share (sums, PLAIT_OVER_TRANSLATION);
}

static double
score_under (const PlaitMetric *metric, const double *sums)
{
  return share (sums, PLAIT_UNDER_TRANSLATION);
}

static char *
detail (const PlaitMetric *metric, const double *sums)
{
  GString *text = g_string_new ("(over = ");
  plait_append_number (text, sums[0], 0);
  g_string_append (text, " under = ");
  plait_append_number (text, sums[1], 0);
  g_string_append (text, " words = ");
  plait_append_number (text, sums[2], 0);
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}

/* The text's options: "of:search|source:en|...|". */
static void
sign (const PlaitMetric *metric, GString *signature)
{
  const char *colon = strchr (metric->text, ':');
  g_autofree char *settings = g_strdup (colon ? colon + 1 : "");
  g_strdelimit (settings, "=", ':');
  g_strdelimit (settings, ",", '|');
  g_string_append_printf (signature, "%s%s", settings, *settings ? "|" : "");
}

#define RATE_KIND(name_, score_)                                                                                       \
  {                                                                                                                    \
    .name = name_, .size = sizeof (PlaitMetric), .finish = finish, .score = score_, .detail = detail, .sign = sign,    \
  }

/* The shares of source words whose attention exceeds a bound, and misses one. */
static const PlaitMetricKind over = RATE_KIND ("over-translation", score_over);
static const PlaitMetricKind under = RATE_KIND ("under-translation", score_under);

/* Takes @text over. */
static PlaitMetric *
new_rate (const PlaitMetricKind *kind, char *text, const char *title)
{
  PlaitMetric *metric = plait_metric_new_default (kind);

  g_free (metric->text);
  g_free (metric->title);
  metric->text = text;
  metric->title = g_strdup (title);
  return metric;
}

PlaitMetric *
plait_metric_new_translation_rate (PlaitTranslationFault fault, double bound, const char *of, const char *source,
                                   const char *layers, const char *title)
{
  const PlaitMetricKind *kind = fault == PLAIT_OVER_TRANSLATION ? &over : &under;
  char number[PLAIT_NUMBER_LENGTH];

  return new_rate (kind,
                   g_strdup_printf ("%s:of=%s,source=%s,layers=%s,bound=%s", kind->name, of, source, layers,
                                    plait_format_double (number, bound)),
                   title);
}

PlaitMetric *
plait_metric_read_translation_rate (const char *text, const char *title, char **of, char **source)
{
  const char *colon = strchr (text, ':');
  g_autofree char *name = g_strndup (text, colon ? (gsize)(colon - text) : 0);
  const PlaitMetricKind *kind = g_str_equal (name, over.name) ? &over : g_str_equal (name, under.name) ? &under : NULL;
  g_auto (GStrv) settings = g_strsplit (colon ? colon + 1 : "", ",", -1);

  *of = *source = NULL;
  for (guint i = 0; kind && settings[i]; i++)
    if (!*of && g_str_has_prefix (settings[i], "of="))
      *of = g_strdup (settings[i] + strlen ("of="));
    else if (!*source && g_str_has_prefix (settings[i], "source="))
      *source = g_strdup (settings[i] + strlen ("source="));
  if (*of && *source)
    return new_rate (kind, g_strdup (text), title);
  g_clear_pointer (of, g_free);
  g_clear_pointer (source, g_free);
  return NULL;
}
