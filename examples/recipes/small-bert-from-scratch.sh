#!/bin/bash
# Pretrains a small BERT from raw text and fine-tunes it, in hours on a CPU.
#
#     bash examples/recipes/small-bert-from-scratch.sh CORPUS OUTPUT [GLUE]
#
# CORPUS  file with one sentence per line, and a blank line between documents.
#         The recipe holds out some documents for all evaluations
# OUTPUT  folder for all files. OUTPUT/curves.png shows the pretraining
# GLUE    folder that contains GLUE's folders (see glue.sh)
#
# Environment variables: SIZE=long trains for longer. SIZE=sample only shows in
# minutes that everything works. glue.sh describes TASKS and SEEDS.
#
# The first phase uses short inputs, many masks and a high learning rate. The
# loss stays on a plateau until the network has seen enough predictions to learn
# more than word frequencies.
. "$(dirname "$0")/common.sh"
[ $# -eq 2 ] || [ $# -eq 3 ] || fail "usage: $0 CORPUS OUTPUT [GLUE]"
corpus=$1 output=$2
need "$corpus"
words=8192 layers=3 width=128 held_out=0.05 eval_steps=500 epochs=10
# Each phase is "length predictions batch rate steps warmup masked".
case ${SIZE:-small} in
  small)
    phases=("32 13 128 3e-3 2500 500 0.4" "128 26 64 2e-3 27000 500 0.2")
    ;;
  long)
    # Three phases of length 128, in each of which the rate rises and falls.
    phases=("32 13 128 3e-3 8000 500 0.4" "128 39 64 2e-3 16000 500 0.3"
      "128 39 64 2e-3 13000 500 0.3" "128 39 64 1.5e-3 6000 250 0.2")
    ;;
  sample)
    words=1600 layers=2 width=16 held_out=0.1 eval_steps=20 epochs=0.1
    phases=("32 13 8 1e-3 40 10 0.4" "64 13 16 1e-3 20 5 0.2")
    ;;
  *) fail "SIZE=$SIZE is none of small, long and sample" ;;
esac

[ -e "$output/vocab.txt" ] || run tools.create_vocabulary \
  --input_file="$corpus" --output_file="$output/vocab.txt" --vocab_size=$words
once "$output/network.json" \
  small_config $layers $width 2 "$output/vocab.txt"
number=0 runs='' start=()
for phase in "${phases[@]}"; do
  read -r length predictions batch rate steps warmup masked <<< "$phase"
  number=$((number + 1))
  records=$output/records_$length trained=$output/pretraining_$number
  run create_pretraining_data.py --input_file="$corpus" \
    --output_file="$records" --vocab_file="$output/vocab.txt" \
    --max_seq_length="$length" --max_predictions_per_seq="$predictions" \
    --dupe_factor=4 --dynamic_masking --eval_fraction=$held_out
  run run_pretraining.py --input_file="$records-*-of-*" \
    --eval_input_file="$output/eval-records_$length" \
    --vocab_file="$output/vocab.txt" --output_dir="$trained" \
    --bert_config_file="$output/network.json" ${start[@]+"${start[@]}"} \
    --do_train --do_eval --masked_lm_prob="$masked" \
    --max_seq_length="$length" --max_predictions_per_seq="$predictions" \
    --train_batch_size="$batch" --learning_rate="$rate" \
    --num_train_steps="$steps" --num_warmup_steps="$warmup" \
    --adam_beta_2=0.98 --mixed_precision="$precision" --eval_batch_size=64 \
    --eval_steps=$eval_steps \
    --save_checkpoints_steps=$eval_steps
  start=(--init_checkpoint="$trained/model.ckpt-$steps")
  runs+=${runs:+,}"$number. $length WordPieces=$trained"
done
if "$python" -c 'import matplotlib' 2> /dev/null; then
  run tools.plot_runs --runs="$runs" --consecutive --axis=hours \
    --output="$output/curves.png"
else
  echo "No curves are drawn: pip install -r requirements/plot.txt"
fi
run tools.results_table --runs="$runs" \
  --metrics=masked_lm_accuracy,next_sentence_accuracy

if [ $# -eq 3 ]; then
  once "$output/fine_tuning/bert_config.json" \
    with_dropout "$output/network.json"
  CHECKPOINT=$trained/model.ckpt-$steps SEEDS=${SEEDS:-1} \
    CONFIG=$output/fine_tuning/bert_config.json \
    bash "$(dirname "$0")/glue.sh" "$output" "$3" "$output/glue" \
    --train_batch_size=32 --learning_rate=3e-4 --num_train_epochs=$epochs
fi
