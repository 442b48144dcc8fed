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
#   TRIVIAQA                  folder of qa/ and evidence/, to train on first
#   SWAG                      folder of train.csv and val.csv
#   NER and CASED_MODEL       folders of CoNLL-2003 and of a cased model for it
#   BATCHES, RATES, EPOCHS    values to try for GLUE (appendix A.3 of the paper)
#   ENSEMBLE                  number of models, with seeds 1, 2, ..., for SQuAD
. "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || fail "usage: $0 MODEL OUTPUT [FLAG...]"
model=$1 output=$2
shift 2
more=(--keep_checkpoint_max=1 --mixed_precision="$precision" "$@")
[ -n "${GLUE:-}${SQUAD:-}${SWAG:-}${NER:-}" ] ||
  fail "nothing to run: set GLUE, SQUAD, SWAG or NER"
need "$model/vocab.txt" ${GLUE:+"$GLUE"} ${SWAG:+"$SWAG"} ${NER:+"$NER"} \
  ${SQUAD:+"$SQUAD/train-v1.1.json" "$SQUAD/dev-v1.1.json"} \
  ${NER:+"${CASED_MODEL:?is needed for NER}/vocab.txt"} \
  ${TRIVIAQA:+"$TRIVIAQA/qa/wikipedia-train.json" "$TRIVIAQA/evidence"}

# Runs a script with a model: SCRIPT MODEL CHECKPOINT NAME [FLAG...]
with_model() {
  run "$1" --bert_config_file="$2/bert_config.json" \
    --vocab_file="$2/vocab.txt" --init_checkpoint="$3" \
    --output_dir="$output/$4" "${@:5}" "${more[@]}"
}

# Tries all BATCHES, RATES and EPOCHS on a task of GLUE, and predicts the test
# set with the run that is best on the dev set: TASK FOLDER METRIC
glue_task() {
  local task=$1 data=$GLUE/$2 batch rate epochs runs=() flags setting
  [ -d "$data" ] || return 0
  flags=(--task_name="$task" --data_dir="$data" --max_seq_length=128)
  for batch in ${BATCHES:-16 32}; do
    for rate in ${RATES:-5e-5 3e-5 2e-5}; do
      for epochs in ${EPOCHS:-3 4}; do
        setting=glue/$task/$batch-$rate-$epochs
        runs+=("$output/$setting")
        with_model run_classifier.py "$model" "$model/bert_model.ckpt" "$setting" \
          "${flags[@]}" --do_train --do_eval --train_batch_size="$batch" \
          --learning_rate="$rate" --num_train_epochs="$epochs"
      done
    done
  done
  setting=$(best "$3" "${runs[@]}")
  with_model run_classifier.py "$model" "$setting" \
    "glue/$task/best-$(basename "$setting")" "${flags[@]}" \
    --do_predict --glue_submission
}

if [ -n "${GLUE:-}" ]; then
  glue_task mnli MNLI eval_accuracy
  glue_task qqp QQP f1
  glue_task qnli QNLI accuracy
  glue_task sst-2 SST-2 accuracy
  glue_task cola CoLA matthews
  glue_task sts-b STS-B spearman
  glue_task mrpc MRPC f1
  glue_task rte RTE accuracy
fi

if [ -n "${SQUAD:-}" ]; then
  start=$model/bert_model.ckpt members=''
  training=(--do_train --do_predict --train_batch_size=32 --learning_rate=5e-5
    --predict_file="$SQUAD/dev-v1.1.json")
  if [ -n "${TRIVIAQA:-}" ]; then
    start=$output/triviaqa
    [ -e "$output/triviaqa.json" ] || run tools.create_squad_from_triviaqa \
      --input_file="$TRIVIAQA/qa/wikipedia-train.json" \
      --evidence_dir="$TRIVIAQA/evidence" --output_file="$output/triviaqa.json"
    # Train for one epoch, because the paper does not say for how long.
    with_model run_squad.py "$model" "$model/bert_model.ckpt" triviaqa \
      "${training[@]}" --train_file="$output/triviaqa.json" \
      --num_train_epochs=1
  fi
  for seed in $(seq "${ENSEMBLE:-7}"); do
    with_model run_squad.py "$model" "$start" "squad/seed_$seed" \
      "${training[@]}" --train_file="$SQUAD/train-v1.1.json" \
      --num_train_epochs=3 --seed="$seed"
    members+=${members:+,}$output/squad/seed_$seed
  done
  run run_squad.py --bert_config_file="$model/bert_config.json" \
    --vocab_file="$model/vocab.txt" --ensemble="$members" --do_predict \
    --predict_file="$SQUAD/dev-v1.1.json" \
    --output_dir="$output/squad/ensemble_of_${ENSEMBLE:-7}" "${more[@]}"
  if [ -e "$SQUAD/train-v2.0.json" ]; then
    # As in the paper, the threshold of the results is the best on the dev set.
    with_model run_squad.py "$model" "$model/bert_model.ckpt" squad2 \
      --train_file="$SQUAD/train-v2.0.json" \
      --predict_file="$SQUAD/dev-v2.0.json" --version_2_with_negative \
      --do_train --do_predict --train_batch_size=48 --learning_rate=5e-5 \
      --num_train_epochs=2
  fi
fi
[ -z "${SWAG:-}" ] || with_model run_swag.py "$model" \
  "$model/bert_model.ckpt" swag --data_dir="$SWAG" --do_train --do_eval \
  --train_batch_size=16 --learning_rate=2e-5 --num_train_epochs=3
[ -z "${NER:-}" ] || with_model run_ner.py "$CASED_MODEL" \
  "$CASED_MODEL/bert_model.ckpt" ner --data_dir="$NER" --do_train --do_eval \
  --do_lower_case=False --train_batch_size=32 --learning_rate=5e-5 \
  --num_train_epochs=4
run tools.results_table --runs="$output" --output="$output/results.md"
