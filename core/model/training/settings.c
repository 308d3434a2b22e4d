/* SPDX-License-Identifier: MIT */
#include "training/settings.h"

#include <math.h>

static const PlaitSettingDefinition definitions[] = {
  PLAIT_DEFINE_INTEGER (PlaitTrainSettings, batch, "64", "1", "100000000", "Size of a batch, in batch_unit"),
  PLAIT_DEFINE_CHOICE (PlaitTrainSettings, batch_unit, "sentences", "sentences;tokens",
                       "What a batch counts: sentence tuples, or tokens of all texts, nothing padded"),
  PLAIT_DEFINE_INTEGER (PlaitTrainSettings, window, "1", "1", "1000000000",
                        "Tuples that are sorted by length together before batches are cut (bucketing); 1: batches are "
                        "random, which nothing is padded for and which trains better"),
  PLAIT_DEFINE_INTEGER (PlaitTrainSettings, accumulate, "1", "1", "10000",
                        "Batches of an update; the last update of an epoch has those that are left"),
  PLAIT_DEFINE_INTEGER (PlaitTrainSettings, shards, "1", "1", "64",
                        "Shards of a batch, each computed apart by its share of the threads; the numbers depend on it, "
                        "and not on the threads"),
  PLAIT_DEFINE_CHOICE (PlaitTrainSettings, precision, "float", "float;bfloat16;bfloat16_emulated",
                       "bfloat16: forward and backward multiply by weights in bfloat16 and sum in float; weights, "
                       "optimizer, attention, norms, softmax and validation stay float. Needs AVX512-BF16; "
                       "bfloat16_emulated comes to the same numbers slowly on other processors"),
  PLAIT_DEFINE_REAL (PlaitTrainSettings, source_dropout, "0", "0", "1",
                     "Source dropout: probability that a source of a sentence is absent while it is trained on, drawn "
                     "anew in each epoch; where all would be, one of them stays, drawn at random",
                     "Neverova et al. 2016, ModDrop"),
  PLAIT_DEFINE_INTEGER (PlaitTrainSettings, epochs, "10", "0", "1000000", "Passes over the corpus; 0: no limit"),
  PLAIT_DEFINE_INTEGER (PlaitTrainSettings, updates, "0", "0", "1000000000",
                        "Updates; with epochs the earlier end counts; 0: no limit"),
  PLAIT_DEFINE_CHOICE (
      PlaitTrainSettings, optimizer, "adam", "adam;adadelta",
      "Optimizer; with adadelta learning_rate is 1, schedule constant and warm_up 0 unless they are given",
      "Kingma & Ba 2014; Zeiler 2012"),
  PLAIT_DEFINE_REAL (
      PlaitTrainSettings, learning_rate, "0.2", "0", "1000000",
      "Factor of the schedule; of the others than noam the highest rate, which an update of adadelta is multiplied by",
      "section 4"),
  PLAIT_DEFINE_CHOICE (PlaitTrainSettings, schedule, "noam", "noam;inverse_square_root;linear;constant",
                       "How the rate goes on: rising over warm_up updates, then falling with the root of the step "
                       "(noam: times the root of the width), or linearly to zero at the last update",
                       "Vaswani et al. 2017, 5.3"),
  PLAIT_DEFINE_INTEGER (PlaitTrainSettings, warm_up, "4000", "0", "100000000", "Updates while the rate rises",
                        "section 4"),
  PLAIT_DEFINE_REAL (PlaitTrainSettings, beta1, "0.9", "0", "0.999999", "Adam: decay of the first moment", "section 4"),
  PLAIT_DEFINE_REAL (PlaitTrainSettings, beta2, "0.98", "0", "0.9999999", "Adam: decay of the second moment",
                     "section 4"),
  PLAIT_DEFINE_REAL (PlaitTrainSettings, epsilon, "1e-09", "0", "1", "Adam: epsilon", "section 4"),
  PLAIT_DEFINE_CHOICE (PlaitTrainSettings, epsilon_place, "corrected", "corrected;uncorrected",
                       "Adam: add epsilon to the root of the second moment after its bias correction (the paper, "
                       "torch) or before (fairseq, TensorFlow)"),
  PLAIT_DEFINE_REAL (PlaitTrainSettings, rho, "0.95", "0", "0.9999999",
                     "Adadelta: decay of the mean squares of gradients and of updates", "Zeiler 2012"),
  PLAIT_DEFINE_REAL (
      PlaitTrainSettings, adadelta_epsilon, "1e-06", "1e-30", "1",
      "Adadelta: epsilon, under both roots; the first updates are of the size sqrt (epsilon / (1 - rho))",
      "Zeiler 2012"),
  PLAIT_DEFINE_REAL (PlaitTrainSettings, weight_decay, "0", "0", "1", "Decoupled weight decay"),
  PLAIT_DEFINE_REAL (PlaitTrainSettings, clip, "1", "0", "1000000",
                     "Highest norm of all gradients together; 0: no clipping"),
  PLAIT_DEFINE_REAL (PlaitTrainSettings, smoothing, "0.1", "0", "0.9", "Label smoothing", "Szegedy et al. 2016"),
  PLAIT_DEFINE_CHOICE (PlaitTrainSettings, smoothing_over, "all", "all;others",
                       "Spread smoothing over all words (torch) or over the others than the target (fairseq)"),
  PLAIT_DEFINE_CHOICE (PlaitTrainSettings, loss_per, "token", "token;sentence",
                       "What the loss of an update is a mean over"),
  PLAIT_DEFINE_INTEGER (PlaitTrainSettings, validate_every, "0", "0", "1000000000",
                        "Updates between validations; 0: after each epoch"),
  PLAIT_DEFINE_INTEGER (PlaitTrainSettings, validation_batch, "64", "1", "100000", "Sentences of a validation batch"),
  PLAIT_DEFINE_CHOICE (PlaitTrainSettings, best_by, "loss", "loss;metric",
                       "What makes a checkpoint the best: validation loss, or metric"),
  PLAIT_DEFINE_TEXT (PlaitTrainSettings, metric, "", "Metric of translated validation text, such as bleu; empty: none"),
  PLAIT_DEFINE_CHOICE (
      PlaitTrainSettings, initial_values, "glorot", "glorot;dl4mt",
      "What weights begin with: uniform values by the sum of their widths and normal embeddings, or orthogonal "
      "matrices where they are square and else, embeddings too, normal values of standard deviation 0.01",
      "Glorot & Bengio 2010; dl4mt"),
  PLAIT_DEFINE_PLACE (PlaitTrainSettings, initialise, "",
                      "Run, or weights (NAME.safetensors, or NAME.safetensors.index.json of several files), whose "
                      "parameters training begins with, relative to the experiment file, after --set to the current "
                      "folder; empty: none. Taken are those of the same name and shape, and into more learned "
                      "positions those that are there; embeddings and output only if the vocabulary is the same"),
  PLAIT_DEFINE_LIST (PlaitTrainSettings, initialise_take, "", NULL,
                     "Globs (* and ?) over names of parameters that are taken from it; empty: all"),
  PLAIT_DEFINE_LIST (PlaitTrainSettings, initialise_leave, "", NULL,
                     "Globs over names of parameters that are not taken, and of published tensors that the model does "
                     "without; decoder/* begins the decoder anew and keeps embeddings and encoders",
                     "Chen et al. 2017"),
  PLAIT_DEFINE_CHOICE (PlaitTrainSettings, initialise_checkpoint, "best", "best;last;average",
                       "Checkpoint that is taken; best is the last one where the run was not validated"),
  PLAIT_DEFINE_CHOICE (PlaitTrainSettings, initialise_state, "parameters", "parameters;optimizer",
                       "What is taken of that run: parameters alone, or with those of its last checkpoint the moments "
                       "of its optimizer, and its place in the schedule, which goes on from there"),
  PLAIT_DEFINE_CHOICE (PlaitTrainSettings, initialise_vocabulary, "taken", "taken;learnt",
                       "Vocabularies that data.vocabulary.NAME does not name: those of that run, so that its "
                       "embeddings fit, or learnt from the training text, which begins embeddings anew"),
  PLAIT_DEFINE_TEXT (
      PlaitTrainSettings, initialise_map, "",
      "Of published weights in safetensors: name of the map of their tensors to parameters, a file weights/NAME.ini in "
      "a plugin folder, such as bart, marian or roberta; empty: the names are plait's own"),
  PLAIT_DEFINE_CHOICE (
      PlaitTrainSettings, initialise_positions, "fresh", "fresh;copied",
      "Learned positions beyond those that are taken: random, or those that are taken once more from the first on",
      "Beltagy et al. 2020"),
  PLAIT_DEFINE_INTEGER (PlaitTrainSettings, patience, "0", "0", "1000000",
                        "Validations without a better one that end training; 0: never"),
  PLAIT_DEFINE_INTEGER (PlaitTrainSettings, average, "0", "0", "100",
                        "Checkpoint average over the parameters at this many last validations; 0: none"),
  PLAIT_DEFINE_NEUTRAL_INTEGER (PlaitTrainSettings, checkpoint_every, "0", "0", "1000000000",
                                "Updates between checkpoints beside those at validations; 0: none"),
  PLAIT_DEFINE_NEUTRAL_INTEGER (PlaitTrainSettings, log_every, "100", "1", "1000000000",
                                "Updates between rows of the training table"),
  PLAIT_DEFINE_NEUTRAL_INTEGER (PlaitTrainSettings, memory, "0", "0", "100000000",
                                "Most MiB that a step may take beside parameters; 0: no limit but the machine's"),
  PLAIT_DEFINE_NEUTRAL_CHOICE (
      PlaitTrainSettings, recompute, "off", "off;layers",
      "layers: of Transformer layers a step keeps no more than what each gives, and backward computes them once more, "
      "for less memory and about a quarter more time; the numbers are the same"),
};

