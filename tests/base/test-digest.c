/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>

#include "files/digest.h"
#include "harness.h"

#define DIGEST_OF_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define DIGEST_OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

TEST_CASE (digest, of_bytes)
{
  g_autofree char *abc = plait_digest_bytes ("abc", 3);
  g_autofree char *nothing = plait_digest_bytes ("", 0);

  CHECK_STRING (abc, DIGEST_OF_ABC);
  CHECK_STRING (nothing, DIGEST_OF_NOTHING);
  CHECK_INT (sizeof DIGEST_OF_ABC - 1, PLAIT_DIGEST_LENGTH);
}

TEST_CASE (digest, of_a_file)
{
  const char *path = plait_test_path ("file");
  g_autofree char *large = g_strnfill (700001, 'x');
  g_autofree char *of_large = plait_digest_bytes (large, 700001);

  REQUIRE (g_file_set_contents (path, "abc", 3, NULL));
  g_autofree char *small = plait_digest_file (path, NO_ERROR);
  CHECK_STRING (small, DIGEST_OF_ABC);
  REQUIRE (g_file_set_contents (path, "", 0, NULL));
  g_autofree char *nothing = plait_digest_file (path, NO_ERROR);
  CHECK_STRING (nothing, DIGEST_OF_NOTHING);
  REQUIRE (g_file_set_contents (path, large, 700001, NULL));
  g_autofree char *of_large_file = plait_digest_file (path, NO_ERROR);
  CHECK_STRING (of_large_file, of_large);
}

TEST_CASE (digest, of_no_file)
{
  const char *path = plait_test_path ("missing");
  g_autoptr (GError) error = NULL;

  CHECK (!plait_digest_file (path, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "cannot be opened");
  CHECK (!plait_digest_file (plait_test_folder (), &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is a folder");
  /* /dev/zero has no end, so it must be refused. */
  CHECK (!plait_digest_file ("/dev/zero", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/dev/zero: is not a regular file");
  REQUIRE (mkfifo (path, 0600) == 0);
  CHECK (!plait_digest_file (path, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is not a regular file");
}
