"""Lists the tasks of exported models. base.py documents their methods."""

from serving.tasks.answer import Answer
from serving.tasks.base import TextTask
from serving.tasks.rerank import Rerank
from serving.tasks.tag import Tag
from serving.tasks.texts import Classify, Embed
from serving.tasks.words import FillMask, NextSentence

# {class of the model: tasks that the model supports, the main task first}.
TASKS: dict[str, tuple[type[TextTask], ...]] = {
    "BertPretrainer": (FillMask, NextSentence),
    "BertClassifier": (Classify, Rerank),
    "BertSpanLabeler": (Answer,),
    "BertTokenClassifier": (Tag,),
    "BertModel": (Embed,),
}
