"""The plugin on a small shop: a lost update is found and explained, a lock makes it pass, a serial test proves nothing."""

pytest_plugins = ["pytester"]

SHOP = '''
import threading
import psycopg
import pytest

@pytest.fixture
def shop(skew_url):
    with psycopg.connect(skew_url, autocommit=True) as setup:
        setup.execute("CREATE TABLE products (id int PRIMARY KEY, stock int NOT NULL)")
        setup.execute("INSERT INTO products VALUES (1, 1)")
    return skew_url

@pytest.mark.skew(isolation="read committed", runs=100)
def test_the_last_one_is_sold_once(shop):
    sold = []

    def buy():
        with psycopg.connect(shop) as db:
            (stock,) = db.execute("SELECT stock FROM products WHERE id = 1LOCK").fetchone()
            if stock > 0:
                db.execute("UPDATE products SET stock = %s WHERE id = 1", (stock - 1,))
                sold.append(1)

    buyers = [threading.Thread(target=buy) for _ in range(2)]
    [buyer.start() for buyer in buyers]
    [buyer.join() for buyer in buyers]
    assert len(sold) == 1
'''


def test_a_lost_update_is_found_and_explained(pytester):
    pytester.makepyfile(SHOP.replace("LOCK", ""))
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*SKEW_SEED=*repeats it*", "*violated[[]lost-update]*", "*UPDATE products SET stock*"])


def test_a_lock_passes_every_run_in_time(pytester):
    pytester.makepyfile(SHOP.replace("LOCK", " FOR UPDATE"))
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1)
    assert result.duration < 60


def test_a_test_that_does_one_thing_at_a_time_proves_nothing(pytester):
    pytester.makepyfile(SHOP.replace("LOCK", "").replace("[buyer.start() for", "[(buyer.start(), buyer.join()) for"))
    result = pytester.runpytest_subprocess("--skew-runs", "3")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no two transactions overlapped, so nothing was tested*"])


def test_a_mark_that_is_misspelled_is_refused(pytester):
    pytester.makepyfile(SHOP.replace("LOCK", "").replace("isolation=", "isolaton="))
    result = pytester.runpytest_subprocess()
    assert "does not take isolaton" in result.stdout.str() + result.stderr.str()
