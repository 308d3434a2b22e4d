/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/comparison.h"
#include "text/json.h"
#include "scoring/length-table.h"

/*
 * Scores by the length of the source as a table: a row a bin, a column a system.
 */
typedef struct
{
  char *split;       /* NULL: none */
  char *metric;      /* a key */
  char *name;        /* of the metric */
  GPtrArray *bins;   /* (element-type utf8) */
  GArray *sentences; /* gint64, [bins]: of the first system that has the bin */
  char **systems;    /* their names, NULL-terminated */
  GPtrArray *cells;  /* (element-type utf8) [bins][systems]; NULL: the system has no such bin */
} PlaitLengthTable;

/* An empty table for @systems; @split may be NULL. (transfer full) */
PlaitLengthTable *plait_length_table_begin (const char *split, const char *metric, const char *name,
                                            const char *const *systems);
void plait_length_table_free (PlaitLengthTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitLengthTable, plait_length_table_free)

/* Puts a system's @row into its place: "34.50 [33.30, 35.70]", "–" for an empty bin, with the number of sentences
 * behind it where that is another than the table's. */
void plait_length_table_set (PlaitLengthTable *table, guint system, const PlaitLengthRow *row);

/* "By words of the source: BLEU on test". (transfer full) */
char *plait_length_table_title (const PlaitLengthTable *table);

/* (transfer full) */
PlaitTable *plait_length_table_shown (const PlaitLengthTable *table);

/* The tables of all splits and metrics that any of the runs has. (transfer full) (element-type PlaitLengthTable) */
GPtrArray *plait_length_tables_of_runs (const PlaitRunComparison *comparison, GError **error);

/* Adds the rows of @run as the array "length_bins" to the JSON object that is open; nothing if it has none. */
gboolean plait_lengths_add_json (const PlaitRunFile *run, PlaitJson *json, GError **error);

/* The same of one system and metric: the objects of an array that is open. */
void plait_length_row_add_json (const PlaitLengthRow *row, const char *split, PlaitJson *json);
