"""Commands that create records, train, and resume what a signal stopped."""

from tests.recordings.command import ALL_FORMATS, Command

MODEL = """
    --bert_config_file=../inputs/bert_config.json
    --vocab_file=../inputs/samples/vocab.txt
"""
RECORDS = """
    create_pretraining_data.py --input_file=../inputs/samples/corpus.txt
    --vocab_file=../inputs/samples/vocab.txt --output_file=train.tfrecord
    --max_seq_length=32 --max_predictions_per_seq=5
"""
PRETRAIN = f"""
    run_pretraining.py {MODEL} --max_seq_length=32 --max_predictions_per_seq=5
    --train_batch_size=16 --learning_rate=1e-3 --num_warmup_steps=2
    --output_dir=run
"""
# Runs start from the run of `pretraining`, but for some with random weights.
FINE_TUNE = """
    --init_checkpoint=../pretraining/run --output_dir=run --max_seq_length=24
    --train_batch_size=8 --learning_rate=1e-3 --do_train --do_eval
"""
MRPC = f"""
    run_classifier.py {FINE_TUNE} --task_name=MRPC
    --data_dir=../inputs/samples/glue
"""
SQUAD = """
    run_squad.py --init_checkpoint=../pretraining/run --output_dir=run
    --max_seq_length=64 --max_query_length=24 --doc_stride=16 --n_best_size=5
    --train_batch_size=8 --learning_rate=1e-3 --do_train --do_predict
"""
DATA_FILE = """
    --init_checkpoint=../pretraining/run --output_dir=run --seed=7
    --train_batch_size=16
"""

MAKING = [
    Command(
        "vocabulary",
        """
        -m tools.create_vocabulary --input_file=../inputs/samples/corpus.txt
        --output_file=vocab.txt --vocab_size=800
        """,
    ),
    Command(
        "vocabulary_extended",
        """
        -m tools.create_vocabulary --input_file=../inputs/domain.txt
        --extend=../inputs/samples/vocab.txt --output_file=vocab.txt
        --num_new_words=20
        """,
    ),
    Command("records", f"{RECORDS} --dupe_factor=2"),
    Command(
        "records_whole_word",
        f"""
        {RECORDS} --dupe_factor=2 --do_whole_word_mask --num_shards=2
        --num_processes=2 --eval_fraction=0.1
        """,
    ),
    Command(
        "records_dynamic",
        f"{RECORDS} --dupe_factor=1 --dynamic_masking --num_shards=1",
    ),
]

