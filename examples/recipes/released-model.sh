#!/bin/bash
# Repeats the paper's evaluation with a released model.
#
#     GLUE=... SQUAD=... bash examples/recipes/released-model.sh \
#       uncased_L-24_H-1024_A-16 output/paper [FLAG...]
#
# The first argument is the folder of the model, with bert_model.ckpt, its
# configuration and vocab.txt. The second is the folder for all files, such as
# the table of results, results.md. Each command that runs a model gets the
# FLAGs, such as --mixed_precision=bfloat16.
#
# Environment variables. An evaluation runs only if its folder is set:
#   GLUE                      folder of MNLI, QQP and the other tasks
#   SQUAD                     folder of SQuAD v1.1, and optionally of v2.0
#   SWAG                      folder of train.csv and val.csv
#   NER and CASED_MODEL       folders of CoNLL-2003 and of a cased model for it
#   BATCHES, RATES, EPOCHS    values to try for GLUE (appendix A.3 of the paper)
#   SEEDS                     seeds of the models for SQuAD
. "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || fail "usage: $0 MODEL OUTPUT [FLAG...]"
model=$1 output=$2
shift 2
more=(--keep_checkpoint_max=1 --mixed_precision="$precision" "$@")
[ -n "${GLUE:-}${SQUAD:-}${SWAG:-}${NER:-}" ] ||
  fail "nothing to run: set GLUE, SQUAD, SWAG or NER"
need "$model/vocab.txt" ${GLUE:+"$GLUE"} ${SWAG:+"$SWAG"} ${NER:+"$NER"} \
  ${SQUAD:+"$SQUAD/train-v1.1.json" "$SQUAD/dev-v1.1.json"} \
  ${NER:+"${CASED_MODEL:?is needed for NER}/vocab.txt"}

# Fine-tunes and evaluates a model: SCRIPT MODEL NAME [FLAG...]
fine_tune() {
  run "$1" --bert_config_file="$2/bert_config.json" \
    --vocab_file="$2/vocab.txt" --init_checkpoint="$2/bert_model.ckpt" \
    --output_dir="$output/$3" --do_train "${@:4}" "${more[@]}"
}

# Tries all BATCHES, RATES and EPOCHS on a task of GLUE, and predicts the test
# set with the run that is best on the dev set: TASK METRIC
glue_task() {
  local task=$1 data=$GLUE/$1 batch rate epochs name runs=()
  [ -d "$data" ] || return 0
  for batch in ${BATCHES:-16 32}; do
    for rate in ${RATES:-5e-5 3e-5 2e-5}; do
      for epochs in ${EPOCHS:-3 4}; do
        name=glue/$task/$batch-$rate-$epochs
        runs+=("$output/$name")
        fine_tune run_classifier.py "$model" "$name" --task_name="$task" \
          --data_dir="$data" --max_seq_length=128 --do_eval \
          --train_batch_size="$batch" --learning_rate="$rate" \
          --num_train_epochs="$epochs"
      done
    done
  done
  run run_classifier.py --task_name="$task" --data_dir="$data" \
    --bert_config_file="$model/bert_config.json" \
    --vocab_file="$model/vocab.txt" --max_seq_length=128 \
    --init_checkpoint="$(best "$2" "${runs[@]}")" \
    --output_dir="$output/submission/$task" --do_predict --glue_submission \
    "${more[@]}"
}

if [ -n "${GLUE:-}" ]; then
  for task in MNLI QNLI SST-2 RTE; do
    glue_task $task eval_accuracy
  done
  for task in QQP MRPC; do
    glue_task $task f1
  done
  glue_task CoLA matthews
  glue_task STS-B spearman
  "$python" -m zipfile \
    -c "$output/submission.zip" "$output"/submission/*/[[:upper:]]*.tsv
fi
if [ -n "${SQUAD:-}" ]; then
  for seed in $seeds; do
    fine_tune run_squad.py "$model" "squad/seed_$seed" --do_predict \
      --train_file="$SQUAD/train-v1.1.json" \
      --predict_file="$SQUAD/dev-v1.1.json" --train_batch_size=32 \
      --learning_rate=5e-5 --num_train_epochs=3 --seed="$seed"
  done
  # As in the paper, the threshold of the results is the best on the dev set.
  [ ! -e "$SQUAD/train-v2.0.json" ] || fine_tune run_squad.py "$model" squad2 \
    --train_file="$SQUAD/train-v2.0.json" \
    --predict_file="$SQUAD/dev-v2.0.json" --version_2_with_negative \
    --do_predict --train_batch_size=48 --learning_rate=5e-5 \
    --num_train_epochs=2
fi
[ -z "${SWAG:-}" ] || fine_tune run_swag.py "$model" swag \
  --data_dir="$SWAG" --do_eval --train_batch_size=16 --learning_rate=2e-5 \
  --num_train_epochs=3
[ -z "${NER:-}" ] || fine_tune run_ner.py "$CASED_MODEL" ner \
  --data_dir="$NER" --do_eval --do_lower_case=False --train_batch_size=32 \
  --learning_rate=5e-5 --num_train_epochs=4
run tools.results_table --runs="$output" --output="$output/results.md"
