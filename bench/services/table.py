"""What was measured, as a table, and compared with `truth.json` and with the goals."""

import re
import statistics

HEAD = """# Services: what `skew test` finds, explains and advises

Made by `bench/services/run.py --save`. Every service is there three times: buggy, fixed rightly, and fixed wrongly but
plausibly. *found in run* has a number per seed; *PostgreSQL* is the buggy service in a loop on a real PostgreSQL, for as long
as the campaign took with its explanation; *time per run* is that of the correct service, its median on Skew beside that on
PostgreSQL.

| service | about | found in run | explained after | PostgreSQL | cause | advice | wrong fix found in run | correct: runs passed | time per run |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def of(kept, truth):
    """The table, and whether a goal is missed."""
    lines = [line(name, kept[name], truth[name]) for name in kept]
    goals, missed = goals_of(kept, truth)
    return HEAD + "\n".join(lines) + "\n\n" + goals + "\n", missed


def line(name, row, truth):
    first = row["buggy"][0]
    loop = row.get("postgres")
    cells = [
        name, f"{truth['kind']} ({truth['uses']})", numbers(row["buggy"]), f"{first['seconds']:.1f} s",
        f"{loop['failed']} of {loop['runs']} runs failed" if loop else "",
        judged(cause_is_right(first, truth), f"{first.get('cause', '')} of {', '.join(first.get('cells', []))}"),
        judged(advice_is_right(first, truth), "<br>".join(first.get("fixes", [])) or "none tried"),
        numbers(row["wrong"]), alarms(row["right"]), times(row),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def judged(is_right, text):
    return text if is_right else f"**wrong:** {text}"


def numbers(campaigns):
    return ", ".join(str(one["found"]) if one["found"] else f"**not in {one['runs']}**" for one in campaigns)


def alarms(campaigns):
    found = [one for one in campaigns if one["code"] != 0]
    passed = sum(one["runs"] for one in campaigns if one["code"] == 0)
    return f"**{len(found)} alarms**" if found else str(passed)


def times(row):
    loop = row.get("postgres")
    ours = statistics.median(ms for one in row["right"] for ms in one["ms"] or [0])
    return f"{ours:.0f} ms / {statistics.median(loop['ms']):.0f} ms" if loop else f"{ours:.0f} ms"


def cause_is_right(first, truth):
    """The kind is right, and the story is about cells that matter and about nothing else."""
    cells = first.get("cells", [])
    return first.get("cause") in truth["cause"] and bool(cells) and all(cell in truth["cells"] for cell in cells)


def advice_is_right(first, truth):
    """Every change that is advised would do, and there is one."""
    def is_right(fix):
        matches = lambda patterns: any(re.search(pattern, fix, re.IGNORECASE | re.DOTALL) for pattern in patterns)
        return matches(truth["right"]) and not matches(truth["wrong"])
    fixes = first.get("fixes", [])
    return bool(fixes) and all(is_right(fix) for fix in fixes)


def goals_of(kept, truth):
    buggy = [one for row in kept.values() for one in row["buggy"]]
    wrong = [one for row in kept.values() for one in row["wrong"]]
    right = [one for row in kept.values() for one in row["right"]]
    found = [one["found"] or one["runs"] + 1 for one in buggy + wrong]
    firsts = [(row["buggy"][0], truth[name]) for name, row in kept.items()]
    ratios = [statistics.median(ms for one in row["right"] for ms in one["ms"] or [0]) / statistics.median(row["postgres"]["ms"])
              for row in kept.values() if row.get("postgres")]
    loops = [row["postgres"] for row in kept.values() if row.get("postgres")]
    count = max(len(kept), 1)
    goals = [
        share("bugs found", sum(one["found"] is not None for one in buggy), len(buggy), 1.0),
        share("wrong fixes caught", sum(one["found"] is not None for one in wrong), len(wrong), 1.0),
        share("cause right", sum(cause_is_right(*first) for first in firsts), count, 1.0),
        share("advice right, and nothing wrong beside it", sum(advice_is_right(*first) for first in firsts), count, 0.95),
        share("campaigns of correct services without an alarm", sum(one["code"] == 0 for one in right), len(right), 1.0),
        limit("first failure on average in run", statistics.mean(found or [0]), 3),
        share("first failures within 10 runs", sum(number <= 10 for number in found), len(found), 0.95),
    ]
    if ratios:
        goals.append(limit("time per run beside PostgreSQL: median over the services, times", statistics.median(ratios), 1.5))
        goals.append((f"services with runs of more than 1.5 times the time on PostgreSQL: {sum(r > 1.5 for r in ratios)} of "
                      f"{len(ratios)}, the slowest {max(ratios):.2f}", True))
        goals.append((f"PostgreSQL showed {sum(one['failed'] > 0 for one in loops)} of {len(loops)} bugs in the same time; "
                      f"{sum(one['right_failed'] for one in loops)} runs of correct services failed there", True))
    text = "\n".join(f"- {words}{'' if is_met else ' **(missed)**'}" for words, is_met in goals)
    return text, not all(is_met for _, is_met in goals)


def share(words, part, whole, goal):
    return f"{words}: {part} of {whole} (goal {goal:.0%})", part >= goal * whole


def limit(words, value, goal):
    return f"{words}: {value:.2f} (goal {goal})", value <= goal
