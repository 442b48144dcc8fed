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
