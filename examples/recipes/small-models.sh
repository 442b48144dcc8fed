#!/bin/bash
# Measures how much accuracy is lost in int8, and with half of the layers.
#
#     bash examples/recipes/small-models.sh MODEL DATA OUTPUT
#
# MODEL   folder of a checkpoint in Google's or Hugging Face's format, with its
#         configuration and vocab.txt
# DATA    folder that contains the downloaded folders MRPC, SST-2, STS-B, squad
#         and conll2003. Tasks without a folder are skipped
# OUTPUT  folder for all runs, and for the table of results, small_models.md
#
# Fine-tunes MODEL, and evaluates the result in float and, exported for LiteRT,
# in int8. On MRPC, SST-2 and SQuAD, also trains students that start from every
# second layer: without a teacher, with the fine-tuned model as teacher (also in
# int8), and with its last layer as teacher too. Environment variables: TASKS,
# RATE (learning rate), and LOWER_CASE=False for a cased model.
. "$(dirname "$0")/common.sh"
[ $# -eq 3 ] || fail "usage: $0 MODEL DATA OUTPUT"
model=$1 data=$2 output=$3
need "$model/vocab.txt" "$data"
make_parts "$data" "$output/data" "10 2"

# Fine-tunes MODEL for a row of the table: ROW CONFIG [FLAG...]
train() {
  run "${task[@]}" "${flags[@]}" --do_train --bert_config_file="$2" \
    --init_checkpoint="$model" --output_dir="$rows/$1" \
    --export_weights="$rows/$1_model" "${@:3}"
}

# Calls `train`, and exports the model in int8, however much accuracy is lost.
train_and_quantize() {
  train "$@" --quantize=int8 --export_dir="$rows/$1_int8" --max_export_loss=100
}

# Prints the configuration of a student with every second layer of CONFIG, or
# with a second argument the numbers of these layers: CONFIG [layers]
student() {
  "$python" -c 'if True:
    import json, sys
    config = json.load(open(sys.argv[1]))
    layers = range(1, config["num_hidden_layers"], 2)
    config["num_hidden_layers"] = len(layers)
    print(",".join(map(str, layers)) if sys.argv[2:] else json.dumps(config))
  ' "$@"
}

for seed in $seeds; do
  for name in ${TASKS:-MRPC SST-2 STS-B SQuAD CoNLL}; do
    set_task "$name" "$data" "$output/data"
    [ -d "$folder" ] || continue
    rows=$output/$name/seed_$seed
    flags=(--vocab_file="$model/vocab.txt" --train_batch_size=32
      --mixed_precision="$precision" --learning_rate="${RATE:-5e-5}"
      --do_lower_case="${LOWER_CASE:-True}" --seed="$seed"
      --keep_checkpoint_max=1)
    case $name in
      SQuAD) flags+=(--max_seq_length=384 --trim_padding --num_train_epochs=2) ;;
      *) flags+=(--max_seq_length=128 --num_train_epochs=3) ;;
    esac
    train_and_quantize fine-tuned "$model"
    case $name in
      MRPC | SST-2 | SQuAD)
        config=$rows/fine-tuned_model/bert_config.json
        once "$rows/student.json" student "$config"
        layers=$(student "$config" layers)
        train student "$rows/student.json" --init_layers="$layers"
        train_and_quantize student_with_a_teacher "$rows/student.json" \
          --init_layers="$layers" --teacher="$rows/fine-tuned_model"
        train student_with_hidden "$rows/student.json" --distill_hidden \
          --init_layers="$layers" --teacher="$rows/fine-tuned_model"
        ;;
    esac
  done
done
run tools.results_table --runs="$output" --output="$output/small_models.md" \
  --metrics=f1,eval_accuracy,spearman,litert_f1,litert_eval_accuracy,litert_spearman
