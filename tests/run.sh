#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Builds plait and runs all of its tests.
#
#   tests/run.sh              release build with -Werror and the whole suite; then the suites of operators and
#                             plugins once more with tensors of doubles
#   tests/run.sh --sanitize   the suite without tests/sources with AddressSanitizer and UndefinedBehaviorSanitizer
#                             instead, built by clang with warnings as errors
#   tests/run.sh --threads    the tests of thread pools and shards with ThreadSanitizer instead
#   tests/run.sh --all        all of these
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

# The sanitizers' options. The tests fork thousands of small processes, so each keeps little freed memory and short stacks
# of allocations.
export ASAN_OPTIONS=${ASAN_OPTIONS-allocator_may_return_null=1:handle_sigill=1:quarantine_size_mb=4:malloc_context_size=5}
export LSAN_OPTIONS=${LSAN_OPTIONS-suppressions=$root/tests/leak.supp:print_suppressions=0}
export TSAN_OPTIONS=${TSAN_OPTIONS-halt_on_error=1:suppressions=$root/tests/thread.supp}

# Options of all builds. ccache keeps no objects that are compiled with a precompiled header. gold links four times as
# fast as ld.
case "${CC-}" in *ccache*) options=-Dprecompiled=false ;; *) options=-Dprecompiled=true ;; esac
[ -z "$(command -v ld.gold)" ] || options="$options -Dc_link_args=-fuse-ld=gold -Dcpp_link_args=-fuse-ld=gold"

# Options of builds for sanitizers. Compilers take three times as long at -O2, and reports need only line numbers.
sanitizer_options="-Doptimization=1 -Ddebug=true -Dc_args=-g1 -Dcpp_args=-g1"

# Tests that are also built with tensors of doubles: those of gradients and of the contracts of plugins. Meson runs them
# in this order, so the longest come first. Which property a faulty plugin fails does not depend on the type.
double_tests="contract tensor model plugin autograd layers"
double_cases="-contract*faults.*"

# Test cases that the sanitizers leave out: they run Chromium, Python and shells for longer than plait.
sanitize_cases="-report.is_clicked_through:python.*:export_command.*ctranslate2*:reference.*completes*"

# Tests that are built with ThreadSanitizer, and the test cases that use threads.
thread_tests="base autograd layers training"
thread_cases="pool.*:weight_reuse.*threads*:tape.*threads*:bundles.*:all_reduce.*:update.*"

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

# build PART: sets up build/PART once, and builds what the tests of PART need.
# shellcheck disable=SC2046,SC2086
build ()
{
  folder=build/$1
  compiler=
  targets=all # extended regular expression
  modules='(plugins|tests)/.*\.(so|ini)'
  case $1 in
    release) set -- --buildtype=release --werror ;;
    double)
      set -- -Doptimization=1 --werror -Dscalar=double
      targets="tests/.*/test-(${double_tests// /|})|$modules"
      ;;
    sanitize)
      # The other parts show the warnings of gcc. Programs that clang sanitizes take two thirds of the time. gold warns
      # of each symbol of clang's sanitizers that it does not export.
      compiler="env CC=clang CXX=clang++"
      set -- --werror $sanitizer_options -Db_sanitize=address,undefined -Db_lundef=false \
        -Dc_link_args=-fuse-ld=lld -Dcpp_link_args=-fuse-ld=lld
      ;;
    threads)
      set -- $sanitizer_options -Db_sanitize=thread -Db_lundef=false -Dx86_kernels=false
      targets="tests/.*/test-(${thread_tests// /|})|$modules"
      ;;
  esac
  if [ ! -f "$folder/build.ninja" ]; then
    say "setting up $folder ($*)"
    rm -rf "$folder"
    $compiler meson setup "$folder" $options "$@" > "$folder.log" 2>&1 || { cat "$folder.log"; return 1; }
  fi
  say "building $folder"
  ninja -C "$folder" --quiet $(ninja -C "$folder" -t targets all | sed -nE "s,^($targets): .*,\1,p")
}

# run_tests PART: runs the tests of build/PART and adds up their cases. One test more than there are processors runs at
# a time, because some tests wait.
# shellcheck disable=SC2086
run_tests ()
{
  folder=build/$1
  cases=${GTEST_FILTER-*}
  case $1 in
    release) set -- ;;
    double) set -- $double_tests; cases=$double_cases ;;
    sanitize) set -- --no-suite sources; cases=$sanitize_cases ;;
    threads) set -- $thread_tests; cases=$thread_cases ;;
  esac
  say "testing $folder${*:+ ($*)}"
  rm -rf "$folder/results"
  mkdir -p "$folder/results"
  GTEST_FILTER=$cases GTEST_OUTPUT="xml:$root/$folder/results/" meson test -C "$folder" --no-rebuild --print-errorlogs \
    --timeout-multiplier 5 --num-processes $(($(nproc) + 1)) "$@"
  counts=$(python3 tests/count.py "$folder") || counts="0 1 0"
  read -r p f s <<< "$counts"
  say "$folder: $p passed, $f failed, $s skipped"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# build_ahead PART...: builds the parts at the lowest priority, and writes the exit code of each to $status/PART.
build_ahead ()
{
  renice -n 19 "$BASHPID" > /dev/null
  for part in "$@"; do
    build "$part"
    echo $? > "$status/$part"
  done
}

case "${1-}" in
  '') parts="release double" ;;
  --sanitize | --threads) parts=${1#--} ;;
  --all) parts="release double sanitize threads" ;;
  *)
    echo "usage: tests/run.sh [--sanitize | --threads | --all]" >&2
    exit 2
    ;;
esac
case $parts in *sanitize*) test_packages="$test_packages clang libclang-rt-dev lld" ;; esac

first=${parts%% *}
mkdir -p build
# shellcheck disable=SC2086,SC2154
if ! install_packages $build_packages $test_packages || ! build "$first"; then
  say "failed: the packages or the build"
  failed=1
  finish
fi
# Tests leave processors idle now and then: build the other parts meanwhile, in a process group that can be killed.
status=$(mktemp -d)
echo 0 > "$status/$first"
set -m
# shellcheck disable=SC2086
build_ahead ${parts#"$first"} &
ahead=$!
set +m
trap 'kill -- -$ahead 2> /dev/null; rm -rf "$status"' EXIT
for part in $parts; do
  while [ ! -s "$status/$part" ]; do
    sleep .2
  done
  if [ "$(cat "$status/$part")" -eq 0 ]; then
    run_tests "$part"
  else
    say "failed: the build of $part"
    failed=$((failed + 1))
  fi
done
finish
