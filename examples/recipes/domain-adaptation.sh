#!/bin/bash
# Adds words of your own text to a model, and continues pretraining on the text.
#
#     bash examples/recipes/domain-adaptation.sh MODEL TEXT OUTPUT
#
# MODEL   folder with bert_model.ckpt, bert_config.json and vocab.txt
# TEXT    file with one sentence per line, and a blank line between documents
# OUTPUT  folder for all files. OUTPUT/model is the new model
#
# The defaults suit a released model and about 10 MB of text. Environment
# variables change them:
#
#     STEPS=1000 RATE=5e-5 bash examples/recipes/domain-adaptation.sh ...
. "$(dirname "$0")/common.sh"
[ $# -eq 3 ] || fail "usage: $0 MODEL TEXT OUTPUT"
model=$1 text=$2 output=$3
need "$model/vocab.txt" "$text"
held_out=${EVAL_FRACTION:-0.05}
length=${LENGTH:-128} lower=${LOWER_CASE:-True}
# 15% of the WordPieces, rounded up.
predictions=${PREDICTIONS:-$(((15 * length + 99) / 100))}

# Add the words that are split most often. They first replace [unused] rows.
run tools.create_vocabulary --input_file="$text" \
  --extend="$model/vocab.txt" --num_new_words="${NEW_WORDS:-1000}" \
  --do_lower_case="$lower" --output_file="$output/vocab.txt"

# Start a new word's embedding as the mean of its former WordPieces' embeddings.
run tools.convert_checkpoint --init_checkpoint="$model" \
  --bert_config_file="$model" --vocab_file="$model/vocab.txt" \
  --extended_vocab_file="$output/vocab.txt" --output_format=tf1 \
  --output_dir="$output/start"

# Write each instance once, because training draws new masks at each pass. Hold
# out a fraction of the documents for evaluation. 0 = evaluate on the train set.
run create_pretraining_data.py --input_file="$text" \
  --vocab_file="$output/vocab.txt" --do_lower_case="$lower" \
  --output_file="$output/text.tfrecord" --dynamic_masking --dupe_factor=1 \
  --eval_fraction="$held_out" \
  --max_seq_length="$length" --max_predictions_per_seq="$predictions"
evaluated="$output/eval-text.tfrecord"
[ -f "$evaluated" ] || evaluated=

# Train, and export the weights without the state of the optimizer.
run run_pretraining.py --input_file="$output/text.tfrecord-*-of-*" \
  ${evaluated:+"--eval_input_file=$evaluated"} \
  --mixed_precision="$precision" \
  --vocab_file="$output/vocab.txt" --do_lower_case="$lower" \
  --bert_config_file="$output/start/bert_config.json" \
  --init_checkpoint="$output/start/bert_model.ckpt" \
  --max_seq_length="$length" --max_predictions_per_seq="$predictions" \
  --trim_padding --do_train --do_eval --train_batch_size="${BATCH:-32}" \
  --learning_rate="${RATE:-2e-5}" --num_train_steps="${STEPS:-10000}" \
  --num_warmup_steps="${WARMUP:-1000}" --output_dir="$output/run" \
  --export_weights="$output/model"
echo "$output/model is the model to fine-tune: compare it with $model on a task"
