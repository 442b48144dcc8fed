"""Writes two data sets of texts of over 1,000 words, labeled by topic.

    python examples/recipes/long_texts.py SQUAD OUTPUT

SQUAD is a folder that contains train-v1.1.json and dev-v1.1.json. A text
consists of successive paragraphs of one article. Its label is the topic of the
article, from TITLES below. The train and dev sets contain different articles.

    OUTPUT/topics   train.csv and dev.csv
    OUTPUT/beyond   train.csv and dev.csv. A text is more than 520 words of an
                    article without a topic, and then the last 500 words of a
                    text in OUTPUT/topics. So the first 512 WordPieces of a text
                    do not show its topic.
"""

import csv
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

# A text in OUTPUT/topics contains more than LENGTH words. In OUTPUT/beyond, the
# words about the topic follow more than BEFORE other words. A word is at least
# one WordPiece, so both numbers are more than 512 WordPieces.
LENGTH, BEFORE = 1000, 520
TITLES = {
    "place": """Montana New_York_City Portugal Oklahoma_City Boston Nanjing Bern
        Southampton Plymouth Houston Melbourne Valencia Seattle Montevideo
        Detroit Miami Philadelphia Hyderabad San_Diego Kathmandu Paris Alaska
        Tennessee Tucson,_Arizona Richmond,_Virginia Mexico_City London
        Switzerland New_Delhi Warsaw Fresno,_California Newcastle_upon_Tyne""",
    "person": """Beyoncé Frédéric_Chopin Kanye_West Alfred_North_Whitehead
        Arnold_Schwarzenegger Alexander_Graham_Bell Josip_Broz_Tito Virgil
        John,_King_of_England Elizabeth_II Queen_Victoria Napoleon George_VI
        Madonna_(entertainer) Edmund_Burke Pope_Paul_VI Avicenna John_Kerry
        John_von_Neumann Gamal_Abdel_Nasser Karl_Popper Friedrich_Hayek
        Richard_Feynman Muammar_Gaddafi Steven_Spielberg Nikola_Tesla
        Dwight_D._Eisenhower Athanasius_of_Alexandria Martin_Luther""",
    "life": """Antibiotics Dog Genome Symbiosis Bird_migration Brain Gene Bird
        Immunology Biodiversity Digestion Circadian_rhythm Mammal Predation
        Botany Nutrition Tuberculosis Asthma Annelid Insect Diarrhea Bacteria
        Flowering_plant Infection Poultry Pesticide Ctenophora Immune_system
        Chloroplast Pain Memory On_the_Origin_of_Species Myocardial_infarction
        Cotton Wood Pharmacy Animal Grape""",
    "technology": """IPod Solar_energy Computer MP3 Computer_security Xbox_360
        Macintosh Nintendo_Entertainment_System Dell Incandescent_light_bulb
        Electric_motor Capacitor Gramophone_record USB Unicode PlayStation_3
        LaserDisc IBM Elevator Railway_electrification_system Compact_disc
        Transistor Antenna_(radio) Database Printed_circuit_board Windows_8
        Light-emitting_diode Data_compression Software_testing Steam_engine
        Videoconferencing Packet_switching Web_browser ASCII YouTube
        High-definition_television Super_Nintendo_Entertainment_System""",
    "history": """Dutch_Republic Warsaw_Pact Middle_Ages Franco-Prussian_War
        Umayyad_Caliphate Hellenistic_period Korean_War British_Empire
        Late_Middle_Ages Crimean_War Molotov–Ribbentrop_Pact Heian_period
        Dissolution_of_the_Soviet_Union Seven_Years'_War The_Blitz Han_dynasty
        Modern_history Roman_Republic Pacific_War Kievan_Rus' Qing_dynasty
        Ottoman_Empire Samurai Sumer Normans Yuan_dynasty East_India_Company
        French_and_Indian_War History_of_India Black_Death""",
    "religion": """Buddhism Cardinal_(Catholicism) Heresy Christian Canon_law
        Imamah_(Shia_doctrine) Orthodox_Judaism Mary_(mother_of_Jesus) Quran
        Presbyterianism Hindu_philosophy Baptists Crucifixion_of_Jesus God
        Dominican_Order Madrasa Religion_in_ancient_Rome Protestantism
        Jehovah's_Witnesses Immaculate_Conception Huguenot Islamism
        United_Methodist_Church Jews Freemasonry Textual_criticism
        Separation_of_church_and_state_in_the_United_States Pope_John_XXIII""",
}


def join(paragraphs: list[list[str]], length: int) -> Iterator[list[str]]:
    """Joins successive paragraphs into texts of more than `length` words."""
    words: list[str] = []
    for paragraph in paragraphs:
        words = words + paragraph
        if len(words) > length:
            yield words
            words = []


def main() -> None:
    """Writes the data sets, and prints the number of texts in each file."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, output = map(Path, sys.argv[1:])
    # {title of an article: its paragraphs, each a list of words}
    articles = {
        entry["title"]: [x["context"].split() for x in entry["paragraphs"]]
        for name in ("train-v1.1.json", "dev-v1.1.json")
        for entry in json.loads((source / name).read_text("utf-8"))["data"]
    }
    draw = random.Random(1)
    topics = {
        title: topic for topic, text in TITLES.items() for title in text.split()
    }
    others = sorted(articles.keys() - topics.keys())
    draw.shuffle(others)
    # {name of a set: titles of its articles that are about a topic}
    titles: dict[str, list[str]] = {"train": [], "dev": []}
    for text in TITLES.values():
        group = text.split()
        draw.shuffle(group)
        titles["dev"] += group[::4]
        titles["train"] += [t for n, t in enumerate(group) if n % 4]
    sets = {
        "dev": others[::4],
        "train": [t for n, t in enumerate(others) if n % 4],
    }
    for name in titles:
        rows = [
            (words, topics[title])
            for title in titles[name]
            for words in join(articles[title], LENGTH)
        ]
        before = [
            words
            for title in sets[name]
            for words in join(articles[title], BEFORE)
        ]
        draw.shuffle(before)
        late = [
            (start + words[-LENGTH // 2 :], label)
            for start, (words, label) in zip(before, rows, strict=False)
        ]
        for kind, found in (("topics", rows), ("beyond", late)):
            (output / kind).mkdir(parents=True, exist_ok=True)
            path = output / kind / f"{name}.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["text", "label"])
                writer.writerows((" ".join(w), label) for w, label in found)
            print(f"{path}: {len(found)} texts")


if __name__ == "__main__":
    main()
