/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "text/table.h"
#include "harness.h"

/* Returns a table with one cell of each kind. (transfer full) */
static PlaitTable *
make (void)
{
  PlaitTable *table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_WORDS, "name");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "n");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "rate, %")->format = "%+.1f";
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "BLEU");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "p");

  plait_table_run (table, "a|b_c", 3);
  plait_table_integer (table, PLAIT_TABLE_PLAIN, G_MININT64);
  plait_table_real (table, 1. / 3);
  plait_table_score (table, (PlaitTableScore){ 1.5, .25, 1, 2 });
  plait_table_p (table, .01234, PLAIT_TABLE_BETTER);

  plait_table_text (table, PLAIT_TABLE_PLAIN, "two\n\"lines\"");
  plait_table_none (table);
  plait_table_real_or_none (table, NAN);
  plait_table_score (table, (PlaitTableScore){ 2, NAN, 1, 3 });
  plait_table_p (table, .5, PLAIT_TABLE_UNMARKED);

  plait_table_text (table, PLAIT_TABLE_PLAIN, NULL);
  plait_table_integer (table, PLAIT_TABLE_PLAIN, 0);
  plait_table_real (table, -INFINITY);
  plait_table_score (table, (PlaitTableScore){ NAN, NAN, NAN, NAN });
  plait_table_none (table);
  plait_table_note (table, "What it means.");
  return table;
}

TEST_CASE (table, cells_for_people)
{
  g_autoptr (PlaitTable) table = make ();
  static const char *const expected[3][5] = {
    { "a|b_c", "-9223372036854775808", "+0.3", "1.50 ± 0.25", "0.0123" },
    { "two\n\"lines\"", "–", "–", "2.00 [1.00, 3.00]", "0.5000" },
    { "", "0", "-inf", "–", "–" },
  };

  CHECK_INT (plait_table_rows (table), 3);
  for (guint r = 0; r < 3; r++)
    for (guint c = 0; c < 5; c++)
      {
        CONTEXT ("row %u, column %u", r, c);
        g_autofree char *text
            = plait_table_cell_text (plait_table_get_column (table, c), plait_table_cell (table, r, c));
        CHECK_STRING (text, expected[r][c]);
      }
  CHECK_STRING (plait_table_cell_mark (plait_table_cell (table, 0, 4)), " * better");
  CHECK_STRING (plait_table_cell_mark (plait_table_cell (table, 1, 4)), "");
  CHECK_INT (plait_table_cell (table, 0, 0)->run, 3);
  CHECK_INT (plait_table_cell (table, 1, 0)->run, -1);
}

/* A p value that would be 0 with four digits is shown as "< 0.0001". Formats for programs have the number itself. */
TEST_CASE (table, small_p_is_no_zero)
{
  static const struct
  {
    double p;
    const char *shown;
  } cases[] = { { 0, "< 0.0001" }, { 4.9e-5, "< 0.0001" }, { 9.999e-5, "0.0001" }, { 0.00014, "0.0001" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PlaitTable) table = plait_table_new ();
      plait_table_column (table, PLAIT_TABLE_NUMBERS, "p");
      plait_table_p (table, cases[i].p, PLAIT_TABLE_MARKED);
      g_autofree char *text = plait_table_cell_text (plait_table_get_column (table, 0), plait_table_cell (table, 0, 0));
      g_autofree char *csv = plait_table_csv (table);

      CHECK_STRING (text, cases[i].shown);
      CHECK_NEAR (g_ascii_strtod (csv + 2, NULL), cases[i].p, 0);
    }
}

/* Shows scores with intervals, but no interval of width 0. */
TEST_CASE (table, scores)
{
  g_autofree char *flat = plait_table_score_text ("%.3f", (PlaitTableScore){ 4, NAN, 4, 4 });
  g_autofree char *none = plait_table_score_text ("%.3f", (PlaitTableScore){ NAN, 1, 4, 5 });
  CHECK_STRING (flat, "4.000");
  CHECK_STRING (none, "–");
}

TEST_CASE (table, gaps_are_no_rows)
{
  g_autoptr (PlaitTable) table = make ();
  plait_table_gap (table, "… 7 more");
  CHECK_INT (plait_table_rows (table), 3);
}

