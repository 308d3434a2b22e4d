/* SPDX-License-Identifier: MIT */
#include "report/report-data.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#include "text/display.h"
#include "comparison/descent.h"
#include "comparison/heatmap.h"
#include "comparison/location.h"

#define MAX_STEPS 200000            /* maximum number of weighed rows in a descent, summed over its targets */
#define MAX_BYTES ((gint64)1 << 20) /* a heatmap with more bytes, before packing, gets less detail */

typedef struct
{
  PlaitStore *store;
  const char *split, *name;
  PlaitReportDetail detail;
  PlaitJson *json;
  GByteArray *bytes;
  GPtrArray *labels;  /* (element-type GStrv): column labels of each heatmap added so far */
  GPtrArray *undrawn; /* (element-type utf8): sentences about heatmaps and descents that are not drawn */
  char **targets;     /* labels of the target tokens; NULL before the first heatmap or descent */
} Sentence;

static void
sentence_clear (Sentence *sentence)
{
  g_clear_pointer (&sentence->json, plait_json_free);
  g_clear_pointer (&sentence->bytes, g_byte_array_unref);
  g_clear_pointer (&sentence->labels, g_ptr_array_unref);
  g_clear_pointer (&sentence->undrawn, g_ptr_array_unref);
  g_clear_pointer (&sentence->targets, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sentence, sentence_clear)

void
plait_report_json_text (PlaitJson *json, const char *name, const char *text)
{
  g_autofree char *clean = text ? plait_display_sanitise (text, TRUE) : NULL;

  plait_json_text (json, name, clean);
}

void
plait_report_json_texts (PlaitJson *json, const char *name, char *const *texts, gint64 n)
{
  plait_json_begin_array (json, name);
  for (gint64 i = 0; n < 0 ? texts[i] != NULL : i < n; i++)
    plait_report_json_text (json, NULL, texts[i]);
  plait_json_end_array (json);
}

/* Adds the labels of the columns of @heatmap, or the number of an earlier heatmap that has equal labels. */
static void
add_columns (Sentence *sentence, const PlaitHeatmap *heatmap)
{
  gint same = -1;

  for (guint i = 0; i < sentence->labels->len && same < 0; i++)
    if (g_strv_equal (sentence->labels->pdata[i], (const char *const *)heatmap->columns))
      same = (gint)i;
  g_ptr_array_add (sentence->labels, g_strdupv (heatmap->columns));
  if (same >= 0)
    plait_json_integer (sentence->json, "rows", same);
  else
    plait_report_json_texts (sentence->json, "rows", heatmap->columns, -1);
}

static guint8
step_of (double value, double largest)
{
  return isfinite (value) && largest > 0 ? (guint8)(CLAMP (value / largest, 0, 1) * 255 + .5) : 0;
}

static void
add_bytes (GByteArray *bytes, const double *values, gint64 n, double largest)
{
  for (gint64 i = 0; i < n; i++)
    {
      guint8 step = step_of (values[i], largest);

      g_byte_array_append (bytes, &step, 1);
    }
}

/* Returns the sums of the weights of each target token, averaged over heads, [layers, targets]. @heatmaps has @heads
 * heatmaps of each layer, layer after layer. (transfer full) */
static PlaitHeatmap *
masses_of (const GPtrArray *heatmaps, gint64 heads)
{
  const PlaitHeatmap *first = heatmaps->pdata[0];
  PlaitHeatmap *masses = g_new0 (PlaitHeatmap, 1);

  masses->n_rows = (gint64)heatmaps->len / heads;
  masses->n_columns = first->n_rows;
  masses->values = g_new0 (double, masses->n_rows * masses->n_columns + 1);
  for (guint m = 0; m < heatmaps->len; m++)
    {
      const PlaitHeatmap *heatmap = heatmaps->pdata[m];

      for (gint64 i = 0; i < heatmap->n_rows * heatmap->n_columns; i++)
        masses->values[m / heads * heatmap->n_rows + i / heatmap->n_columns] += heatmap->values[i] / (double)heads;
    }
  return masses;
}

/* Returns the highest detail, up to @detail, at which a heatmap with these numbers of layers, heads and cells is small
 * enough, or else the lowest detail. */
static PlaitReportDetail
detail_of (PlaitReportDetail detail, gint64 layers, gint64 heads, gint64 cells)
{
  if (detail == PLAIT_REPORT_HEADS && layers * heads * cells > MAX_BYTES)
    detail = PLAIT_REPORT_LAYERS;
  return detail == PLAIT_REPORT_LAYERS && layers * cells > MAX_BYTES ? PLAIT_REPORT_LAST : detail;
}

/* If the heatmap at @path is large, lowers *@detail. Then reads a picture for each layer and head that *@detail keeps.
 * Returns NULL without an error if the rows are not target tokens. (transfer full) (element-type PlaitHeatmap) */
static GPtrArray *
read_heatmaps (PlaitStore *store, const char *path, PlaitReportDetail *detail, gint64 *layers, gint64 *heads,
               GError **error)
{
  g_autoptr (GPtrArray) heatmaps = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_heatmap_free);
  PlaitHeatmap *last = plait_heatmap_read (store, path, PLAIT_HEATMAP_SELECTION_DEFAULT, error);

  if (!last)
    return NULL;
  g_ptr_array_add (heatmaps, last);
  if (strcmp (last->row_axis, "target") != 0)
    return NULL;
  plait_heatmap_extents (store, path, layers, heads);
  *detail = detail_of (*detail, MAX (*layers, 1), MAX (*heads, 1), last->n_rows * last->n_columns);
  if (*detail == PLAIT_REPORT_LAST)
    return g_steal_pointer (&heatmaps);
  g_ptr_array_set_size (heatmaps, 0);
  for (gint64 l = 0; l < MAX (*layers, 1); l++)
    for (gint64 h = 0; h < (*detail == PLAIT_REPORT_HEADS ? MAX (*heads, 1) : 1); h++)
      {
        PlaitHeatmapSelection choice
            = { l, *detail == PLAIT_REPORT_HEADS ? h : PLAIT_HEATMAP_MEAN, PLAIT_HEATMAP_DEFAULT };
        PlaitHeatmap *heatmap = plait_heatmap_read (store, path, choice, error);

        if (!heatmap)
          return NULL;
        g_ptr_array_add (heatmaps, heatmap);
      }
  return g_steal_pointer (&heatmaps);
}

