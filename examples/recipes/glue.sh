#!/bin/bash
# Fine-tunes and evaluates a model on GLUE, with several seeds.
#
#     bash examples/recipes/glue.sh MODEL GLUE OUTPUT [FLAG...]
#
# MODEL   folder with bert_model.ckpt, bert_config.json and vocab.txt
# GLUE    folder that contains CoLA, SST-2 and GLUE's other folders. Tasks
#         without a train.tsv are skipped
# OUTPUT  folder for all runs, and for the table of results, glue.md
# FLAG    more flags of run_classifier.py, such as --learning_rate=3e-5
#
# Environment variables: TASKS="cola mrpc" and SEEDS="1 2 3". Set CHECKPOINT and
# CONFIG if these files are not in MODEL. SUBMISSION=1 predicts the test sets
# with the best seed of each task, and packs submission.zip for GLUE's site.
. "$(dirname "$0")/common.sh"
[ $# -ge 3 ] || fail "usage: $0 MODEL GLUE OUTPUT [FLAG...]"
model=$1 glue=$2 output=$3
shift 3
need "$model/vocab.txt" "$glue"
flags=(--vocab_file="$model/vocab.txt" "--bert_config_file=${CONFIG:-$model}"
  --mixed_precision="$precision" "$@")

# Predicts a test set for GLUE's site: TASK FOLDER RUN
predict() {
  [ -n "${SUBMISSION:-}" ] || return 0
  run run_classifier.py --task_name="$1" --data_dir="$2" \
    --init_checkpoint="$3" --output_dir="$output/submission/$1" \
    --do_predict --glue_submission "${flags[@]}"
}

for task in ${TASKS:-cola sst-2 mrpc sts-b qqp mnli qnli rte wnli}; do
  metric=eval_accuracy
  case $task in
    cola) data=$glue/CoLA metric=matthews ;;
    sts-b) data=$glue/STS-B metric=spearman ;;
    *) data=$glue/$(echo "$task" | tr '[:lower:]' '[:upper:]') ;;
  esac
  if [ ! -f "$data/train.tsv" ]; then
    echo "$data contains no train.tsv: $task is skipped"
    continue
  fi
  runs=()
  for seed in $seeds; do
    runs+=("$output/$task/seed_$seed")
    run run_classifier.py --task_name="$task" --data_dir="$data" \
      --output_dir="$output/$task/seed_$seed" --seed="$seed" \
      --init_checkpoint="${CHECKPOINT:-$model}" --do_train --do_eval \
      "${flags[@]}"
  done
  best=$(best "$metric" "${runs[@]}")
  predict "$task" "$data" "$best"
  # GLUE's diagnostic set is for models of MultiNLI.
  if [ "$task" = mnli ] && [ -f "$glue/AX/diagnostic.tsv" ]; then
    predict ax "$glue/AX" "$best"
  fi
done
run tools.results_table --runs="$output" --output="$output/glue.md"
[ -z "${SUBMISSION:-}" ] || "$python" -m zipfile \
  -c "$output/submission.zip" "$output"/submission/*/[[:upper:]]*.tsv
