#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Builds plait and runs all of its tests.
#
#   tests/run.sh              release build with -Werror and the whole suite; then the suites of operators and
#                             plugins once more with tensors of doubles
#   tests/run.sh --sanitize   the whole suite with AddressSanitizer and UndefinedBehaviorSanitizer instead
#   tests/run.sh --threads    the tests of thread pools and shards with ThreadSanitizer instead
#   tests/run.sh --clang      builds everything with clang, with warnings as errors, and runs nothing: one test
#
# Installs missing Debian packages (as root, or with sudo). The last line is "N passed, N failed", followed by
# ", N skipped" if tests were skipped; each test case counts. The exit code is 0 if no test failed.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1

. experiments/packages.sh
test_packages="hdf5-tools libgtest-dev clang-format python3 python3-h5py
  liblink-grammar-dev link-grammar-dictionaries-en libcairo2-dev libpango1.0-dev
  libopenmpi-dev openmpi-bin libmecab-dev mecab-ipadic-utf8 python3-pandas python3-xarray socat"
# Tests that are also built with tensors of doubles: those of gradients and of the contracts of plugins. Meson runs them
# in this order, so the longest come first.
double_tests="contract tensor model plugin autograd layers"

# Options of builds for sanitizers. gcc takes three times as long at -O2, and reports need only line numbers.
sanitizer_options="-Doptimization=1 -Ddebug=true -Dc_args=-g1 -Dcpp_args=-g1"

# ccache keeps no objects that are compiled with a precompiled header.
case "${CC-}" in *ccache*) precompiled=false ;; *) precompiled=true ;; esac

# Tests that are built with ThreadSanitizer, and the test cases that use threads.
thread_tests="base autograd layers training"
thread_cases="pool.*:often.*threads*:tape.*threads*:bundles.*:exchange.*:update.*"

passed=0
failed=0
skipped=0

finish ()
{
  [ "$skipped" -gt 0 ] && tail=", $skipped skipped" || tail=
  printf '%d passed, %d failed%s\n' "$passed" "$failed" "$tail"
  [ "$failed" -eq 0 ]
  exit
}

# must COMMAND...: runs COMMAND. If it fails, counts that as one failed test and ends the script.
must ()
{
  "$@" && return
  say "failed: $*"
  failed=$((failed + 1))
  finish
}

# build NAME OPTION...: sets up build/NAME once and builds all of it. If $suites is set, builds only these tests and all
# modules. If $objects is set, compiles everything and links nothing.
objects=
suites=
build ()
{
  folder=build/$1
  targets=
  shift
  if [ ! -f "$folder/build.ninja" ]; then
    say "setting up $folder ($*)"
    rm -rf "$folder"
    meson setup "$folder" -Dprecompiled="$precompiled" "$@" > "$folder.log" 2>&1 || { cat "$folder.log"; return 1; }
  fi
  say "building $folder"
  for suite in $suites; do
    targets="$targets $(ninja -C "$folder" -t targets all | sed -n "s/^\(tests\/.*\/test-$suite\): .*/\1/p")"
  done
  if [ -n "$objects" ]; then
    targets=$(ninja -C "$folder" -t targets all | sed -nE 's/^(.*\.o): .*/\1/p')
  fi
  if [ -n "$suites" ]; then
    targets="$targets $(ninja -C "$folder" -t targets all | sed -nE 's/^((plugins|tests)\/.*\.(so|ini)): .*/\1/p')"
  fi
  # shellcheck disable=SC2086
  ninja -C "$folder" --quiet $targets
}

# run_tests NAME [TEST...]: runs the tests of build/NAME and adds up their cases. It runs one test more at a time than
# there are processors, because some tests wait.
run_tests ()
{
  folder=build/$1
  shift
  say "testing $folder${*:+ ($*)}"
  rm -rf "$folder/results"
  mkdir -p "$folder/results"
  GTEST_OUTPUT="xml:$root/$folder/results/" meson test -C "$folder" --no-rebuild --print-errorlogs \
    --timeout-multiplier 5 --num-processes $(($(nproc) + 1)) "$@"
  counts=$(python3 tests/count.py "$folder") || counts="0 1 0"
  read -r p f s <<< "$counts"
  say "$folder: $p passed, $f failed, $s skipped"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

mkdir -p build
# shellcheck disable=SC2086
must install_packages $build_packages $test_packages
[ "${1-}" != --clang ] || must install_packages clang
case "${1-}" in
  '')
    must build release --buildtype=release --werror
    run_tests release
    suites=$double_tests
    must build double --buildtype=release --werror -Dscalar=double
    # shellcheck disable=SC2086
    run_tests double $double_tests
    ;;
  --sanitize)
    # The tests fork thousands of small processes, so let each keep little freed memory and short stacks of allocations.
    export ASAN_OPTIONS=${ASAN_OPTIONS-allocator_may_return_null=1:handle_sigill=1:quarantine_size_mb=4:malloc_context_size=5}
    export LSAN_OPTIONS=${LSAN_OPTIONS-suppressions=$root/tests/leak.supp:print_suppressions=0}
    # shellcheck disable=SC2086
    must build sanitize $sanitizer_options -Db_sanitize=address,undefined
    run_tests sanitize --no-suite sources
    ;;
  --threads)
    export TSAN_OPTIONS=${TSAN_OPTIONS-halt_on_error=1:suppressions=$root/tests/thread.supp}
    export GTEST_FILTER=$thread_cases
    suites=$thread_tests
    # shellcheck disable=SC2086
    must build threads $sanitizer_options -Db_sanitize=thread -Db_lundef=false
    # shellcheck disable=SC2086
    run_tests threads $thread_tests
    ;;
  --clang)
    export CC=clang CXX=clang++
    # Only compile: that shows all warnings.
    objects=yes
    must build clang --werror -Doptimization=0
    passed=1
    ;;
  *)
    echo "usage: tests/run.sh [--sanitize | --threads | --clang]" >&2
    exit 2
    ;;
esac
finish