const PlaitSettingGroup plait_train_group = PLAIT_SETTING_GROUP ("train", "Training", PlaitTrainSettings, definitions);

PlaitPrecision
plait_train_precision (const PlaitTrainSettings *settings)
{
  static const PlaitPrecision precisions[] = {
    [PLAIT_TRAIN_FLOAT] = PLAIT_PRECISION_FLOAT,
    [PLAIT_TRAIN_BFLOAT16] = PLAIT_PRECISION_BFLOAT16,
    [PLAIT_TRAIN_BFLOAT16_EMULATED] = PLAIT_PRECISION_BFLOAT16_EMULATED,
  };

  return precisions[settings->precision];
}

double
plait_learning_rate (const PlaitTrainSettings *settings, gint64 step, gint64 width, gint64 updates)
{
  double t = (double)step;
  double warm_up = (double)settings->warm_up;
  double rising = warm_up > 0 ? t / warm_up : 1;

  if (step <= 0)
    return 0;
  switch (settings->schedule)
    {
    case PLAIT_SCHEDULE_NOAM:
      if (warm_up <= 0)
        return settings->learning_rate / sqrt ((double)width * t);
      return settings->learning_rate / sqrt ((double)width) * MIN (1 / sqrt (t), t * pow (warm_up, -1.5));
    case PLAIT_SCHEDULE_INVERSE_SQUARE_ROOT:
      return settings->learning_rate * MIN (rising, sqrt (MAX (warm_up, 1) / t));
    case PLAIT_SCHEDULE_LINEAR:
      if (t <= warm_up)
        return settings->learning_rate * rising;
      return settings->learning_rate * MAX (0, (double)updates - t) / MAX (1, (double)updates - warm_up);
    default:
      return settings->learning_rate * MIN (rising, 1);
    }
}
