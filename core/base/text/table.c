/* SPDX-License-Identifier: MIT */
#include "text/table.h"

#include <math.h>

#include "text/number.h"

#define USUAL_FORMAT "%.2f"
#define P_FORMAT "%.4f"
#define MIN_P 0.00005 /* smaller p values are shown as "< 0.0001" */
#define NONE "–"

static void
column_clear (gpointer column)
{
  g_free (((PlaitTableColumn *)column)->title);
}

PlaitTable *
plait_table_new (void)
{
  PlaitTable *table = g_new0 (PlaitTable, 1);

  table->columns = g_array_new (FALSE, FALSE, sizeof (PlaitTableColumn));
  g_array_set_clear_func (table->columns, column_clear);
  table->cells = g_array_new (FALSE, FALSE, sizeof (PlaitTableCell));
  table->notes = g_ptr_array_new_with_free_func (g_free);
  table->texts = g_string_chunk_new (1024);
  table->scores = g_ptr_array_new_with_free_func (g_free);
  return table;
}

void
plait_table_free (PlaitTable *table)
{
  if (!table)
    return;
  g_free (table->title);
  g_array_unref (table->columns);
  g_array_unref (table->cells);
  g_ptr_array_unref (table->notes);
  g_string_chunk_free (table->texts);
  g_ptr_array_unref (table->scores);
  g_free (table);
}

PlaitTableColumn *
plait_table_column (PlaitTable *table, PlaitTableKind kind, const char *title)
{
  PlaitTableColumn column = { .title = g_strdup (title), .kind = kind, .format = USUAL_FORMAT };

  g_assert (table->cells->len == 0);
  g_array_append_val (table->columns, column);
  return &g_array_index (table->columns, PlaitTableColumn, table->columns->len - 1);
}

static void
add (PlaitTable *table, PlaitTableCell cell)
{
  cell.run = -1;
  g_array_append_val (table->cells, cell);
}

void
plait_table_text (PlaitTable *table, PlaitTableStyle style, const char *text)
{
  if (text)
    add (table, (PlaitTableCell){ PLAIT_TABLE_CELL_TEXT, style, .text = g_string_chunk_insert (table->texts, text) });
  else
    add (table, (PlaitTableCell){ PLAIT_TABLE_CELL_EMPTY });
}

void
plait_table_integer (PlaitTable *table, PlaitTableStyle style, gint64 integer)
{
  add (table, (PlaitTableCell){ PLAIT_TABLE_CELL_INTEGER, style, .integer = integer });
}

void
plait_table_real (PlaitTable *table, double real)
{
  PlaitTableStyle style = isfinite (real) ? PLAIT_TABLE_PLAIN : PLAIT_TABLE_DIM;

  add (table, (PlaitTableCell){ PLAIT_TABLE_CELL_REAL, style, .real = real });
}

void
plait_table_real_or_none (PlaitTable *table, double real)
{
  if (isnan (real))
    plait_table_none (table);
  else
    plait_table_real (table, real);
}

void
plait_table_score (PlaitTable *table, PlaitTableScore score)
{
  if (isnan (score.value))
    {
      plait_table_none (table);
      return;
    }
  PlaitTableScore *kept = g_memdup2 (&score, sizeof score);
  g_ptr_array_add (table->scores, kept);
  add (table, (PlaitTableCell){ PLAIT_TABLE_CELL_SCORE, .score = kept });
}

void
plait_table_p (PlaitTable *table, double p, PlaitTableMark mark)
{
  add (table, (PlaitTableCell){ PLAIT_TABLE_CELL_P, .mark = mark, .real = p });
}

void
plait_table_none (PlaitTable *table)
{
  add (table, (PlaitTableCell){ PLAIT_TABLE_CELL_NONE, PLAIT_TABLE_DIM });
}

void
plait_table_run (PlaitTable *table, const char *name, guint run)
{
  plait_table_text (table, PLAIT_TABLE_NAME, name);
  g_array_index (table->cells, PlaitTableCell, table->cells->len - 1).run = (gint16)(run % G_MAXINT16);
}

void
plait_table_gap (PlaitTable *table, const char *text)
{
  add (table,
       (PlaitTableCell){ PLAIT_TABLE_CELL_GAP, PLAIT_TABLE_DIM, .text = g_string_chunk_insert (table->texts, text) });
  table->gaps++;
}

void
plait_table_note (PlaitTable *table, const char *text)
{
  g_ptr_array_add (table->notes, g_strdup (text));
}

guint
plait_table_rows (const PlaitTable *table)
{
  return table->columns->len > 0 ? (table->cells->len - table->gaps) / table->columns->len : 0;
}

const PlaitTableCell *
plait_table_cell (const PlaitTable *table, guint row, guint column)
{
  return &g_array_index (table->cells, PlaitTableCell, row * table->columns->len + column);
}

gboolean
plait_table_is_titled (const PlaitTable *table)
{
  for (guint c = 0; c < table->columns->len; c++)
    if (*plait_table_get_column (table, c)->title)
      return TRUE;
  return FALSE;
}

static char *
real_text (const char *format, double real)
{
  char digits[MAX (G_ASCII_DTOSTR_BUF_SIZE, PLAIT_NUMBER_LENGTH)];

  return g_strdup (isfinite (real) ? g_ascii_formatd (digits, sizeof digits, format, real)
                                   : plait_format_double (digits, real));
}

char *
plait_table_score_text (const char *format, PlaitTableScore score)
{
  g_autofree char *value = real_text (format, score.value);
  g_autofree char *spread = real_text (format, score.spread);
  g_autofree char *low = real_text (format, score.low);
  g_autofree char *high = real_text (format, score.high);

  if (isnan (score.value))
    return g_strdup (NONE);
  if (!isnan (score.spread))
    return g_strdup_printf ("%s ± %s", value, spread);
  return score.low < score.high ? g_strdup_printf ("%s [%s, %s]", value, low, high) : g_steal_pointer (&value);
}

char *
plait_table_cell_text (const PlaitTableColumn *column, const PlaitTableCell *cell)
{
  switch ((PlaitTableCellKind)cell->kind)
    {
    case PLAIT_TABLE_CELL_EMPTY:
      break;
    case PLAIT_TABLE_CELL_NONE:
      return g_strdup (NONE);
    case PLAIT_TABLE_CELL_TEXT:
    case PLAIT_TABLE_CELL_GAP:
      return g_strdup (cell->text);
    case PLAIT_TABLE_CELL_INTEGER:
      return g_strdup_printf ("%jd", cell->integer);
    case PLAIT_TABLE_CELL_REAL:
      return real_text (column->format, cell->real);
    case PLAIT_TABLE_CELL_SCORE:
      return plait_table_score_text (column->format, *cell->score);
    case PLAIT_TABLE_CELL_P:
      return cell->real < MIN_P ? g_strdup ("< 0.0001") : real_text (P_FORMAT, cell->real);
    }
  return g_strdup ("");
}

const char *
plait_table_cell_mark (const PlaitTableCell *cell)
{
  static const char *const marks[] = { "", " *", " * better", " * worse" };

  return marks[cell->mark];
}
