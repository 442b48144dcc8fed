#!/bin/bash
# Compares pretrained weights with random weights on eight tasks.
#
#     bash examples/recipes/worth.sh MODEL DATA OUTPUT NAME=CHECKPOINT...
#
# MODEL   folder with bert_config.json and vocab.txt
# DATA    folder that contains the downloaded folders SST-2, MRPC, CoLA, RTE,
#         STS-B, QNLI, squad and conll2003. Tasks without a folder are skipped
# OUTPUT  folder for all runs, and for the table of results, worth.md
#
# Fine-tunes from random weights and from each checkpoint, for 3 epochs of SST-2
# and CoNLL-2003, and 10 epochs of the smaller tasks. The first seed chooses the
# learning rate for each start, and the other seeds use this rate. Environment
# variables: TASKS, and RATES (learning rates to try).
. "$(dirname "$0")/common.sh"
[ $# -ge 4 ] || fail "usage: $0 MODEL DATA OUTPUT NAME=CHECKPOINT..."
model=$1 data=$2 output=$3
shift 3
need "$model/vocab.txt" "$model/bert_config.json" "$data"
for start; do
  need "${start#*=}.index"
done
once "$output/bert_config.json" with_dropout "$model/bert_config.json"
make_parts "$data" "$output/data" "3 1"

# Fine-tunes once: NAME=CHECKPOINT RATE SEED
fine_tune() {
  local epochs=10 start=()
  case $name in SST-2 | CoNLL) epochs=3 ;; esac
  [ -z "${1#*=}" ] || start=(--init_checkpoint="${1#*=}")
  [ "$name" != SQuAD ] || start+=(--doc_stride=64 --max_query_length=32)
  run "${task[@]}" --vocab_file="$model/vocab.txt" --do_train \
    --bert_config_file="$output/bert_config.json" --max_seq_length=128 \
    --train_batch_size=32 --num_train_epochs=$epochs --learning_rate="$2" \
    --mixed_precision="$precision" --seed="$3" --keep_checkpoint_max=1 \
    --output_dir="$output/${1%%=*}/$name/rate_$2/seed_$3" \
    ${start[@]+"${start[@]}"}
}

for name in ${TASKS:-SST-2 MRPC CoLA RTE STS-B QNLI SQuAD CoNLL}; do
  set_task "$name" "$data" "$output/data"
  [ -d "$folder" ] || continue
  for start in random= "$@"; do
    runs=()
    for rate in ${RATES:-1e-4 3e-4}; do
      fine_tune "$start" "$rate" "${seeds%% *}"
      runs+=("$output/${start%%=*}/$name/rate_$rate/seed_${seeds%% *}")
    done
    rate=$(best "$metric" "${runs[@]}")
    rate=${rate##*/rate_}
    for seed in $seeds; do
      [ "$seed" = "${seeds%% *}" ] || fine_tune "$start" "${rate%/*}" "$seed"
    done
  done
done
run tools.results_table --runs="$output" --output="$output/worth.md" \
  --metrics=eval_accuracy,matthews,pearson,f1
