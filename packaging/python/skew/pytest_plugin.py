"""The pytest plugin: tests that are repeated on a weak database until weak isolation breaks them.

    @pytest.mark.skew(isolation="read committed", runs=200)
    def test_two_buyers(skew_url): ...

The body runs `runs` times. Before each run the database goes back to the state that the test's fixtures made, with another
seed. If the body fails, the failure's report has Skew's explanation and the seed that repeats it (`SKEW_SEED=17`).
"""

from __future__ import annotations

import inspect
import os

import pytest

from .server import Server

#: Runs of a test, unless its mark says otherwise.
RUNS = 100

def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "skew(isolation=None, runs=100, seed=1, recency='commit', hold=None, allow_serial=False): repeat the test on a "
        "weak database",
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("skew", "Skew: tests on a weak database")
    group.addoption("--skew-runs", type=int, default=None, help="how often tests that are marked `skew` are repeated")
    group.addoption("--skew-seed", type=int, default=None, help="run them once, with this seed (also: SKEW_SEED)")


def _options(item: pytest.Item) -> dict | None:
    mark = item.get_closest_marker("skew")
    if mark is None:
        return None
    known = {"isolation": None, "runs": RUNS, "seed": 1, "recency": "commit", "hold": None, "allow_serial": False}
    unknown = set(mark.kwargs) - set(known)
    if unknown or mark.args:
        what = ", ".join(sorted(unknown)) or "a value without a name"
        raise pytest.UsageError(f"the mark `skew` does not take {what}; it takes {', '.join(known)}")
    return {**known, **mark.kwargs}


@pytest.fixture
def skew_db(request: pytest.FixtureRequest) -> Server:
    """The weak database of this test, empty but for what its fixtures make."""
    options = _options(request.node) or {"isolation": None, "recency": "commit", "hold": None}
    server = Server(options["isolation"], recency=options["recency"], hold=options["hold"])
    request.node._skew_server = server
    yield server
    server.close()


@pytest.fixture
def skew_url(skew_db: Server) -> str:
    """The URL of the weak database of this test."""
    return skew_db.url


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    options = _options(pyfuncitem)
    if options is None:
        return None
    server = getattr(pyfuncitem, "_skew_server", None)
    if server is None:
        raise pytest.UsageError("a test that is marked `skew` uses the fixture `skew_db` or `skew_url`")
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        import asyncio

        def call(**arguments: object) -> None:
            asyncio.run(pyfuncitem.obj(**arguments))
    else:
        call = pyfuncitem.obj
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    config = pyfuncitem.config
    runs = config.getoption("--skew-runs") or options["runs"]
    only = config.getoption("--skew-seed") or os.environ.get("SKEW_SEED")
    seeds = [int(only)] if only else range(options["seed"], options["seed"] + runs)
    for number, seed in enumerate(seeds, 1):
        server.reset(seed)
        try:
            call(**arguments)
        except Exception:
            text = f"run {number} of {len(seeds)} failed; SKEW_SEED={seed} repeats it\n\n{server.explain()}"
            pyfuncitem.add_report_section("call", "skew", text)
            raise
    covered = server.coverage()
    pyfuncitem.add_report_section("call", "skew", covered["text"])
    if covered["overlapping"] == 0 and not only and not options["allow_serial"]:
        pytest.fail(
            f"{len(seeds)} runs passed, but no two transactions overlapped, so nothing was tested: let the test do two "
            "things at the same time, on two connections (allow_serial=True accepts this)",
            pytrace=False,
        )
    return True
