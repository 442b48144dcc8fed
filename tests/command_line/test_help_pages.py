"""The groups of flags that --help shows."""

from command_line import help_pages


def test_a_flag_that_most_commands_need_has_a_section():
    assert help_pages.section_of("data_dir") == "data"
    assert help_pages.section_of("learning_rate") == "training"


def test_a_flag_is_in_one_section():
    names = [
        name for names in help_pages.FLAGS_OF_SECTION.values() for name in names
    ]
    assert len({*names}) == len(names)
    for title, names in help_pages.FLAGS_OF_SECTION.items():
        assert {help_pages.section_of(name) for name in names} == {title}


def test_any_other_flag_is_one_of_more():
    assert help_pages.section_of("bilstm") == "more"
