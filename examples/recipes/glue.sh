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
# Environment variables: TASKS="cola mrpc" and NUM_SEEDS=5. Set CHECKPOINT and
# CONFIG if these files are not in MODEL. SUBMISSION=1 predicts the test sets
# with the best seed of each task, and writes submission.zip for GLUE's site.
. "$(dirname "$0")/common.sh"
[ $# -ge 3 ] || fail "usage: $0 MODEL GLUE OUTPUT [FLAG...]"
model=$1 glue=$2 output=$3
shift 3
need "$model/vocab.txt" "$glue"
flags=(--vocab_file="$model/vocab.txt" "--bert_config_file=${CONFIG:-$model}"
  --mixed_precision="$precision" "$@")
table=(--runs="$output" --output="$output/glue.md,$output/glue.json")
predict=()
if [ -n "${SUBMISSION:-}" ]; then
  predict=(--do_predict --glue_submission)
  table+=(--submission="$output/submission.zip")
fi

for task in ${TASKS:-cola sst-2 mrpc sts-b qqp mnli qnli rte wnli}; do
  case $task in
    cola) data=$glue/CoLA ;;
    *) data=$glue/$(echo "$task" | tr '[:lower:]' '[:upper:]') ;;
  esac
  if [ ! -f "$data/train.tsv" ]; then
    echo "$data contains no train.tsv: $task is skipped"
    continue
  fi
  run run_classifier.py --task_name="$task" --data_dir="$data" \
    --output_dir="$output/$task" --num_train_runs="${NUM_SEEDS:-3}" \
    --init_checkpoint="${CHECKPOINT:-$model}" --do_train --do_eval \
    ${predict[@]+"${predict[@]}"} "${flags[@]}"
done

# Predict GLUE's diagnostic set with the best model of MultiNLI.
for name in AX diagnostic MNLI; do
  if [ -n "${SUBMISSION:-}" ] && [ -d "$output/mnli" ] &&
    [ -f "$glue/$name/diagnostic.tsv" ]; then
    run run_classifier.py --task_name=ax --data_dir="$glue/$name" \
      --output_dir="$output/ax" --init_checkpoint="$output/mnli" \
      "${predict[@]}" "${flags[@]}"
    break
  fi
done
run tools.results_table "${table[@]}"
