"""After a no, everything that could be the answer is still there, in one step where the model thought of it."""

from __future__ import annotations

from helpers.browser_driving import Driver, Open, Server

ROWS = ".entity-list [role=option]"


def fresh_question(driver: Driver, document: int) -> dict[str, object]:
    """The first question of the document that has at least three possible entities."""
    driver.annotate(document)
    while True:
        question: dict[str, object] = driver.server.get(f"/next?document={document}")["question"]
        why = question["why"]
        assert isinstance(why, dict)
        if len(why["entities"]) >= 3:
            return question
        driver.answered("u")


def test_a_row_of_the_reasons_is_the_answer(shared: Server, visit: Open) -> None:
    document = shared.id_of("instead")
    driver = visit(shared)
    for by_mouse in (False, True):
        question = fresh_question(driver, document)
        chances = question["why"]["entities"]  # type: ignore[index]
        place = next(place for place, chance in enumerate(chances) if chance["span"] and not chance["asked"])
        if by_mouse:
            before = driver.question
            driver.page.locator(".why .row-choice").nth(place).click()
            driver.page.wait_for_function("b => document.querySelector('.panel').dataset.question !== b", arg=before)
        else:
            driver.answered(str(place + 1))
        answer = shared.history(document)[0]["answer"]
        assert (answer["same"], answer["reply"], answer["span"]) == (None, "antecedent", chances[place]["span"])
    question = fresh_question(driver, document)
    chances = question["why"]["entities"]  # type: ignore[index]
    place = next(place for place, chance in enumerate(chances) if chance["asked"])
    driver.answered(str(place + 1))
    assert shared.history(document)[0]["answer"]["same"] is True


def test_nothing_useful_vanishes_after_no(shared: Server, visit: Open) -> None:
    document = shared.id_of("finder")
    driver = visit(shared)
    question = fresh_question(driver, document)
    known = shared.get(f"/documents/{document}/entities")
    driver.press("n")
    driver.page.locator(ROWS).first.wait_for()
    chances = [chance for chance in question["why"]["entities"] if chance["span"]]  # type: ignore[index]
    offered = driver.page.locator(ROWS).count()
    assert offered >= len([chance for chance in chances if not chance["asked"]])
    likeliest = next(chance for chance in chances if not chance["asked"])
    assert f"{100 * likeliest['probability']:.0f} %" in driver.page.locator(ROWS).first.inner_text()
    assert known["mentions"], "spans in no entity are offered too"

    driver.press("/")
    driver.page.keyboard.type("the")
    texts = driver.page.locator(ROWS).all_inner_texts()
    assert texts
    plain = driver.page.locator(f"{ROWS} .plain")
    assert plain.count(), "any earlier text can be named by typing it"
    words = plain.first.inner_text()
    before = driver.question
    plain.first.click()
    driver.page.wait_for_function("b => document.querySelector('.panel').dataset.question !== b", arg=before)
    newest = shared.history(document)[0]
    assert newest["answer"]["reply"] == "antecedent"
    assert words in newest["texts"]


def test_what_was_rejected_is_not_offered_and_choosing_it_is_a_contradiction(shared: Server, visit: Open) -> None:
    document = shared.id_of("rejected")
    driver = visit(shared)
    question = fresh_question(driver, document)
    antecedent = driver.marked("antecedent")
    assert antecedent is not None
    assert antecedent.width > 1
    driver.press("n")
    driver.page.locator(ROWS).first.wait_for()
    asked = next(chance for chance in question["why"]["entities"] if chance["asked"])  # type: ignore[index]
    driver.press("/")
    driver.page.keyboard.type(asked["first"])
    for row in driver.page.locator(ROWS).all():
        assert row.get_attribute("id")
        row.hover()
        assert driver.page.locator(f".t.shown[data-i='{antecedent.start}']").count() == 0
    driver.page.get_by_role("combobox").fill("")
    driver.press("Escape")
    driver.token(antecedent.start).click()
    assert driver.marked("chosen") == antecedent, "a click takes all of it, not one word of it"
    driver.press("Escape")
    driver.choose(antecedent)
    driver.press("Enter")
    dialog = driver.page.get_by_role("dialog")
    dialog.get_by_role("heading", name="This contradicts your No").wait_for()
    driver.press("Escape")
    dialog.wait_for(state="detached")
    assert shared.history(document) == [], "nothing was said yet"
    driver.press("Enter")
    dialog.wait_for()
    driver.answered("y")
    assert shared.history(document)[0]["answer"]["same"] is True
