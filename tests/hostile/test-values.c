/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "materials.h"

/* Tests of impossible numbers and names, and of sizes that exceed any machine. */

/* An option with a bad value, and parts of the error that it must cause. */
typedef struct
{
  const char *option;
  const char *parts;
} Refusal;

static void
refuse_all (const char *command, const Refusal *refusals, guint n)
{
  for (guint i = 0; i < n; i++)
    REFUSED (plait_test_format ("%s %s", command, refusals[i].option), refusals[i].parts);
}

#define REFUSE_ALL(command, refusals) refuse_all ((command), (refusals), G_N_ELEMENTS (refusals))

HOSTILE_CASE (hostile_value, settings)
{
  static const Refusal refusals[] = {
    { "--set decoder.width=0", "--set decoder.width=0: [decoder] width|1 to 16384" },
    { "--set decoder.width=-1", "--set decoder.width=-1: [decoder] width|1 to 16384" },
    { "--set decoder.width=16385", "[decoder] width|1 to 16384" },
    { "--set decoder.width=99999999999999999999999", "[decoder] width|1 to 16384" },
    { "--set decoder.width=1e3", "[decoder] width|is not an integer" },
    { "--set decoder.width=0x10", "[decoder] width|is not an integer" },
    { "--set decoder.width=", "[decoder] width|is not an integer" },
    { "--set decoder.width=7", "[decoder] heads|do not divide the width 7" },
    { "--set decoder.dropout=nan", "[decoder] dropout|is not a number" },
    { "--set decoder.dropout=-inf", "[decoder] dropout|is not a number" },
    { "--set decoder.dropout=1", "[decoder] dropout|0 to 0.95" },
    { "--set decoder.dropout=0,1", "[decoder] dropout|is not a number" },
    { "--set decoder.dropout=1e400", "[decoder] dropout" },
    { "--set decoder.norm=both", "[decoder] norm|pre|post" },
    { "--set decoder.tie_output=maybe", "[decoder] tie_output" },
    { "--set train.batch=0", "[train] batch|1 to 100000000" },
    { "--set train.epochs=0", "[train] epochs|would never end" },
    { "--set train.learning_rate=1e7", "[train] learning_rate|0 to 1000000" },
    { "--set train.metric=blue", "[train] metric|did you mean \"bleu\"?" },
    { "--set train.metric=bleu:tok=zzz", "[train] metric|13a" },
    { "--set train.best_by=metric", "[train] best_by|metric=bleu" },
    { "--set decode.beam=1001", "[decode] beam|1 to 1000" },
    { "--set decode.n_best=3", "[decode] n_best|raise beam" },
    { "--set decode.maximum_length=100001", "[decode] maximum_length|1 to 100000" },
    { "--set decode.minimum_length=9", "[decode] minimum_length|no translation is possible" },
    { "--set evaluate.metrics=", "[evaluate] metrics|is empty" },
    { "--set evaluate.metrics=;", "[evaluate] metrics" },
    { "--set evaluate.resamples=1000001", "[evaluate] resamples|0 to 1000000" },
    { "--set evaluate.length_bins=5;4", "[evaluate] length_bins|rising whole numbers" },
    { "--set evaluate.translation_rates=beam", "[evaluate] translation_rates|search|forced" },
    { "--set evaluate.translation_rate_under=3",
      "[evaluate] translation_rate_under|a word could count as over- and under-translated" },
    { "--set train.optimizer=adadelta --set train.schedule=noam", "[train] schedule|drop the key" },
    { "--set train.initialise=nowhere", "[train] initialise|does not exist|name the file of a finished run" },
    { "--set train.initialise=train.a", "train.a" },
    { "--set data.vocabulary_size=4", "[data] vocabulary_size|no room" },
    { "--set data.vocabulary_size=5 --set data.vocabulary_type=bpe", "[data] vocabulary_size|too few" },
    { "--set data.vocabulary_size=2000000 --set data.vocabulary_type=bpe", "[data] vocabulary_size|too many" },
    { "--set data.maximum_source_length=1", "train.a|no tuple of the train corpus is left|dropped 48 of 48" },
    { "--set data.maximum_target_length=1", "no tuple of the train corpus is left|change the limits or the data" },
    { "--set data.folder=/nowhere", "[data] train.a: there is no file /nowhere/train.a" },
    { "--set data.test.a=", "[data] test.a: the key names no file" },
    { "--set data.other.a=test.a", "\"other\" is not a split|begin with test" },
    { "--set data.test2.a=test.a", "there is no file for test2.b; add test2.b=FILE" },
    { "--set data.target=nothing", "there is no file for train.nothing|add train.nothing=FILE" },
    { "--set data.generate=nothing", "[data] generate" },
    { "--set experiment.seed=-1", "[experiment] seed|0 to 9223372036854775807" },
    { "--set experiment.seed=9223372036854775808", "[experiment] seed|is not an integer" },
    { "--set experiment.sources=+", "[experiment] sources" },
    { "--set experiment.sources=a+a", "[experiment] sources|twice" },
    { "--set experiment.sources=a+z", "[experiment] sources|there is no source \"z\"" },
    { "--set decoder.combiner=../../x", "[decoder] combiner|is not a valid name of a plugin" },
    { "--set decoder.combiner=serail", "[decoder] combiner|did you mean" },
    { "--set source.c.layers=1", "[source c]: encoder is missing" },
    { "--set source.a.encoder=features", "[source a]" },
    { "--set source.a.stream=zzz", "there is no file for train.zzz" },
    { "--set source.a.heads=3", "[source a]|heads" },
    { "--set nothing.at=all", "[nothing]: no such group" },
    { "--set nothing", "is not GROUP.KEY=VALUE" },
    { "--set =", "is not GROUP.KEY=VALUE" },
    { "--set .=.", "is not GROUP.KEY=VALUE" },
    { "--set ...=.", "is not GROUP.KEY=VALUE" },
    { "--set decoder.=1", "is not GROUP.KEY=VALUE" },
    { "--set .width=1", "is not GROUP.KEY=VALUE" },
    { "--set a.b.c.d.e=1", "no such group" },
    { "--threads -1", "--threads" },
    { "--threads 1.5", "--threads" },
    { "--threads 99999999999999", "--threads" },
  };

  REFUSE_ALL ("run text.ini -q -o new", refusals);
}

