/* SPDX-License-Identifier: MIT */
#include "files/lock.h"
#include "command/command.h"

const PlaitCommand plait_commands[] = {
  { "run",
    "FILE [--set G.K=V]... [--output RUN.h5] [--resume] [--force] [--threads N] [--dry-run] [--json] [--log FILE] "
    "[--tensorboard FOLDER]",
    "Train and evaluate an experiment into one HDF5 file, and print its scores",
    "While it runs, RUN.h5" PLAIT_LOCK_ENDING
    " beside the file tells who writes it, and keeps a second run out. --log and --tensorboard tell other programs of "
    "training as it goes on, by the names of the columns of /training/updates and /training/validation.\n"
    "\n"
    "Started by mpirun, several processes train one model: each has some of the train.shards of a batch, and the "
    "result has the bits of one process with as many shards. The first process writes; all must have the same plait "
    "and data.\n"
    "\n"
    "Examples:\n"
    "  plait run experiments/quickstart.ini\n"
    "  mpirun -n 4 plait run experiments/quickstart.ini --set train.shards=4 --threads 2\n"
    "  plait run experiments/quickstart.ini --set decoder.combiner=flat --output flat.h5",
    plait_command_run },
  { "grid",
    "FILE [--set G.K=V]... [--output FOLDER] [--executor local|slurm] [--jobs N] [--threads N] [--time TIME] "
    "[--retries N] [--log FOLDER] [--tensorboard FOLDER] [--fresh] [--dry-run|--commands|--cell CELL...|--collect] "
    "[--json]",
    "Run all cells of an experiment's [grid] and make a table of them",
    "A cell that is finished is not run again unless its settings, data or plugins have changed; one that was "
    "interrupted goes on. So the same command, given again, does what is left. --dry-run tells how long that takes, by "
    "the cells that are finished, and measures the speed of those that none of these is like but for its seed, for a "
    "few seconds each and about a minute in all.\n"
    "\n"
    "With match=parameters and match.vary=decoder.feed_forward in [grid], the widths named are solved for in each "
    "cell, so that all have as many parameters as the first; --dry-run shows them.\n"
    "\n"
    "zip=source.en.layers & source.de.layers in [grid] lets axes vary together, and "
    "only.combiner.heads=decoder.combiner=flat makes an axis one only of cells that meet the condition.\n"
    "\n"
    "Cells that would learn different vocabularies for a stream learn one, from the training text of all of them: "
    "--dry-run shows it. vocabularies=own in [grid] has each cell learn from the text that it reads itself. Cells "
    "whose settings and files say the same are one.\n"
    "\n"
    "--log and --tensorboard tell other programs of training as it goes on, as those of plait run do: a file and a "
    "folder for each cell that is trained, called as its file is.\n"
    "\n"
    "--executor slurm hands the cells to Slurm as job arrays, and the table to a job that begins when they have ended. "
    "For other schedulers --commands prints a shell line for each cell; the lines may run at once, on all machines "
    "that see the folder, and --collect then makes the table. Cells that are trained the same are one line. Keys of "
    "[grid] say the same as the options: executor, executor.jobs, executor.threads, executor.time, executor.retries; "
    "and for Slurm executor.memory=4G, which like executor.time may be measured: before the cells are submitted, as "
    "with --dry-run, and asked for with room to spare; and executor.options=--partition=cpu;--account=mt.\n"
    "\n"
    "Examples:\n"
    "  plait grid experiments/quickstart.ini --dry-run\n"
    "  plait grid experiments/quickstart.ini --output quickstart\n"
    "  plait grid experiments/quickstart.ini --executor slurm --time 2h\n"
    "  plait grid experiments/quickstart.ini --commands | parallel",
    plait_command_grid },
  { "test", "RUN.h5|grid.h5 [--set G.K=V]... [--checkpoint best|last|average] [--as NAME] [--json]",
    "Evaluate a finished run otherwise, or all runs of a grid, into their files",
    "What was trained stays as it is, to the bit. A split that was evaluated under the same settings already is not "
    "evaluated again; a grid's table is made anew. Without --as the run is from then on one of these settings, and "
    "plait grid, given the old ones, evaluates it again. With --as NAME the scores stand beside the others, as "
    "SPLIT.NAME, in every table.\n"
    "\n"
    "Examples:\n"
    "  plait test run.h5 --set 'evaluate.metrics=bleu;chrf;rouge' --set evaluate.attention=20\n"
    "  plait test run.h5 --set data.test2017.en=new.en --set data.test2017.cs=new.cs\n"
    "  plait test run.h5 --checkpoint average --as average\n"
    "  plait test grid/grid.h5 --set decode.beam=1 --as greedy",
    plait_command_test },
  { "translate",
    "RUN.h5 --source NAME=FILE...|--tsv NAME,... [--output FILE] [--format text|tsv|json] [--n-best N] [--alignment "
    "LAYER[:HEAD]] [--set G.K=V]... [--attention DUMP.h5] [--force]",
    "Translate text with a trained run",
    "Prints a line for each line of the sources, or documents where the target's were. A source that is not given is "
    "left out by name, with --without. Trees of a source whose encoder reads them are given as NAME.trees=FILE.\n"
    "With --format tsv a line is a hypothesis: number of the line, score, natural log-probability, text, target tokens "
    "with the end, which the score counts, and with --alignment a field a source, in the experiment's order. With "
    "--format json it is an object with all hypotheses of a line. Alignments are Pharaoh's pairs of a word of the "
    "source and one of the hypothesis, from 0. A line that is empty in all sources has none. With --tsv a line of "
    "standard input has a column for each source, between tabs. An empty line, or column, is an error in a run of "
    "data.empty=error; --set data.empty=missing takes the source as missing there.\n"
    "\n"
    "Examples:\n"
    "  plait translate run.h5 --source en=test.en --source de=test.de\n"
    "  plait translate run.h5 --source en=- --without de --beam 10\n"
    "  paste test.en test.de | plait translate run.h5 --tsv en,de\n"
    "  plait translate run.h5 --source en=test.en --n-best 5 --format json --alignment mean\n"
    "  plait translate run.h5 --source en=test.en --set decode.no_repeat_ngrams=3 --set decode.minimum_length=20",
    plait_command_translate },
  { "score", "RUN.h5 --source NAME=FILE...|--tsv NAME,... --target FILE [--set G.K=V]... [--json]",
    "Score given translations by forced decoding",
    "Prints a line a sentence or document: natural log-probability, and target tokens with the ends. With --sentences "
    "documents have a line a sentence, and blank lines between them.",
    plait_command_score },
  { "export", "RUN.h5 --output FILE [--checkpoint NAME] [--force]",
    "Write the parameters of a run as safetensors, which other programs read",
    "The file holds all parameters under their names, as they are, and the experiment in its metadata; "
    "train.initialise reads it back to the same bits. A weight is [inputs, outputs], a bias or gain [1, width]. The "
    "script experiments/to-ctranslate2.py makes a CTranslate2 model of a run.\n"
    "\n"
    "Examples:\n"
    "  plait export run.h5 --output run.safetensors\n"
    "  plait export run.h5 --checkpoint average --output run.safetensors",
    plait_command_export },
  { "evaluate", "--reference FILE... --hypothesis FILE... [--metric LIST] [--source FILE] [--sentences] [--json]",
    "Score translations in text files, and test systems against the first",
    "Files hold one sentence a line, plain or gzip; \"-\" is standard input. Metrics are bleu, chrf, chrf++ and ter, "
    "which equal sacreBLEU's, meteor (exact and stem matches), multi-bleu, which equals that of multi-bleu.perl -lc, "
    "rouge, which equals rouge-score's, and repetition: NAME or NAME:OPTION,OPTION=VALUE, separated by ';', as in an "
    "experiment's evaluate.metrics. With unit=document a metric is of documents: blank lines end them.\n"
    "\n"
    "Examples:\n"
    "  plait evaluate --reference test.cs --hypothesis system.txt\n"
    "  plait evaluate -r test.cs -i baseline.txt -i system.txt --metric 'bleu:lowercase;chrf++' --json\n"
    "  plait evaluate -r test.cs -i system.txt --metric multi-bleu --source test.en --bins '10;20;30'\n"
    "  plait evaluate -r pages.cs -i system.txt --metric 'bleu:unit=document;chrf:unit=document'\n"
    "  plait evaluate -r summaries -i lead.txt -i system.txt --metric 'rouge:type=1;rouge:type=2;rouge:type=L'",
    plait_command_evaluate },
  { "compare",
    "RUN.h5|grid.h5... [--test NAME] [--attention] [--differ N] [--frequencies FILE] [--format NAME] [--json]",
    "Compare the scores of runs, and what was set otherwise",
    "A grid stands for all its finished runs. Every run is tested against the first on the hypotheses that it holds. "
    "Runs that differ in nothing but experiment.seed and experiment.name are one system: a mean with its standard "
    "deviation, and a test that has the seeds in it.\n"
    "\n"
    "Examples:\n"
    "  plait compare serial.h5 flat.h5\n"
    "  plait compare grid/grid.h5 --test bootstrap --json\n"
    "  plait compare serial.h5 flat.h5 --differ 10\n"
    "  plait compare serial.h5 flat.h5 --frequencies train.cs.gz\n"
    "  plait compare serial.h5 flat.h5 --attention",
    plait_command_compare },
  { "adversarial", "RUN.h5 [--split NAME] [--source-is LIST] [--set G.K=V]... [--seed N] [--json]",
    "Shuffle one source after the other and score a test split again",
    "Each source in turn is taken from other sentences, by a seeded permutation without fixed points, or is noise, or "
    "absent: how far the scores fall says how much the model relies on it. Differences are tested.\n"
    "\n"
    "Example:\n"
    "  plait adversarial run.h5 --source-is 'shuffled;noise;absent'",
    plait_command_adversarial },
  { "report", "RUN.h5|grid.h5|DUMP.h5... --output FILE.html [--sentences N] [--force]",
    "Make one HTML page of runs, a grid or a dump",
    "Scores, training curves, translations, attention, settings; the page needs no other file and no network. With "
    "script any sentence is chosen, by number, words, score or difference, any source, layer and head, and two runs "
    "stand beside each other on one scale of colour. Without script the first sentences are drawn.\n"
    "The same runs give the same bytes.\n"
    "\n"
    "Examples:\n"
    "  plait report run.h5 -o report.html\n"
    "  plait report grid/grid.h5 --sentences 5 -o grid.html\n"
    "  plait report dump.h5 -o dump.html    # what plait translate --attention wrote",
    plait_command_report },
  { "plot", "FILE... PATH... --output FIGURE [--width CM] [--size PT] [--metric NAME] [--names A;B] [--force]",
    "Draw a figure for a paper as SVG, PDF or PNG: heatmaps, curves, scores, scores by length",
    "PATH is a heatmap (several stand beside each other with one scale), a column of a training table, "
    "/evaluation/SPLIT/metrics or /evaluation/SPLIT/length_bins. A grid stands for all its finished runs. Runs that "
    "differ in nothing but experiment.seed are drawn as their mean with its standard deviation, a single run with its "
    "interval. Figures keep their meaning without colour; a PDF has its fonts in it. Word marks of SentencePiece are "
    "left out.\n"
    "\n"
    "Examples:\n"
    "  plait plot run.h5 /attention/test/0/a /attention/test/0/b -o attention.pdf\n"
    "  plait plot grid/grid.h5 /training/validation/perplexity -o curves.svg --width 12\n"
    "  plait plot grid/grid.h5 /evaluation/test/metrics --metric chrF2 -o scores.pdf\n"
    "  plait plot serial.h5 flat.h5 /evaluation/test/length_bins -o lengths.png",
    plait_command_plot },
  { "show", "FILE [PATH] [--all] [--layer N] [--head N] [--top K] [--sentence N] [--word N] [--json]",
    "Show a run, a dump or a grid: its tree, tables, texts, numbers, heatmaps and descents",
    "PATH is a group or dataset; PATH@NAME is an attribute. Links are followed, from a grid into its cells. A heatmap "
    "or a descent is drawn at its last layer and the mean of its heads unless told; of sentences, each head has the 16 "
    "that it reads most.\n"
    "\n"
    "Examples:\n"
    "  plait show run.h5\n"
    "  plait show run.h5 /training/validation\n"
    "  plait show run.h5 /attention/test/0 --layer 0 --head 3\n"
    "  plait show run.h5 /attention/test/0/a.tokens --sentence 3\n"
    "  plait show run.h5 /@experiment",
    plait_command_show },
  { "reproduce", "RUN.h5 [--updates N] [--set G.K=V]... [--output AGAIN.h5] [--force] [--threads N] [--json]",
    "Make a run again from its own record, and compare it bit for bit",
    "Settings, seed and places of files are those that the run keeps; --set says where files are now, and can change "
    "nothing else. It prints what was compared (the training log, parameters, hypotheses, scores, attention) and how "
    "many things differ, and ends with code 1 if some do, with the reason as far as is known: data, plugins or a "
    "version of plait that have changed, or another processor or library. With --updates it makes the first updates "
    "alone, and compares the log up to them.\n"
    "\n"
    "Examples:\n"
    "  plait reproduce run.h5\n"
    "  plait reproduce run.h5 --updates 200 --set data.folder=/data/text",
    plait_command_reproduce },
  { "verify", "FILE... [--resume] [--updates N] [--json]",
    "Check that files are as they were written, to the last byte",
    "Other commands check what they read of a run, a dump or a grid; this one reads everything. Vocabularies that "
    "plait made are checked too. It prints a line a file and ends with code 1 if one of them is not whole, as one that "
    "another program (h5py, h5repack) has written anew, of which it lists what was changed, removed and added.\n"
    "\n"
    "With --resume some updates of a run are made twice in temporary files, at a stretch and with a stop in their "
    "middle, after which a checkpoint is read: all that comes out must be the same bits. They are the updates that "
    "follow the checkpoint of a run that is not finished, and the first ones of one that is.\n"
    "\n"
    "Examples:\n"
    "  plait verify run.h5\n"
    "  plait verify grid/*.h5",
    plait_command_verify },
  { "generate", "TASK --output FOLDER [--set KEY=VALUE]... [--force]",
    "Write the corpus of a generated task as text files, or list the tasks",
    "The files are FOLDER/SPLIT.STREAM, the same bytes for the same parameters; their names are printed, without "
    "--quiet.\n"
    "\n"
    "Examples:\n"
    "  plait generate\n"
    "  plait generate agreement --output data --set train=20000 --set seed=7",
    plait_command_generate },
  { "baseline", "lead|majority [FILE] [--words N|--sentences N] [--train FILE] [--output FILE] [--force]",
    "Print the output of a system that hardly reads its documents: their first words, or the most frequent line",
    "lead prints the first N words, or sentences, of each document of FILE, majority the line that stands most often "
    "in the file of --train, of several the first. A document is a sentence a line, up to a blank line. FILE is plain "
    "or gzip; without it, or with \"-\", standard input is read.\n"
    "\n"
    "Examples:\n"
    "  plait baseline lead --words 14 test.doc > lead.txt\n"
    "  plait baseline lead --sentences 3 --keep-lines test.doc --output lead.txt\n"
    "  plait baseline majority --train train.title test.doc",
    plait_command_baseline },
  { "vocabulary", "--output FILE [--force] TEXT... | --show FILE | --encode FILE [TEXT...] | --decode FILE [TEXT...]",
    "Make a vocabulary from text, show one, or take text through one",
    "Several text files, plain or gzip, make one shared vocabulary. --encode and --decode read standard input if no "
    "text is named. A vocabulary that is read may be a run, which keeps those that it was trained with.\n"
    "\n"
    "Examples:\n"
    "  plait vocabulary --output shared.model --type bpe --size 6000 train.en train.de\n"
    "  plait vocabulary --show shared.model\n"
    "  echo 'a man rides' | plait vocabulary --encode shared.model\n"
    "  plait vocabulary --show run.h5 --name en\n"
    "  plait vocabulary --list dict.en.txt --output en.words",
    plait_command_vocabulary },
  { "trees",
    "--check FILE [--tokens FILE] [--json] | --convert FILE --to FORM [--tokens FILE] [--output FILE] [--force]",
    "Check a file of constituency trees against its text, or write it in another form",
    "A line holds one tree: brackets as in the Penn Treebank, or triples [LEFT,RIGHT,PARENT] with words numbered from "
    "1. The words of tree i must be the white-space tokens of line i of the text. A tree in brackets may go over "
    "several lines, of which each but the first begins with a space. null, (()) and [1,1,201] say that there is no "
    "tree, and so does an empty line where no tree goes over several lines. Files are plain or gzip; \"-\" is standard "
    "input.\n"
    "\n"
    "Examples:\n"
    "  plait trees --check train.en.tree --tokens train.en\n"
    "  plait trees --check train.en.tree --binarise right --json\n"
    "  plait trees --convert train.en.tree --to triples --binarise head --output train.en.triples",
    plait_command_trees },
  { "parse", "FILE [--output FILE] [--force] [--unlinked N] [--tokens N] [--seconds N] [--json]",
    "Make constituency trees of English text with link-grammar",
    "A line is a sentence, whose words are its white-space tokens; line i of the trees belongs to it. A sentence that "
    "gets no tree has an empty line, for which data.no_tree says what to do. Files are plain or gzip; \"-\" is "
    "standard input. The same text gives the same trees, whatever the number of processes, but for sentences that "
    "--seconds cuts off.\n"
    "\n"
    "Examples:\n"
    "  plait parse train.en --output train.en.trees\n"
    "  plait parse train.en --unlinked 0 --json --output train.en.trees\n"
    "  plait trees --check train.en.trees --tokens train.en",
    plait_command_parse },
  { "plugins", "[--json]", "List the plugins that are found, and where", NULL, plait_command_plugins },
  { "inspect", "[PLUGIN|GROUP|GROUP.KEY] [--json] | --keys [FILE.ini] [--json]",
    "Show a plugin, or a group of experiment files, with its parameters",
    "PLUGIN is a name, or KIND/NAME where several kinds have it. GROUP is a group of experiment files, such as "
    "decoder, train or grid; combiner, coverage and encoder show the parameters of all plugins of that kind. Without "
    "either it lists the groups. With --keys a line is a key and what there is to choose from, or FILE for a path; "
    "sources and files of FILE.ini are among them.",
    plait_command_inspect },
  { "explain", "FILE [--set G.K=V]... [--json]", "Show the equations, shapes and costs of an experiment's model",
    "For each component of the model: the equations, as schemas of plugins and the decoder's settings tell them, the "
    "memories that an encoder gives, how many parameters it has and of which shapes, those of all layers in one line, "
    "and the multiply-adds of products and attention for a token, forward. No data are read: vocabularies have "
    "data.vocabulary_size entries, and operations are counted over drawn sentences as the group [bench] says.\n"
    "\n"
    "Examples:\n"
    "  plait explain first.ini\n"
    "  plait explain first.ini --set decoder.combiner=flat --json",
    plait_command_explain },
  { "new", "KIND NAME", "Write the project of a new plugin into a folder NAME: code, schema, build, an experiment",
    "KIND is encoder, combiner or coverage. What is written is a small plugin that builds with meson and runs as it "
    "is. Its README.md has the commands. The names of the files are printed, without --quiet.\n"
    "\n"
    "Examples:\n"
    "  plait new combiner averaged\n"
    "  cd averaged && meson setup build && ninja -C build\n"
    "  PLAIT_PLUGIN_PATH=build plait check averaged",
    plait_command_new },
  { "check", "FILE.ini [--set G.K=V]... [--json] | PLUGIN [--property NAME]... [--seconds N] [--json]",
    "Find every mistake of an experiment file, or hold a plugin to the contract of its kind",
    "Of an experiment, with all cells of its [grid], it tells everything that is wrong at once, a line each with file, "
    "line and key: keys, values, what does not fit together, files that are missing, cannot be read or have other "
    "numbers of lines, modules that do not load, models that cannot be built. Nothing is learnt from the data, so it "
    "takes seconds; plait run begins with the same, and plait run --dry-run goes on to what only the data tell: the "
    "vocabularies, updates and memory. The exit code is 2 where there is a mistake.\n"
    "\n"
    "PLUGIN is a name, or KIND/NAME where several kinds have it. It stands in small models beside plait's own plugins, "
    "with its defaults under every decoder that its schema allows, and with each of its choices. A line for each "
    "property: passed, failed, not applicable, or not run, and for a failure one sentence. The exit code is 0 where "
    "nothing failed. A plugin that crashes, exits or does not end fails the property that is being checked.\n"
    "\n"
    "structure: memories are as the schema promises. runs: it is built and trains. gradients: those of finite "
    "differences. memories: one, two and three sources are read. missing: sources may be missing. batches: no sentence "
    "sees another. lengths: long and short sentences. search: scores of forced decoding. losses: declared ones are "
    "given. repeats: the same bits on any number of threads. shards: parts of a batch at once.\n"
    "\n"
    "Floats let differences show gross errors of gradients alone. Where plait-double is found, which is what plait is "
    "called if built with -Dscalar=double, it checks them to six digits: for the plugin FOLDER/KIND/NAME.so it loads "
    "FOLDER/double/KIND/NAME.so, which a project of plait new builds too.\n"
    "\n"
    "Examples:\n"
    "  plait check first.ini\n"
    "  plait check hierarchical\n"
    "  PLAIT_PLUGIN_PATH=build plait check combiner/averaged --property gradients",
    plait_command_check },
  { NULL },
};
