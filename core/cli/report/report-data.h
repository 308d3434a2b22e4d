/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/json.h"
#include "comparison/comparison.h"

/*
 * Data from which the script of a report draws: a JSON element of the page, {"index": PACK, "maps": [PACK, ...]}. A
 * pack is base64 of zlib of: a length (32 bits, little-endian), JSON of that length, and bytes that the JSON describes.
 * User text is only inside packs, so it needs no escaping in the page.
 *
 * The pack "index" has:
 *
 *     "runs"       names of the runs
 *     "texts"      for each split: "split", number of "sentences", "references", "sources" ("name", "lines"), "systems"
 *     "systems"    each has "run" (a number), "hypotheses", "references" if they differ, and "scores"
 *     "scores"     each has "name", "larger" (TRUE if larger is better) and "values", one for each sentence
 *     "attention"  for each split: "split" and "sentences"
 *     "sentences"  each has "name" and "maps": for each run the number of a pack, or null
 *
 * The pack of a sentence has "targets" (target tokens), "maps" (heatmaps), "descents" and "undrawn". A heatmap has:
 *
 *     "name", "title", "group"        group is attention, coverage or copy
 *     "sentences"                     TRUE if rows are sentences
 *     "layers", "heads"               numbers of layers and heads in the file; 0: no such axis
 *     "kept_layers", "kept_heads"     numbers in the pack. One head is the mean of all, one layer the last
 *     "heaviest"                      number of weights kept for each target token; 0: all
 *     "largest", "largest_mass"       values for which the byte 255 stands
 *     "rows"                          labels, or the number of a heatmap with equal labels
 *     "of"                            for each row of a document, the number of the row's sentence
 *
 * The bytes of a heatmap are two arrays. The first, [layer, target], has the sum of the weights of each target token,
 * averaged over heads, in 255ths of largest_mass. The second, [layer, head, target, row], has the weights, in 255ths of
 * largest.
 *
 * "descents" (comparison/descent.h) are for the last layer and the mean of its heads. A descent has "title", "choice",
 * "ways", "highest", "targets", "rows" (labels), their "levels", "first" and "last" leaves, and "bytes", the number of
 * its bytes. The bytes of the descents follow the bytes of the heatmaps. For each target token they have the number of
 * weighed rows, and then for each weighed row its number and, in 255ths, its weight, its path, its share, and the share
 * of the heads that selected it. The number of rows and the number of a row have 16 bits, little-endian.
 *
 * "undrawn" are sentences that tell the user about heatmaps and descents of the file that are not drawn.
 */

typedef enum
{
  PLAIT_REPORT_HEADS,  /* keep the weights of all heads */
  PLAIT_REPORT_LAYERS, /* keep the mean of the heads of each layer */
  PLAIT_REPORT_LAST,   /* keep the mean of the heads of the last layer */
} PlaitReportDetail;

/* Makes the pack of sentence @name of @split. Sets *@packed to NULL if there is nothing to draw or say. Large heatmaps
 * get less detail than @detail. (transfer full) */
gboolean plait_report_heatmaps (PlaitStore *store, const char *split, const char *name, PlaitReportDetail detail,
                                char **packed, GError **error);

/* Returns a pack with @json and @bytes (NULL: no bytes). (transfer full) */
char *plait_report_pack (const char *json, const GByteArray *bytes);

/* Adds @text to the open JSON object, with control characters replaced (text/display.h). */
void plait_report_json_text (PlaitJson *json, const char *name, const char *text);

/* Adds an array of @n texts to the open JSON object; if @n is negative, @texts is NULL-terminated. */
void plait_report_json_texts (PlaitJson *json, const char *name, char *const *texts, gint64 n);

/* Appends the data, and the element in which the script shows them. Appends nothing if the runs have neither text nor
 * attention. */
gboolean plait_report_data (GString *html, const PlaitRunComparison *comparison, GError **error);