/* Before training, reports sentences that are longer than the learned positions. */
HOSTILE_CASE (hostile_value, learned_positions)
{
  static const Refusal refusals[] = {
    { "--set source.a.positions=learned --set source.a.position_limit=2",
      "the train corpus|train.a:1: with each word|[source a]: a sentence has|position_limit=2|raise position_limit" },
    { "--set decoder.positions=learned --set decoder.position_limit=5",
      "[decode] maximum_length|decoder.position_limit=5" },
    { "--set decoder.positions=learned --set decoder.position_limit=5 --set decode.maximum_length=5",
      "the train corpus|train.target:1: with each|[decoder]: a target "
      "has|position_limit=5|data.maximum_target_length" },
  };

  REFUSE_ALL ("run text.ini -q -o new", refusals);
  plait_test_write ("long", "a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a\n");
  DONE (ATTEMPT ("run text.ini -q -o learned.h5 --set source.a.positions=learned --set source.a.position_limit=20"));
  REFUSED ("translate learned.h5 -q -s a=long -s b=long", "[source a]: a sentence has 31 rows|position_limit=20");
}

HOSTILE_CASE (hostile_value, options_of_translate)
{
  static const Refusal refusals[] = {
    { "-s a=test.a -s b=test.b --beam 1001", "--beam|1 to 1000" },
    { "-s a=test.a -s b=test.b --beam -1", "--beam|1 to 1000" },
    { "-s a=test.a -s b=test.b --beam 2147483647", "--beam|1 to 1000" },
    { "-s a=test.a -s b=test.b --beam 99999999999", "--beam" },
    { "-s a=test.a -s b=test.b --beam x", "--beam" },
    { "-s a=test.a -s b=test.b --n-best 2147483647", "--n-best|1 to 1000" },
    { "-s a=test.a -s b=test.b --n-best 3 --beam 2", "--n-best 3|beam" },
    { "-s a=test.a -s b=test.b --set decode.batch=2147483647", "--set decode.batch=2147483647|batch" },
    { "-s a=test.a -s b=test.b --set decode.no_repeat_ngrams=-1", "no_repeat_ngrams" },
    { "-s a=test.a -s b=test.b --set decode.no_repeat_ngram=3", "no_repeat_ngrams" },
    { "-s a=test.a -s b=test.b --set decode.beam", "GROUP.KEY=VALUE" },
    { "-s a=test.a -s b=test.b --set decode.minimum_length=201", "minimum_length|no translation is possible" },
    { "-s a=test.a -s b=test.b --set decoder.layers=2",
      "--set decoder.layers=2|only data.empty, data.too_long and keys of [decode]," },
    { "-s a=test.a -s b=test.b --set evaluate.seed=2", "only data.empty, data.too_long and keys of [decode]," },
    { "-s a=test.a -s b=test.b --threads -5", "--threads" },
    { "-s a=test.a -s b=test.b --checkpoint nothing",
      "--checkpoint cannot be \"nothing\"|expected best, last, average or update-N" },
    { "-s a=test.a -s b=test.b --checkpoint ../best", "--checkpoint cannot be \"../best\"" },
    { "-s a=test.a -s b=test.b --checkpoint average", "text.h5|no checkpoint \"average\"" },
    { "-s a=test.a", "source \"b\" is not given|--without b" },
    { "-s a=test.a -s b=test.b --without b", "source \"b\" is both given and left out" },
    { "-s a=test.a -s c=test.b", "--source c=test.b|expected one of: a, b" },
    { "-s a=test.a -s a=test.b", "already given" },
    { "-s a -s b=test.b", "--source a: expected NAME=FILE" },
    { "-s a= -s b=test.b", "--source a=: expected NAME=FILE" },
    { "-s =test.a -s b=test.b", "--source =test.a" },
    { "-s a=- -s b=-", "standard input cannot be both a and b" },
    { "--without a --without b", "every source is missing" },
    { "--without z", "--without z|a, b" },
    { "-s a=test.a -s b=test.b more", "more: cannot be opened|a file that plait wrote" },
  };

  REFUSE_ALL ("translate text.h5 -q", refusals);
  plait_test_write ("three", "a\na\na\n");
  PlaitTestCall attempt = DONE (ATTEMPT ("translate text.h5 -s a=three -s b=three -o new --set decode.batch=2"));
  CHECK_CONTAINS (attempt.errors, "2 sentences so far\n");
  CHECK_CONTAINS (attempt.errors, "new: 3 sentences\n");
  plait_test_remove ("new");
}