static void
leave_out (Sentence *sentence, const char *name, const char *reason)
{
  g_ptr_array_add (sentence->undrawn, g_strdup_printf ("%s %s.", name, reason));
}

/* Adds the heatmap @name of the group @group if its rows are the sentence's target tokens. */
static gboolean
add_heatmap (Sentence *sentence, const char *group, const char *name, GError **error)
{
  g_autofree char *path = plait_location_join (group, name);
  g_autoptr (GPtrArray) heatmaps = NULL;
  g_autoptr (GError) reason = NULL;
  PlaitReportDetail detail = sentence->detail;
  gint64 layers = 0, heads = 0;
  double largest = 0, max;

  if (!plait_heatmap_exists (sentence->store, path))
    {
      if (plait_store_has_attribute (sentence->store, path, "signal"))
        leave_out (sentence, name, "cannot be drawn: its values are missing or have the wrong shape");
      return TRUE;
    }
  if (!plait_heatmap_fits (sentence->store, path))
    {
      leave_out (sentence, name, "has too many values to be drawn");
      return TRUE;
    }
  heatmaps = read_heatmaps (sentence->store, path, &detail, &layers, &heads, &reason);
  if (!plait_no_error (&reason, error))
    return FALSE;
  if (!heatmaps)
    return TRUE;
  const PlaitHeatmap *heatmap = heatmaps->pdata[0];
  if (!sentence->targets)
    sentence->targets = g_strdupv (heatmap->rows);
  else if (!g_strv_equal ((const char *const *)sentence->targets, (const char *const *)heatmap->rows))
    {
      leave_out (sentence, name, "has rows that are not the target tokens; plait show draws it");
      return TRUE;
    }
  gint64 n_heads = detail == PLAIT_REPORT_HEADS ? MAX (heads, 1) : 1, n_layers = heatmaps->len / n_heads;
  gint64 cells = heatmap->n_rows * heatmap->n_columns;
  g_autoptr (PlaitHeatmap) masses = masses_of (heatmaps, n_heads);
  for (guint m = 0; m < heatmaps->len; m++)
    largest = MAX (largest, plait_heatmap_max (heatmaps->pdata[m]));
  max = plait_heatmap_max (masses);
  add_bytes (sentence->bytes, masses->values, n_layers * heatmap->n_rows, max);
  for (guint m = 0; m < heatmaps->len; m++)
    add_bytes (sentence->bytes, ((const PlaitHeatmap *)heatmaps->pdata[m])->values, cells, largest);
  plait_json_begin_object (sentence->json, NULL);
  plait_report_json_text (sentence->json, "name", name);
  plait_report_json_text (sentence->json, "title", heatmap->title ? heatmap->title : name);
  plait_json_members (sentence->json,
                      "group=%s sentences=%d layers=%jd heads=%jd kept_layers=%jd kept_heads=%jd heaviest=%jd "
                      "largest=%g largest_mass=%g",
                      g_str_has_prefix (group, "/coverage/") ? "coverage"
                      : g_str_has_prefix (group, "/copy/")   ? "copy"
                                                             : "attention",
                      heatmap->of_sentences, layers, heads, n_layers, n_heads, heatmap->heaviest, largest, max);
  add_columns (sentence, heatmap);
  if (heatmap->sentence)
    plait_json_integers (sentence->json, "of", heatmap->sentence, heatmap->n_columns);
  plait_json_end_object (sentence->json);
  return TRUE;
}

