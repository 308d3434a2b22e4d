/* SPDX-License-Identifier: MIT */
#include "experiment/groups.h"
#include "harness.h"

#include <string.h>

/* All defaults of the core, except those of [bench] and of settings that cannot change results. Fingerprints leave out
 * settings that have their defaults, so after a change of a default, another experiment would have the fingerprint of
 * an old run. If you change a default, change the line here and increase DEFAULTS in core/workbench/experiment/text.c.
 * A new setting needs only a line here. */

static const char *const defaults[] = {
  "experiment.seed=1",
  "experiment.sources=",
  "data.share=1",
  "data.weights=",
  "data.subword_sampling=0",
  "data.vocabulary=shared",
  "data.vocabulary_type=bpe",
  "data.vocabulary_size=8000",
  "data.vocabulary_minimum_count=1",
  "data.vocabulary_character_coverage=1",
  "data.vocabulary_normalisation=identity",
  "data.vocabulary_byte_fallback=false",
  "data.vocabulary_sentences=0",
  "data.append_end=true",
  "data.maximum_source_length=0",
  "data.maximum_target_length=0",
  "data.documents=",
  "data.documents_by_line=",
  "data.document_starts=all",
  "data.document_roles=0",
  "data.document_length=0",
  "data.document_cut=chunks",
  "data.empty=error",
  "data.too_long=error",
  "data.trees=given",
  "data.binarisation=head",
  "data.head_rules=english",
  "data.no_tree=leaves",
  "data.generate=",
  "source.leaves=",
  "source.stream=",
  "source.dataset=/features",
  "source.factors=none",
  "source.factor_join=sum",
  "source.factor_widths=",
  "source.factor_vocabulary_size=0",
  "source.tags=none",
  "source.tag_weights=1",
  "predict.kind=sequence",
  "predict.unknown_labels=error",
  "predict.row=first",
  "predict.memories=",
  "predict.longest_answer=30",
  "predict.mask_rate=0.15",
  "predict.mask_share=0.8",
  "predict.random_share=0.1",
  "decoder.type=transformer",
  "decoder.combiner=serial",
  "decoder.coverage=none",
  "decoder.coverage_heads=mean",
  "decoder.width=512",
  "decoder.heads=8",
  "decoder.norm=pre",
  "decoder.norm_epsilon=1e-06",
  "decoder.dropout=0.1",
  "decoder.attention_dropout=0.1",
  "decoder.attention_bias=false",
  "decoder.start=bos",
  "decoder.roles=none",
  "decoder.scale_embeddings=true",
  "decoder.share_embeddings=true",
  "decoder.tie_output=true",
  "decoder.output=softmax",
  "decoder.output_bias=false",
  "train.batch=64",
  "train.batch_unit=sentences",
  "train.window=1",
  "train.accumulate=1",
  "train.shards=1",
  "train.precision=float",
  "train.source_dropout=0",
  "train.epochs=10",
  "train.updates=0",
  "train.optimizer=adam",
  "train.learning_rate=0.2",
  "train.schedule=noam",
  "train.minimum_rate=0",
  "train.restart_every=1000",
  "train.restart_growth=1",
  "train.plateau_factor=0.5",
  "train.plateau_patience=2",
  "train.rates=",
  "train.warm_up=4000",
  "train.beta1=0.9",
  "train.beta2=0.98",
  "train.epsilon=1e-09",
  "train.epsilon_place=corrected",
  "train.rho=0.95",
  "train.adadelta_epsilon=1e-06",
  "train.weight_decay=0",
  "train.clip=1",
  "train.smoothing=0.1",
  "train.smoothing_over=all",
  "train.loss_per=token",
  "train.validate_every=0",
  "train.validation_batch=64",
  "train.best_by=loss",
  "train.metric=",
  "train.initial_values=glorot",
  "train.initialise=",
  "train.initialise_take=",
  "train.initialise_leave=",
  "train.initialise_checkpoint=best",
  "train.initialise_state=parameters",
  "train.initialise_vocabulary=taken",
  "train.initialise_map=",
  "train.initialise_positions=fresh",
  "train.alignment_weight=0.05",
  "train.alignment_attention=last",
  "train.alignment_name=",
  "train.patience=0",
  "train.average=0",
  "decode.method=beam",
  "decode.beam=5",
  "decode.n_best=1",
  "decode.temperature=1",
  "decode.top_k=0",
  "decode.nucleus=1",
  "decode.seed=1",
  "decode.groups=1",
  "decode.diversity=0.5",
  "decode.length_normalisation=wu",
  "decode.alpha=1",
  "decode.word_reward=0",
  "decode.ranking=partial",
  "decode.finished=compete",
  "decode.no_repeat_ngrams=0",
  "decode.unknown=keep",
  "decode.dictionary=",
  "decode.minimum_length=1",
  "decode.maximum_length=200",
  "decode.maximum_ratio=3",
  "decode.maximum_offset=10",
  "decode.at_limit=cut",
  "decode.batch=32",
  "decode.precision=float",
  "evaluate.metrics=bleu;chrf",
  "evaluate.join=none",
  "evaluate.checkpoint=best",
  "evaluate.resamples=1000",
  "evaluate.seed=12345",
  "evaluate.attention=2",
  "evaluate.alignment_attention=last",
  "evaluate.smaller_is_better=",
  "evaluate.length_bins=",
  "evaluate.translation_rates=",
  "evaluate.translation_rate_over=1.5",
  "evaluate.translation_rate_under=0.2",
  "evaluate.translation_rate_layers=mean",
  NULL,
};

TEST_CASE (defaults, are_of_settings_that_make_sense)
{
  for (const PlaitSettingGroup *const *group = plait_experiment_groups (); *group; group++)
    for (guint i = 0; i < (*group)->n_definitions; i++)
      {
        CONTEXT ("%s.%s", (*group)->name, (*group)->definitions[i].specification.name);

        CHECK (plait_setting_check (&(*group)->definitions[i].specification, NO_ERROR));
      }
}

TEST_CASE (defaults, are_listed_once)
{
  g_autoptr (GHashTable) keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (const char *const *line = defaults; *line; line++)
    {
      CONTEXT ("%s", *line);

      CHECK (g_hash_table_add (keys, g_strndup (*line, strcspn (*line, "="))));
    }
}

TEST_CASE (defaults, are_what_keys_of_runs_leave_out)
{
  for (const PlaitSettingGroup *const *group = plait_experiment_groups (); *group; group++)
    for (guint i = 0; *group != &plait_bench_group && i < (*group)->n_definitions; i++)
      {
        const PlaitSettingSpecification *setting = &(*group)->definitions[i].specification;
        g_autofree char *line = g_strdup_printf ("%s.%s=%s", (*group)->name, setting->name, setting->standard);
        g_autofree char *canonical
            = setting->standard ? plait_setting_parse (setting, setting->standard, NULL, NULL) : NULL;

        if (!setting->standard || (setting->flags & PLAIT_SETTING_NEUTRAL) != 0)
          continue;
        CONTEXT ("%s", line);
        CHECK (g_strv_contains (defaults, line));
        CHECK_STRING (setting->standard, canonical); /* defaults are compared with values as text */
      }
}