HOSTILE_CASE (hostile_value, options_of_other_commands)
{
  static const struct
  {
    const char *command;
    const char *parts;
  } calls[] = {
    { "score text.h5 -q -s a=test.a -s b=test.b", "--target" },
    { "score text.h5 -q -s a=- -s b=test.b --target -", "standard input cannot be both a and target" },
    { "score text.h5 -q -s a=test.a -s b=test.b --target test.target -t -1", "--threads" },
    { "score text.h5 test.a -q -s a=test.a -s b=test.b --target test.target", "test.a" },
    { "score text.h5 text.h5 -q -s a=test.a -s b=test.b --target test.target --weights 1;1e999", "1e999" },
    { "score text.h5 text.h5 -q -s a=test.a -s b=test.b --target test.target --weights ;", "\"\" is not a positive" },
    { "average text.h5 -q -o new", "at least two" },
    { "average text.h5 text.h5:update-99999999999999999999 -q -o new", "no checkpoint has the name" },
    { "average text.h5 text.h5:update-9 -q -o new", "there is no checkpoint \"update-9\"" },
    { "average text.h5 text.h5:last/optimizer -q -o new", "no checkpoint has the name" },
    { "average text.h5 test.a -q -o new", "test.a" },
    { "average text.h5 text.h5 -q -o .", "." },
    { "evaluate -q -r test.target -i test.target --resamples 99999999999", "--resamples" },
    { "evaluate -q -r test.target -i test.target --resamples -1", "--resamples" },
    { "evaluate -q -r test.target -i test.target --trials 0", "--trials" },
    { "evaluate -q -r test.target -i test.target --seed -1", "--seed" },
    { "evaluate -q -r test.target -i test.target -m bleu:tok=x", "13a" },
    { "evaluate -q -r test.target -i test.target -m ;", "metric" },
    { "evaluate -q -r test.target -i train.target", "train.target: has 48 lines|test.target has 6" },
    { "evaluate -q -i train.target", "--reference" },
    { "evaluate -q -r test.target -i test.target --bins 3", "--source" },
    { "evaluate -q -r test.target -i test.target --source test.a --bins 3;x", "--bins|rising whole numbers" },
    { "evaluate -q -r test.target -i test.target --source train.a", "train.a: has 48 lines" },
    { "adversarial text.h5 -q --split nothing", "no split \"nothing\"" },
    { "adversarial text.h5 -q --seed -1", "--seed" },
    { "compare text.h5 -q --trials 2147483648", "--trials" },
    { "compare text.h5 -q --test x", "--test" },
    { "report text.h5 -q", "--output" },
    { "report text.h5 -q -o new --sentences 1001", "--sentences|1000" },
    { "show text.h5 /nothing", "text.h5: there is no /nothing" },
    { "show text.h5 /../../etc", "text.h5|is not a valid path" },
    { "show text.h5 /@nothing", "text.h5|no attribute 'nothing'" },
    { "show text.h5 /attention/test/0 --layer 7", "text.h5|no layer 7" },
    { "show text.h5 /attention/test/0 --head 99999999999", "text.h5|no head" },
    { "show text.h5 /attention/test/0 --head -1", "head" },
    { "generate agreement -q -o new -s train=0", "train" },
    { "generate agreement -q -o new -s train=99999999999", "train" },
    { "generate agreement -q -o new -s seed=x", "seed" },
    { "generate agreement -q -o test.a", "test.a: exists, but is not a folder" },
    { "vocabulary -q -o new --size 9999999999 train.a", "--size" },
    { "vocabulary -q -o new --size 5 train.a", "5" },
    { "vocabulary -q -o new --type words --size 3 train.a", "3" },
    { "vocabulary -q -o new --coverage nan train.a", "--coverage" },
    { "vocabulary -q -o new --size 8000 test.a", "test.a|8000" },
    { "grid text.ini -q -o new", "[grid]" },
    { "grid grid.ini -q -o new --jobs -1", "--jobs" },
    { "grid grid.ini -q -o new --jobs 99999999", "--jobs" },
    { "grid grid.ini -q -o test.a", "test.a" },
    { "grid grid.ini -q -o new --set decoder.combiner=flat --set grid.decoder.width=0", "width" },
    { "inspect ../serial", "../serial" },
    { "check ../serial", "../serial" },
    { "check serial --seconds 0", "--seconds" },
    { "check serial --property nothing", "nothing" },
    { "plait-bench train text.ini -q --steps 0", "--steps" },
    { "plait-bench train huge.ini -q", "huge" },
    { "plait-bench train text.ini -q --data test.a", "test.a:1" },
    { "plait-bench train text.ini -q --data /dev/zero", "/dev/zero" },
    { "plait-bench train text.ini -q --data missing", "missing" },
    { "plait-bench train text.ini -q --set bench.mean_length=nan", "mean_length" },
    { "plait-bench train text.ini -q --set train.batch=100000000", "train.batch=100000000" },
    { "nothing", "there is no command" },
    { "run", "an argument is missing" },
    { "run text.ini text.ini", "too many" },
    { "run --nothing", "--nothing" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    REFUSED (calls[i].command, calls[i].parts);
}

/* Failing allocations report the lack of memory; the system does not kill the process. */
HOSTILE_CASE (hostile_value, more_memory_than_there_is)
{
  static const char keys[] = "decoder.width|decoder.layers|data.vocabulary_size";

  attempt_refused_with ("run text.ini -q -o new --set decoder.width=16384 --set decoder.layers=64", NULL, 1, keys);
  attempt_refused_with ("run text.ini --dry-run -o new --set decoder.width=16384 --set decoder.layers=64", NULL, 1,
                        keys);
  attempt_refused_with ("plait-bench train text.ini -q --set decoder.width=16384 --set decoder.layers=64", NULL, 1,
                        keys);
  attempt_refused_with (
      "plait-bench steps text.ini -q --set experiment.sources=a --lengths 10000000 --set decoder.width=16384", NULL, 1,
      "memory");
  attempt_refused_with (
      "plait-bench train image.ini -q --set bench.feature_rows=100000 --set bench.feature_width=131072", NULL, 1,
      "memory");
  attempt_refused_with ("run text.ini -q -o new --set train.memory=1 --set decoder.feed_forward=2048", NULL, 1,
                        "a batch of|MiB|lower train.batch");
#ifndef __SANITIZE_ADDRESS__
  PlaitTestCallSettings limits = { .memory = (guint64)1 << 30 };
  attempt_refused_with ("run text.ini -q -o new --set decoder.width=2048 --set decoder.feed_forward=16384", &limits, 1,
                        "memory");
#endif
}