static void
add_steps (GByteArray *bytes, const PlaitDescent *descent)
{
  for (gint64 t = 0; t < descent->n_targets; t++)
    {
      guint place = bytes->len;
      guint16 n = 0, number;

      g_byte_array_append (bytes, (const guint8 *)&n, sizeof n);
      for (gint64 r = 0; r < descent->n_rows; r++)
        {
          const PlaitDescentStep *step = plait_descent_step (descent, t, r);
          const double shares[] = { step->weight, step->path, step->share, (double)step->taken / descent->ways };

          if (step->weighed == 0)
            continue;
          n++;
          number = GUINT16_TO_LE ((guint16)r);
          g_byte_array_append (bytes, (const guint8 *)&number, sizeof number);
          add_bytes (bytes, shares, G_N_ELEMENTS (shares), 1);
        }
      n = GUINT16_TO_LE (n);
      memcpy (bytes->data + place, &n, sizeof n);
    }
}

static gboolean
is_small (const PlaitDescent *descent)
{
  gint64 steps = 0;

  for (gint64 i = 0; i < descent->n_targets * descent->n_rows; i++)
    steps += descent->steps[i].weighed > 0;
  return descent->n_rows <= G_MAXUINT16 && steps <= MAX_STEPS && descent->n_targets > 0 && descent->ways > 0;
}

