/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

/* What the coverage plugins take by default (Chen et al. 2017, section 5). */
#define COVERAGE_WIDTH 50

static double
of_transformer (const PlaitBenchData *data, const PlaitBenchSize *size, guint index, const char *combiner)
{
  double d = (double)size->width, inner = (double)size->feed_forward, forward = 0, image;
  double layer = 4 * d * d + 2 * d * inner, causal = 0, read = 0, target = 0, memory = 0;
  guint memories = plait_bench_sources (size);
  double queries = g_str_equal (combiner, "flat") ? 1 : memories;
  gint64 first, end;

  plait_bench_data_range (data, index, &first, &end);
  for (gint64 tuple = first; tuple < end; tuple++)
    {
      double t = (double)plait_bench_data_length (data, tuple, data->streams - 1);
      double rows = (double)size->image_positions;

      for (guint i = 0; i < size->token_sources; i++)
        {
          double n = (double)plait_bench_data_length (data, tuple, i);

          forward += (double)size->encoder_layers * (2 * n * layer + 4 * n * n * d);
          rows += n;
        }
      causal += t * (t + 1) / 2;
      read += t * rows;
      target += t;
      memory += rows;
    }
  forward += (double)size->decoder_layers * (2 * target * layer + 4 * d * causal);
  forward += 2 * target * d * (double)size->vocabulary;
  forward += (double)size->decoder_layers * (2 * d * d * (2 * queries * target + 2 * memory) + 4 * read * d);
  if (g_str_equal (combiner, "hierarchical"))
    {
      double contexts = target * memories;

      forward += (double)size->decoder_layers * (2 * d * d * (2 * target + 2 * contexts) + 4 * contexts * d);
    }
  image = 2 * (double)(end - first) * (double)size->image_positions * (double)size->image_width * d;
  return 3 * forward + 2 * image;
}

/* Products of a coverage's cell: rows of the memory and queries enter once each, with each of @pairs its own state and
 * what it adds to the score, and the states of children or neighbours where there are some (@linked). Fertility has
 * none to speak of. */
static double
of_coverage (const char *coverage, double hidden, double memory_width, double rows, double target, double pairs,
             double linked)
{
  double width = COVERAGE_WIDTH, gates = 3 * width;

  if (g_str_equal (coverage, "none") || g_str_equal (coverage, "fertility"))
    return 0;
  if (g_str_equal (coverage, "word"))
    linked = 0;
  return rows * memory_width * gates + target * hidden * gates + (pairs + linked) * width * gates
         + pairs * width * hidden;
}

static double
of_recurrent (const PlaitBenchData *data, const PlaitBenchOptions *options, guint index)
{
  const PlaitBenchSize *size = &options->size;
  double h = (double)size->hidden, e = (double)size->width, gates = 3 * h, half = h / 2;
  double width = size->trees ? 2 * h : h, products = 0, sentences, target = 0, rows = 0, pairs = 0, linked = 0;
  gint64 first, end;

  plait_bench_data_range (data, index, &first, &end);
  sentences = (double)(end - first);
  for (gint64 tuple = first; tuple < end; tuple++)
    {
      double words = (double)plait_bench_data_length (data, tuple, 0), all = size->trees ? 2 * words - 1 : words;
      double t = (double)plait_bench_data_length (data, tuple, data->streams - 1);

      products += 2 * words * 3 * half * (e + half);
      if (size->trees)
        products += (words - 1) * 2 * h * 6 * h + h * h + (all - 1) * 2 * h * gates;
      target += t;
      rows += all;
      pairs += t * all;
      linked += 2 * t * ((g_str_equal (options->coverage, "tree") ? words : all) - 1);
    }
  if (options->part == PLAIT_BENCH_ENCODE)
    return 6 * products;
  products += sentences * width * h + rows * width * h + pairs * (h + width);
  products += target * (h * h + gates * (e + width + h) + (h + width + e) * e + e * (double)size->vocabulary);
  products += of_coverage (options->coverage, h, width, rows, target, pairs, linked);
  return 6 * products;
}

double
plait_bench_flops (const PlaitBenchData *data, const PlaitBenchOptions *options, guint index)
{
  return options->size.hidden > 0 ? of_recurrent (data, options, index)
                                  : of_transformer (data, &options->size, index, options->combiner);
}
