#!/bin/bash
# Repeats the ablations of the BERT paper (tables 5 to 8) with a small BERT.
#
#     bash examples/recipes/ablations.sh MODEL DATA OUTPUT
#
# MODEL   output folder of small-bert-from-scratch.sh. The recipe uses the
#         vocabulary, and the records of 32 WordPieces
# DATA    folder that contains the downloaded folders MRPC, SST-2, QNLI and
#         conll2003. Tasks without a folder are skipped
# OUTPUT  folder for all runs, and for the table of results, ablations.md
#
# For each row of the table, pretrains a variant of the small BERT, and
# fine-tunes it. Environment variables: ROWS="as_it_is 1_x_128" runs only these
# rows. STEPS, BATCH and RATE set the steps, batch size and learning rate.
. "$(dirname "$0")/common.sh"
[ $# -eq 3 ] || fail "usage: $0 MODEL DATA OUTPUT"
model=$1 data=$2 output=$3
steps=${STEPS:-1500}
need "$model/vocab.txt" "$model/eval-records_32" "$data"
make_parts "$data" "$output/data" "3 1"

# Succeeds if a row should run: NAME. By default all rows run.
wanted() {
  case " ${ROWS:-$1} " in *" $1 "*) ;; *) return 1 ;; esac
}

# Pretrains: NAME LAYERS WIDTH [FLAG...]. The size of a head is 64. Inputs and
# masking are as in the first phase of small-bert-from-scratch.sh.
pretrain() {
  local config=$output/$1/bert_config.json
  once "$config" small_config "$2" "$3" $(($3 / 64)) "$model/vocab.txt"
  once "$output/$1/fine_tuning/bert_config.json" with_dropout "$config"
  run run_pretraining.py --input_file="$model/records_32-*-of-*" \
    --eval_input_file="$model/eval-records_32" \
    --vocab_file="$model/vocab.txt" --bert_config_file="$config" \
    --output_dir="$output/$1/pretraining" --do_train --do_eval \
    --max_seq_length=32 --max_predictions_per_seq=13 --masked_lm_prob=0.4 \
    --train_batch_size="${BATCH:-128}" --learning_rate="${RATE:-3e-3}" \
    --num_train_steps="$steps" --num_warmup_steps=$((steps / 10)) \
    --adam_beta_2=0.98 --mixed_precision="$precision" --eval_batch_size=64 \
    "${@:4}"
}

# Fine-tunes with every seed: NAME START TASKS [FLAG...]. START is the name of
# the row whose pretrained weights to start from.
fine_tune() {
  local name seed
  for name in $3; do
    set_task "$name" "$data" "$output/data"
    [ -d "$folder" ] || continue
    for seed in $seeds; do
      run "${task[@]}" --do_train --vocab_file="$model/vocab.txt" \
        --bert_config_file="$output/$2/fine_tuning/bert_config.json" \
        --init_checkpoint="$output/$2/pretraining/model.ckpt-$steps" \
        --output_dir="$output/$1/$name/seed_$seed" --max_seq_length=32 \
        --train_batch_size=32 --learning_rate=3e-4 --num_train_epochs=3 \
        --mixed_precision="$precision" --seed="$seed" \
        --keep_checkpoint_max=1 "${@:4}"
    done
  done
}

# Pretrains and fine-tunes: NAME TASKS LAYERS WIDTH [FLAG...]
row() {
  wanted "$1" || return 0
  pretrain "$1" "${@:3}"
  fine_tune "$1" "$1" "$2"
}

# Table 5, without MNLI and SQuAD.
effects="MRPC SST-2 QNLI"
to_the_right=left-to-right_no_next_sentence
row as_it_is "$effects" 3 128
row no_next_sentence "$effects" 3 128 --next_sentence=False
if wanted $to_the_right || wanted left-to-right_with_a_BiLSTM; then
  pretrain $to_the_right 3 128 --next_sentence=False --left_to_right
fi
! wanted $to_the_right ||
  fine_tune $to_the_right $to_the_right "$effects" --left_to_right
! wanted left-to-right_with_a_BiLSTM ||
  fine_tune left-to-right_with_a_BiLSTM $to_the_right "$effects" \
    --left_to_right --bilstm

# Table 7, with the output of the last block as features.
if wanted NER_fine-tuned || wanted NER_by_features_and_a_BiLSTM; then
  pretrain as_it_is 3 128
fi
! wanted NER_fine-tuned || fine_tune NER_fine-tuned as_it_is CoNLL
! wanted NER_by_features_and_a_BiLSTM ||
  fine_tune NER_by_features_and_a_BiLSTM as_it_is CoNLL \
    --bilstm --freeze_layers=3

# Table 6, with narrower networks than in the paper.
row 1_x_128 "MRPC SST-2" 1 128
row 2_x_128 "MRPC SST-2" 2 128
row 3_x_64 "MRPC SST-2" 3 64

# Table 8, with MRPC instead of MNLI: NAME MASK SAME, the fractions of chosen
# WordPieces that become [MASK], and that stay. All others become random.
masked() {
  row "$1" "MRPC CoNLL" 3 128 --mask_token_prob="$2" --same_token_prob="$3"
}
masked 100_mask 1.0 0.0
masked 80_mask_20_random 0.8 0.0
masked 80_mask_20_same 0.8 0.2
masked 20_same_80_random 0.0 0.2
masked 100_random 0.0 0.0
run tools.results_table --runs="$output" --output="$output/ablations.md" \
  --metrics=masked_lm_loss,masked_lm_accuracy,eval_accuracy,f1