TRAINING = [
    Command(
        "pretraining",
        f"""
        {PRETRAIN} --input_file=../records/train.tfrecord --do_train --do_eval
        --num_train_steps=8 --save_checkpoints_steps=3 --max_eval_steps=4
        --export_dir=export {ALL_FORMATS} --export_weights=weights
        """,
    ),
    Command(
        "pretraining_dynamic",
        f"""
        {PRETRAIN} --input_file=../records_dynamic/train.tfrecord-*
        --eval_input_file=../records_whole_word/eval-train.tfrecord --do_train
        --do_eval --eval_steps=2 --num_train_steps=4 --do_whole_word_mask
        --optimizer=lamb --gradient_accumulation_steps=2
        """,
    ),
    Command(
        "mrpc",
        f"""
        {MRPC} --do_predict --report --glue_submission --num_train_epochs=0.2
        --save_checkpoints_steps=9 --export_dir=export --export_weights=weights
        {ALL_FORMATS}
        """,
    ),
    Command(
        "mrpc_eval",
        """
        run_classifier.py --task_name=MRPC --do_eval --do_predict
        --data_dir=../inputs/samples/glue --init_checkpoint=../mrpc/run
        --output_dir=run
        """,
    ),
    Command(
        "mnli",
        f"""
        run_classifier.py {MODEL} --output_dir=run --max_seq_length=24
        --train_batch_size=4 --learning_rate=1e-3 --do_train --do_eval
        --task_name=mnli --data_dir=../inputs/mnli --early_stopping_patience=1
        --num_train_epochs=3 --class_weights=balanced --left_to_right --bilstm
        """,
    ),
    Command(
        "regression",
        f"""
        run_classifier.py {FINE_TUNE} --task_name=sts-b --do_predict
        --data_dir=../inputs/regression --num_train_epochs=2 --glue_submission
        --export_dir=export {ALL_FORMATS}
        """,
    ),
    Command(
        "multilabel",
        f"""
        run_classifier.py {FINE_TUNE} --task_name=csv --do_predict --report
        --data_dir=../inputs/multilabel --output_mode=multilabel
        --text_column=review --label_column=colours --label_separator=|
        --num_train_epochs=2 --export_dir=export {ALL_FORMATS}
        """.replace("=|", "='|'"),
    ),
    Command(
        "pairs",
        f"""
        run_classifier.py {FINE_TUNE} --task_name=embedding
        --data_dir=../inputs/pairs --num_train_epochs=2
        """,
    ),
    Command(
        "scored_pairs",
        f"""
        run_classifier.py {FINE_TUNE} --task_name=embedding --do_predict
        --data_dir=../inputs/scored_pairs --num_train_epochs=1
        --export_dir=export {ALL_FORMATS}
        """,
    ),
    Command(
        "ranking",
        f"""
        run_classifier.py {FINE_TUNE} --task_name=ranking --do_predict
        --data_dir=../inputs/ranking --num_train_epochs=1
        --export_dir=export {ALL_FORMATS}
        """,
    ),
    Command(
        "long_texts",
        f"""
        run_classifier.py {MODEL} --output_dir=run --max_seq_length=16
        --train_batch_size=16 --learning_rate=3e-3 --do_train --do_eval
        --task_name=csv --data_dir=../inputs/long_texts --do_predict --report
        --doc_stride=7 --num_train_epochs=1 --evaluate_each_epoch
        --export_dir=export {ALL_FORMATS}
        """,
    ),
    Command(
        "table",
        f"""
        run_classifier.py {DATA_FILE} --num_train_epochs=2
        --data_file=../inputs/samples/topics/train.csv {ALL_FORMATS}
        """,
    ),
    Command(
        "distillation",
        """
        run_classifier.py --task_name=MRPC --output_dir=run --do_train --do_eval
        --data_dir=../inputs/samples/glue --max_seq_length=24
        --bert_config_file=../inputs/one_block.json --train_batch_size=8
        --num_train_epochs=0.1 --learning_rate=1e-3 --teacher=../mrpc/run
        --init_layers=1 --distill_hidden
        """,
    ),
    Command(
        "entities",
        f"""
        run_ner.py {FINE_TUNE} --do_predict --report
        --data_dir=../inputs/entities --num_train_epochs=2
        --evaluate_each_epoch --export_dir=export --export_weights=weights
        {ALL_FORMATS}
        """,
    ),
    Command(
        "entities_table",
        f"""
        run_ner.py {DATA_FILE} --num_train_epochs=2
        --data_file=../inputs/entities.jsonl --export_format=litert
        """,
    ),
    Command(
        "squad",
        f"""
        {SQUAD} --train_file=../inputs/samples/squad/train.json
        --predict_file=../inputs/samples/squad/dev.json --report
        --num_train_epochs=0.1 --export_dir=export {ALL_FORMATS}
        """,
    ),
    Command(
        "squad_v2",
        f"""
        {SQUAD} --train_file=../inputs/samples/squad/train-v2.json
        --predict_file=../inputs/samples/squad/dev-v2.json --report
        --version_2_with_negative --num_train_epochs=0.1 --export_dir=export
        {ALL_FORMATS}
        """,
    ),
    Command(
        "swag",
        f"""
        run_swag.py {FINE_TUNE} --data_dir=../inputs/swag --do_predict
        --num_train_epochs=1 --export_dir=export {ALL_FORMATS}
        """,
    ),
]

STOPPED_MRPC = f"{MRPC} --do_predict --num_train_epochs=3 --report"
STOPPED_TABLE = f"""
    run_classifier.py {DATA_FILE} --num_train_epochs=8 --export_format=litert
    --data_file=../inputs/samples/topics/train.csv
"""
STOPPED_PRETRAINING = f"""
    {PRETRAIN} --input_file=../records/train.tfrecord --do_train --do_eval
    --num_train_steps=150 --save_checkpoints_steps=20 --max_eval_steps=4
"""
STOPPED = [
    ("mrpc", f"{STOPPED_MRPC} --save_checkpoints_steps=40"),
    ("table", f"{STOPPED_TABLE} --save_checkpoints_steps=20"),
    ("pretraining", STOPPED_PRETRAINING),
]
# A recording of another commit resumes the runs that the base has stopped.
STOPPING = [
    Command(f"stop.{name}", text, status=75, stop_at="run/model.ckpt-*.index")
    for name, text in STOPPED
]
RESUMING = [
    Command(f"resume.{name}", text, resumes=f"stop.{name}")
    for name, text in STOPPED
]
