"""Writes the shards of a unit of the work on a large corpus.

An `InstanceUnit` writes some TFRecord files, the shards, from some parts of the
corpus, in bounded memory. The random draws depend only on the seed and the
part, so any process can do a unit, in any order.
"""

import dataclasses
import functools
import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from data.io import tfrecords
from data.parallel_jobs.job_files import UnitResult
from data.pretraining.corpus_parts import CorpusPart
from data.pretraining.documents import Document, DocumentReader, TextEncoder
from data.pretraining.instances import InstanceCreator, shuffle
from data.pretraining.pretraining_options import InstanceOptions
from data.pretraining.record_writing import InstanceEncoder
from files.json_files import write_json

# Maximum number of characters of a document, of WordPieces of a group of
# documents, and of bytes of records in memory. Without these limits, compressed
# files or a large --dupe_factor could exhaust the memory.
_MAX_CHARACTERS = 8 << 20
_MAX_WORDPIECES = 2 << 20
_MAX_RECORD_BYTES = 128 << 20
# --eval_fraction is a multiple of 1 / _NUM_HASHES.
_NUM_HASHES = 10_000
# A process keeps the encoder for its next unit, because the vocabulary and the
# cache of words are large.
load_text_encoder = functools.lru_cache(maxsize=1)(TextEncoder)


class _DocumentGroup(NamedTuple):
    """Documents of a part that are in memory together.

    Attributes:
        documents: the documents, in random order.
        rng: the generator of the random draws for the part. The next group of
            the part continues its draws.
    """

    documents: list[Document]
    rng: random.Random


@dataclasses.dataclass(frozen=True)
class InstanceUnit:
    """A unit of the job: the shards to write, and the text to read for them.

    Attributes:
        options: options for turning text into instances.
        parts: {index of a part of the corpus: the part} of each part to read.
        shards: paths of the shards. Record i is written to shard i modulo the
            number of shards.
        result_file: path of a JSON file to write when the shards are complete.
        is_evaluation: whether to write the documents that `eval_fraction` holds
            out, instead of the others.
    """

    options: InstanceOptions
    parts: dict[int, CorpusPart]
    shards: list[str]
    result_file: str
    is_evaluation: bool = False

    def write_shards(self) -> None:
        """Writes the shards, and then the result file.

        The result file contains the sizes and checksums of the shards, and
        counts of the text and of the instances.
        """
        options = self.options
        reader = DocumentReader(load_text_encoder(options))
        if self.is_evaluation:
            options = dataclasses.replace(
                options, dynamic_masking=False, dupe_factor=1
            )
        encoder = InstanceEncoder(reader.vocabulary, options)
        groups = self._read_shuffled_groups(reader)
        with tfrecords.RecordWriter(self.shards) as writer:
            for record in _create_all_records(groups, encoder):
                writer.write(record)
        counts = dict(reader.counts)
        if not self.is_evaluation:  # Only training instances are counted.
            counts["num_instances"] = encoder.num_instances
            counts["num_pieces"] = encoder.num_wordpieces
        result: UnitResult = {"shards": writer.list_shards(), "counts": counts}
        write_json(self.result_file, result)

    def _read_shuffled_groups(
        self, reader: DocumentReader
    ) -> Iterator[_DocumentGroup]:
        """Yields groups of documents that fit into memory."""
        for name, documents in self._read_documents(reader).items():
            rng = random.Random(f"{self.options.random_seed}/{name}")
            for group in _group_documents(documents):
                shuffle(group, rng)
                yield _DocumentGroup(group, rng)

    def _read_documents(
        self, reader: DocumentReader
    ) -> dict[int | str, Iterator[Document]]:
        """Returns {index of a part: its documents that the unit writes}.

        The index of a part sets the random draws for the part. The evaluation
        set is small, so all its documents are one part, "eval".

        A document is held out if the CRC-32 of its text, modulo 10,000, is
        below 10,000 times `eval_fraction`. So the choice depends only on the
        text.
        """
        limit = self.options.eval_fraction * _NUM_HASHES

        def is_wanted(checksum: int) -> bool:
            is_held_out = checksum % _NUM_HASHES < limit
            return is_held_out == self.is_evaluation

        documents: dict[int | str, Iterator[Document]] = {
            part_index: reader.read(part, is_wanted, _MAX_CHARACTERS)
            for part_index, part in self.parts.items()
        }
        if self.is_evaluation:
            return {"eval": itertools.chain.from_iterable(documents.values())}
        return documents


def _group_documents(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yields lists of documents that fit into memory."""
    group = []
    num_wordpieces = 0
    for document in documents:
        group.append(document)
        num_wordpieces += sum(map(len, document))
        if num_wordpieces >= _MAX_WORDPIECES:
            yield group
            group = []
            num_wordpieces = 0
    if group:
        yield group


def _create_all_records(
    groups: Iterable[_DocumentGroup], encoder: InstanceEncoder
) -> Iterator[bytes]:
    """Yields the records of all groups, one group after the other."""
    previous: list[Document] = []
    for group in groups:
        # The random next sentences of a single document come from the group
        # before it.
        lent = previous if len(group.documents) == 1 else []
        yield from _create_records_of_group(group, lent, encoder)
        previous = group.documents


def _create_records_of_group(
    group: _DocumentGroup, lent: Sequence[Document], encoder: InstanceEncoder
) -> Iterator[bytes]:
    """Yields the records of a group of documents, in random order.

    The documents in `lent` only provide random next sentences.
    """
    documents, rng = group
    available = [*documents, *lent]
    creator = InstanceCreator(encoder.vocabulary, encoder.options, rng)
    batch: list[bytes] = []
    num_bytes = 0
    for _ in range(encoder.options.dupe_factor):
        for index in range(len(documents)):
            created = creator.create_instances_from_document(available, index)
            encoded = [*map(encoder.encode_and_count, created)]
            batch += encoded
            num_bytes += sum(map(len, encoded))
        if num_bytes > _MAX_RECORD_BYTES:
            shuffle(batch, rng)
            yield from batch
            batch = []
            num_bytes = 0
    shuffle(batch, rng)
    yield from batch
