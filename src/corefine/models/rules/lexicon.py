"""The closed word classes of English that the rules look at."""

from __future__ import annotations

from corefine.scores.pronouns import ENGLISH, Pronoun

Traits = Pronoun
"""Person, number and gender, of nouns and names as well; None is "could be any"."""

PRONOUNS: dict[str, Traits] = {
    # "They" may speak of one person; clitics like 's are too ambiguous for rules.
    word: traits._replace(number=None) if traits[:2] == (3, "plural") else traits
    for word, traits in ENGLISH.items()
    if "'" not in word
}


def agree(a: Traits, b: Traits) -> bool:
    """Whether both can speak of one entity, as far as number and gender tell."""
    return all(x is None or y is None or x == y for x, y in zip(a[1:], b[1:], strict=True))


DETERMINERS = frozenset(
    "the a an this that these those my your his her its our their some every each no any another".split()
)

TITLES = frozenset(
    "mr mr. mrs mrs. ms ms. miss dr dr. prof prof. professor captain judge sir lady lord madam inspector doctor "
    "sister brother father mother aunt uncle king queen prince princess president".split()
)

FEMALE = frozenset(
    "mrs mrs. ms ms. miss lady madam queen princess sister mother aunt woman girl daughter wife grandmother widow "
    "niece actress waitress hostess landlady".split()
)

MALE = frozenset(
    "mr mr. sir lord king prince brother father uncle man boy son husband grandfather widower nephew actor waiter "
    "landlord".split()
)

FUNCTION_WORDS = frozenset(
    """
    and or but nor so yet for of in on at by to from with without into onto over under after before behind between
    through during about against among around as than if when while because although though since until unless
    whether where why how who whom whose which what that not never always there here then now once just only even
    also too very is are was were be been being am do does did done has have had having will would shall should
    can could may might must let said says say asked answered went came took gave made saw knew thought told got
    put yes no oh well please
    """.split()
)