static gboolean
add_descent (Sentence *sentence, const char *group, const char *name, GError **error)
{
  g_autofree char *path = plait_location_join (group, name);
  g_autoptr (PlaitDescent) descent = NULL;
  PlaitJson *json = sentence->json;
  guint begin = sentence->bytes->len;

  if (!plait_descent_is (sentence->store, path))
    return TRUE;
  descent = plait_descent_read (sentence->store, path, PLAIT_HEATMAP_SELECTION_DEFAULT, error);
  if (!descent)
    return FALSE;
  if (!is_small (descent))
    {
      leave_out (sentence, descent->title ? descent->title : name,
                 "has too many values to be drawn; plait show draws it word by word");
      return TRUE;
    }
  if (!sentence->targets)
    sentence->targets = g_strdupv (descent->targets);
  add_steps (sentence->bytes, descent);
  plait_json_begin_object (json, NULL);
  plait_report_json_text (json, "title", descent->title ? descent->title : name);
  plait_report_json_text (json, "choice", descent->choice);
  plait_json_members (json, "ways=%u highest=%jd", descent->ways, descent->highest);
  plait_report_json_texts (json, "targets", descent->targets, -1);
  plait_report_json_texts (json, "rows", descent->rows, -1);
  plait_json_integers (json, "levels", descent->level, descent->n_rows);
  plait_json_integers (json, "first", descent->first, descent->n_rows);
  plait_json_integers (json, "last", descent->last, descent->n_rows);
  plait_json_integer (json, "bytes", sentence->bytes->len - begin);
  plait_json_end_object (json);
  return TRUE;
}

/* Calls @add for each member of /KIND/SPLIT/SENTENCE; KIND is @kind, such as "attention". */
static gboolean
add_members (Sentence *sentence, const char *kind,
             gboolean (*add) (Sentence *sentence, const char *group, const char *name, GError **error), GError **error)
{
  g_autofree char *group = g_strdup_printf ("/%s/%s/%s", kind, sentence->split, sentence->name);
  g_auto (GStrv) members = plait_location_members (sentence->store, group, error);

  for (guint i = 0; members && members[i]; i++)
    if (!add (sentence, group, members[i], error))
      return FALSE;
  return members != NULL;
}

char *
plait_report_pack (const char *json, const GByteArray *bytes)
{
  guint32 length = GUINT32_TO_LE ((guint32)strlen (json));
  g_autoptr (GByteArray) all = g_byte_array_new ();

  g_byte_array_append (all, (const guint8 *)&length, sizeof length);
  g_byte_array_append (all, (const guint8 *)json, (guint)strlen (json));
  if (bytes)
    g_byte_array_append (all, bytes->data, bytes->len);
  uLongf size = compressBound (all->len);
  g_autofree guint8 *packed = g_malloc (size);
  int result = compress2 (packed, &size, all->data, all->len, 6);

  g_assert (result == Z_OK);
  return g_base64_encode (packed, size);
}

gboolean
plait_report_heatmaps (PlaitStore *store, const char *split, const char *name, PlaitReportDetail detail, char **packed,
                       GError **error)
{
  g_auto (Sentence) sentence = { .store = store,
                                 .split = split,
                                 .name = name,
                                 .detail = detail,
                                 .json = plait_json_new (),
                                 .bytes = g_byte_array_new (),
                                 .labels = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev),
                                 .undrawn = g_ptr_array_new_with_free_func (g_free) };

  *packed = NULL;
  plait_json_begin_object (sentence.json, NULL);
  plait_json_begin_array (sentence.json, "maps");
  if (!add_members (&sentence, "attention", add_heatmap, error)
      || !add_members (&sentence, "coverage", add_heatmap, error)
      || !add_members (&sentence, "copy", add_heatmap, error))
    return FALSE;
  plait_json_end_array (sentence.json);
  plait_json_begin_array (sentence.json, "descents");
  if (!add_members (&sentence, "descent", add_descent, error))
    return FALSE;
  plait_json_end_array (sentence.json);
  plait_report_json_texts (sentence.json, "targets", sentence.targets, sentence.targets ? -1 : 0);
  plait_report_json_texts (sentence.json, "undrawn", (char **)sentence.undrawn->pdata, sentence.undrawn->len);
  plait_json_end_object (sentence.json);
  if (sentence.targets || sentence.undrawn->len > 0)
    *packed = plait_report_pack (plait_json_string (sentence.json), sentence.bytes);
  return TRUE;
}
