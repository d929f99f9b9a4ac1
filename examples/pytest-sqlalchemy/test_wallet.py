"""What a wallet promises, also when two devices pay at the same time."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from wallet import ENGINE, Account, Base, Payment, Refused, pay_and_try_again


@pytest.fixture(autouse=True)
def alice():
    Base.metadata.drop_all(ENGINE)
    Base.metadata.create_all(ENGINE)
    with Session(ENGINE) as session, session.begin():
        session.add(Account(id=1, owner="alice", balance=100))


def paid_and_left() -> tuple[int, int]:
    with Session(ENGINE) as session:
        paid = session.scalar(select(func.coalesce(func.sum(Payment.amount), 0)))
        return paid, session.get(Account, 1).balance


def test_a_payment_is_taken_from_the_balance():
    pay_and_try_again(1, 30)
    assert paid_and_left() == (30, 70)


def test_nobody_pays_more_than_there_is():
    with pytest.raises(Refused):
        pay_and_try_again(1, 101)
    assert paid_and_left() == (0, 100)


def test_two_devices_pay_at_the_same_time():
    def device(amount):
        try:
            pay_and_try_again(1, amount)
        except Refused:
            pass

    with ThreadPoolExecutor() as devices:
        list(devices.map(device, [60, 70]))
    paid, left = paid_and_left()
    assert paid + left == 100, f"100 were there, {paid} were paid, {left} are left"
