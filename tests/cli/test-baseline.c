/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "files.h"
#include "harness.h"

/* plait baseline. */

#define DOCUMENTS "The  first one .\nA second\n\n\n three words here\nfour\nfive\n\nend\n"

TEST_CASE (baseline_command, lead)
{
  static const struct
  {
    const char *options[4];
    const char *output;
  } cases[] = {
    { { "--words", "5" }, "The first one . A\nthree words here four five\nend\n" },
    { { "--words", "1" }, "The\nthree\nend\n" },
    { { "--sentences", "2" }, "The first one . A second\nthree words here four\nend\n" },
    { { "--sentences", "1", "--words", "2" }, "The first\nthree words\nend\n" },
    { { "--sentences", "2", "--keep-lines" }, "The first one .\nA second\n\nthree words here\nfour\n\nend\n" },
    { { "--words", "4", "--keep-lines" }, "The first one .\n\nthree words here\nfour\n\nend\n" },
    { { "--words", "2", "--line-documents" }, "The first\nA second\n\n\nthree words\nfour\nfive\n\nend\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *const *options = cases[i].options;
      const char *arguments[] = { "baseline", "lead", options[0], options[1], options[2], options[3], NULL };
      CONTEXT ("case %u", i);
      PlaitTestCall call = QUIET (plait_test_call (DOCUMENTS, arguments));

      CHECK_STRING (call.output, cases[i].output);
    }
}

/* The most frequent title; of equally frequent ones the first. */
TEST_CASE (baseline_command, majority)
{
  plait_test_write ("titles", "b\na\n\n\n\nc\na\nc\n");
  plait_test_write ("documents", DOCUMENTS);
  PlaitTestCall call = DONE (CALL ("baseline", "majority", "--train", "titles", "documents"));
  PlaitTestCall lines
      = DONE (plait_test_call ("x\n\ny\n", (const char *[]){ "baseline", "majority", "--train", "titles",
                                                             "--line-documents", "-o", "said", "-q", "-", NULL }));

  CHECK_STRING (call.output, "a\na\na\n");
  CHECK_STRING (lines.output, "");
  const char *said = plait_test_read_text ("said");
  CHECK_STRING (said, "a\na\na\n");
}

TEST_CASE (baseline_command, refuses)
{
  plait_test_write ("documents", DOCUMENTS);
  plait_test_write ("blank", "\n \n");
  CHECK_REFUSED (CALL ("baseline"), "plait baseline lead|majority");
  CHECK_REFUSED (CALL ("baseline", "last", "documents"), "there is no baseline \"last\"; expected lead or majority");
  CHECK_REFUSED (CALL ("baseline", "lead", "documents"), "add --words N or --sentences N");
  CHECK_REFUSED (CALL ("baseline", "lead", "documents", "--words", "0"), "--words cannot be \"0\"");
  CHECK_REFUSED (CALL ("baseline", "lead", "documents", "--words", "3", "--train", "documents"),
                 "--train needs majority");
  CHECK_REFUSED (CALL ("baseline", "lead", "documents", "--sentences", "3", "--line-documents"),
                 "--sentences needs documents with one sentence a line");
  CHECK_REFUSED (CALL ("baseline", "lead", "documents", "--words", "3", "--line-documents", "--keep-lines"),
                 "--keep-lines needs documents with one sentence a line");
  CHECK_REFUSED (CALL ("baseline", "lead", "blank", "--words", "3"), "blank: has no documents");
  CHECK_REFUSED (CALL ("baseline", "lead", "nothing", "--words", "3"), "nothing");
  CHECK_REFUSED (CALL ("baseline", "lead", "documents", "--words", "3", "-o", "documents"), "documents");
  CHECK_REFUSED (CALL ("baseline", "majority", "documents"), "--train is missing");
  CHECK_REFUSED (CALL ("baseline", "majority", "documents", "--train", "documents", "--words", "2"), "need lead");
  CHECK_REFUSED (CALL ("baseline", "majority", "documents", "--train", "blank"),
                 "blank: has no line that is not blank");
  CHECK_REFUSED (CALL ("baseline", "majority", "documents", "--train", "blank", "-o", "blank"), "blank");
}