TEST_CASE (table, markdown)
{
  g_autoptr (PlaitTable) table = plait_table_new ();
  plait_table_column (table, PLAIT_TABLE_CODE, "a_key");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "p");
  plait_table_text (table, PLAIT_TABLE_PLAIN, "<b>|*");
  plait_table_p (table, 0.00012, PLAIT_TABLE_WORSE);
  plait_table_note (table, "One.");
  plait_table_note (table, "Two.");
  g_autofree char *text = plait_table_markdown (table);

  CHECK_STRING (text, "| a\\_key | p |\n"
                      "| --- | ---: |\n"
                      "| \\<b>\\|\\* | 0.0001 \\* worse |\n"
                      "\nOne.\n"
                      "\nTwo.\n");
}

TEST_CASE (table, latex)
{
  g_autoptr (PlaitTable) table = plait_table_new ();
  plait_table_column (table, PLAIT_TABLE_CODE, "a_key");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "BLEU, %");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "p");
  plait_table_text (table, PLAIT_TABLE_PLAIN, "[a\\b] {c} & d~e");
  plait_table_score (table, (PlaitTableScore){ 1.5, 0.25, NAN, NAN });
  plait_table_p (table, 0.00012, PLAIT_TABLE_WORSE);
  plait_table_text (table, PLAIT_TABLE_PLAIN, "é<f>\n#$^");
  plait_table_none (table);
  plait_table_p (table, 1e-9, PLAIT_TABLE_UNMARKED);
  plait_table_note (table, "One.\nTwo.");
  g_autofree char *text = plait_table_latex (table);

  CHECK_STRING (
      text, "\\begin{tabular}{lrr}\n"
            "\\hline\n"
            "a\\_key & BLEU, \\% & p \\\\\n"
            "\\hline\n"
            "{}[a\\textbackslash{}b] \\{c\\} \\& d\\textasciitilde{}e & 1.50 $\\pm$ 0.25 & 0.0001$^{*}$ worse \\\\\n"
            "é$<$f$>$ \\#\\$\\textasciicircum{} & -- & $<$ 0.0001 \\\\\n"
            "\\hline\n"
            "\\end{tabular}\n"
            "% One. Two.\n");
}

/* Quotes fields where needed. The first field of a line may be empty. */
TEST_CASE (table, csv)
{
  g_autoptr (PlaitTable) table = make ();
  g_autofree char *text = plait_table_csv (table);

  CHECK_STRING (text, "name,n,\"rate, %\",BLEU,p\n"
                      "a|b_c,-9223372036854775808,0.3333333333333333,1.5,0.01234\n"
                      "\"two\n\"\"lines\"\"\",,,2,0.5\n"
                      ",0,-inf,,\n");
}

TEST_CASE (table, has_no_formulas_in_csv)
{
  static const char *const words[] = { "=1+1", "+1", "@SUM(A1), 1", "-", "\tx", "-3.1", "-1e-5", "a=b", "", "'" };
  g_autoptr (PlaitTable) table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_WORDS, "=name");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "n");
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      plait_table_text (table, PLAIT_TABLE_PLAIN, words[i]);
      plait_table_real (table, -0.5);
    }
  g_autofree char *text = plait_table_csv (table);
  CHECK_STRING (text, "'=name,n\n'=1+1,-0.5\n'+1,-0.5\n\"'@SUM(A1), 1\",-0.5\n'-,-0.5\n'\tx,-0.5\n-3.1,-0.5\n"
                      "-1e-5,-0.5\na=b,-0.5\n,-0.5\n',-0.5\n");
}

TEST_CASE (table, json)
{
  g_autoptr (PlaitTable) table = plait_table_new ();
  g_autoptr (PlaitJson) json = plait_json_new ();
  plait_table_column (table, PLAIT_TABLE_WORDS, "name");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "score");
  plait_table_text (table, PLAIT_TABLE_PLAIN, "one");
  plait_table_real (table, .1);
  plait_table_text (table, PLAIT_TABLE_PLAIN, "two");
  plait_table_none (table);
  plait_json_begin_object (json, NULL);
  plait_table_add_json (table, json);
  plait_json_end_object (json);

  CHECK_STRING (plait_json_string (json), "{\n"
                                          "  \"rows\": 2,\n"
                                          "  \"columns\": {\n"
                                          "    \"name\": [\n"
                                          "      \"one\",\n"
                                          "      \"two\"\n"
                                          "    ],\n"
                                          "    \"score\": [\n"
                                          "      0.1,\n"
                                          "      null\n"
                                          "    ]\n"
                                          "  }\n"
                                          "}\n");
}
