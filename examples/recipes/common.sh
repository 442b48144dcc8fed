# Functions that all recipes use. The recipes source this file.
#
# Environment variables: PYTHON (interpreter), SEEDS (seeds of fine-tuning) and
# PRECISION (float32, or bfloat16, which is faster on CPUs that support it).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=${PYTHON:-python}
seeds=${SEEDS:-1 2 3}
precision=${PRECISION:-float32}
# Let `python -m tools.NAME` run from any folder.
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"

fail() {
  echo "error: $*" >&2
  exit 1
}

# Stops the recipe with an error unless all of these files exist: PATH...
need() {
  local path
  for path; do
    [ -e "$path" ] || fail "there is no $path"
  done
}

# Prints a Python command, quoted for a shell.
show() {
  printf '$ %s' "$python"
  printf ' %q' "$@"
  echo
}

# Prints and runs the command of a script or a tool. If the run has finished
# before, the script only evaluates it again. Changed flags are an error.
run() {
  case $1 in
    *.py)
      show "$@"
      "$python" "$root/$1" "${@:2}"
      ;;
    *)
      show -m "$@"
      "$python" -m "$@"
      ;;
  esac
}

# Writes the output of a command to a file, unless the file exists.
once() {
  local file=$1 part
  [ ! -e "$file" ] || return 0
  mkdir -p "$(dirname "$file")"
  part=$(mktemp "$file.XXXXXX")
  "${@:2}" > "$part" || {
    rm "$part"
    return 1
  }
  mv "$part" "$file"
}

# Prints the run in which the result NAME is highest, the first of several equal
# runs: NAME RUN...
best() {
  local name=$1
  shift
  awk -v name="$name" '
    $1 == name && $3 != "nan" && (file == "" || $3 + 0 > top) {
      top = $3 + 0
      file = FILENAME
    }
    END {
      sub("/eval_results.txt$", "", file)
      print file
      exit file == ""
    }
  ' "${@/%//eval_results.txt}" ||
    fail "no run has the result $name"
}

# Prints the configuration of a small BERT: LAYERS WIDTH HEADS VOCAB_FILE.
# Pretraining a narrow network works better without dropout, and with larger
# initial weights than Google's 0.02.
small_config() {
  cat << END
{
  "attention_probs_dropout_prob": 0.0,
  "hidden_act": "gelu",
  "hidden_dropout_prob": 0.0,
  "hidden_size": $2,
  "initializer_range": 0.06,
  "intermediate_size": $((4 * $2)),
  "max_position_embeddings": 128,
  "num_attention_heads": $3,
  "num_hidden_layers": $1,
  "type_vocab_size": 2,
  "vocab_size": $(($(wc -l < "$4")))
}
END
}

# Prints a configuration with Google's dropout. Without dropout, fine-tuning a
# small BERT overfits the few examples of a task.
with_dropout() {
  sed 's/\(dropout_prob": *\)0\.0/\10.1/' "$1"
}

# Prints the first articles of a SQuAD file: FILE NUMBER
first_articles() {
  "$python" -c 'if True:
    import json, sys
    articles = json.load(open(sys.argv[1], encoding="utf-8"))["data"]
    json.dump({"data": articles[: int(sys.argv[2])]}, sys.stdout)
  ' "$@"
}

# Writes small train and dev sets of the tasks in DATA to the folder PARTS: DATA
# PARTS ARTICLES. ARTICLES is "TRAIN DEV", two numbers of SQuAD's articles.
make_parts() {
  local data=$1 parts=$2 lines
  if [ -d "$data/SST-2" ]; then
    once "$parts/SST-2/train.tsv" head -n 20001 "$data/SST-2/train.tsv"
    once "$parts/SST-2/dev.tsv" cat "$data/SST-2/dev.tsv"
  fi
  if [ -d "$data/QNLI" ]; then
    # Evaluate on the last 1,000 examples of the dev set, train on the others.
    lines=$(awk 'END {print NR}' "$data/QNLI/dev.tsv")
    [ "$lines" -gt 1001 ] || fail "$data/QNLI/dev.tsv has too few examples"
    once "$parts/QNLI/train.tsv" \
      awk -v last=$((lines - 1000)) 'NR <= last' "$data/QNLI/dev.tsv"
    once "$parts/QNLI/dev.tsv" \
      awk -v last=$((lines - 1000)) 'NR == 1 || NR > last' "$data/QNLI/dev.tsv"
  fi
  if [ -d "$data/STS-B" ]; then
    # Remove pairs of the dev set from the train set.
    once "$parts/STS-B/train.tsv" awk -F '\t' '
      FNR == NR {held_out[$8, $9]; next}
      FNR == 1 || !(($8, $9) in held_out)
    ' "$data/STS-B/dev.tsv" "$data/STS-B/train.tsv"
    once "$parts/STS-B/dev.tsv" cat "$data/STS-B/dev.tsv"
  fi
  if [ -d "$data/squad" ]; then
    once "$parts/squad/train.json" \
      first_articles "$data/squad/train-v1.1.json" "${3% *}"
    once "$parts/squad/dev.json" \
      first_articles "$data/squad/dev-v1.1.json" "${3#* }"
  fi
}

# Sets `task` to a task's script and flags, `metric` to the name of its main
# result, and `folder` to its folder in DATA: TASK DATA PARTS
set_task() {
  local data=$2 parts=$3
  folder=$data/$1 metric=eval_accuracy
  task=(run_classifier.py "--task_name=$1" --do_eval)
  case $1 in
    SST-2 | QNLI) task+=("--data_dir=$parts/$1") ;;
    MRPC | RTE) task+=("--data_dir=$folder") ;;
    CoLA) metric=matthews task+=("--data_dir=$folder") ;;
    STS-B) metric=pearson task+=("--data_dir=$parts/$1") ;;
    SQuAD)
      folder=$data/squad metric=f1
      task=(run_squad.py --do_predict "--train_file=$parts/squad/train.json"
        "--predict_file=$parts/squad/dev.json")
      ;;
    CoNLL)
      folder=$data/conll2003 metric=f1
      task=(run_ner.py "--data_dir=$folder" --do_eval)
      ;;
    *) fail "there is no task $1" ;;
  esac
}
