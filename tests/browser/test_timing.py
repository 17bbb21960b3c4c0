"""Times measured in the page: idle time and hidden tabs are taken out, and each step is counted apart."""

from __future__ import annotations

from helpers.browser_driving import Open, Server

STOPWATCH = """async () => {
  const { Stopwatch, IDLE } = await import("/static/js/core/stopwatch.js");
  let now = 0;
  const page = Object.assign(new EventTarget(), { hidden: false });
  const watch = new Stopwatch({ now: () => now, page });
  const at = (seconds, event) => { now = seconds * 1000; if (event) page.dispatchEvent(new Event(event)); };
  const laps = [];
  watch.start();
  at(5, "keydown"); at(8);
  laps.push(watch.lap());                                   // 8: working
  at(12, "pointermove"); at(3612, "keydown"); at(3613);
  laps.push(watch.lap());                                   // 4 + IDLE + 1: an hour away
  at(3615); page.hidden = true; at(3615, "visibilitychange");
  at(3900); page.hidden = false; at(3900, "visibilitychange");
  at(3903);
  laps.push(watch.lap());                                   // 2 + 3: hidden in between
  watch.close();
  return [laps, IDLE];
}"""


def test_stopwatch(shared: Server, visit: Open) -> None:
    laps, idle = visit(shared).page.evaluate(STOPWATCH)
    assert laps == [8, 5 + idle, 5]


def test_each_step_is_timed(shared: Server, visit: Open) -> None:
    driver = visit(shared)
    page = driver.page
    sent: list[dict[str, object]] = []
    page.on(
        "request", lambda request: sent.append(request.post_data_json) if request.url.endswith("/answers") else None
    )
    document = shared.id_of("team")
    driver.go(f"annotate/{document}")
    page.locator(f"body[data-page='annotate/{document}']").wait_for()
    page.get_by_role("button", name="Begin").wait_for()
    page.wait_for_timeout(400)
    driver.press("Enter")
    page.locator(".panel[data-question]").wait_for()
    page.wait_for_timeout(300)
    driver.press("n")
    page.wait_for_timeout(500)
    driver.answered("f")
    driver.answered("y")
    first, second = (body["timing"] for body in sent)
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert first["reading"] >= 0.3
    assert first["initial"] >= 0.2
    assert first["follow_up"] >= 0.4
    assert second["reading"] is None
    assert second["follow_up"] is None
    assert second["initial"] > 0
    assert shared.history(document)[1]["seconds"] >= first["initial"] + first["follow_up"]
