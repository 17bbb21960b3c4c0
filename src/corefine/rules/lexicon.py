"""The closed word classes of English that the rules look at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traits:
    """Grammatical person, number and gender; None is "could be any".

    gender    "f", "m", or "n" for things
    """

    person: int
    plural: bool | None
    gender: str | None

    def agrees(self, other: Traits) -> bool:
        """Whether both can speak of one entity."""
        number = self.plural is None or other.plural is None or self.plural == other.plural
        gender = self.gender is None or other.gender is None or self.gender == other.gender
        return number and gender


def _group(traits: Traits, words: str) -> dict[str, Traits]:
    return dict.fromkeys(words.split(), traits)


PRONOUNS: dict[str, Traits] = {
    **_group(Traits(1, False, None), "i me my mine myself"),
    **_group(Traits(1, True, None), "we us our ours ourselves"),
    **_group(Traits(2, None, None), "you your yours yourself yourselves"),
    **_group(Traits(3, False, "m"), "he him his himself"),
    **_group(Traits(3, False, "f"), "she her hers herself"),
    **_group(Traits(3, False, "n"), "it its itself"),
    **_group(Traits(3, None, None), "they them their theirs themselves themself"),
}

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
