/* SPDX-License-Identifier: MIT */
#include "text/number.h"
#include "search/search.h"

PlaitSearchWork
plait_search_work_since (const PlaitSearch *search, const PlaitSearchWork *before)
{
  PlaitSearchWork work = plait_search_work (search);

  work.words -= before->words;
  work.steps -= before->steps;
  work.rows_weighed.all -= before->rows_weighed.all;
  work.rows_weighed.selected -= before->rows_weighed.selected;
  work.seconds -= before->seconds;
  return work;
}

double
plait_search_work_rows_weighed (const PlaitSearchWork *work)
{
  return (double)work->rows_weighed.all / (double)MAX (1, work->steps);
}

double
plait_search_work_rows_selected (const PlaitSearchWork *work)
{
  return (double)work->rows_weighed.selected / (double)MAX (1, work->steps);
}

double
plait_search_work_milliseconds (const PlaitSearchWork *work)
{
  return 1e3 * work->seconds / (double)MAX (1, work->words);
}

char *
plait_search_work_text (const PlaitSearchWork *work)
{
  return plait_format ("%.2f states touched per step, %.3f ms per word", plait_search_work_rows_weighed (work),
                       plait_search_work_milliseconds (work));
}
