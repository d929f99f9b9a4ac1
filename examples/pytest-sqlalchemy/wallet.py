"""Accounts, and money that moves between them. SQLAlchemy's ORM, nothing unusual."""

import os

from sqlalchemy import CheckConstraint, ForeignKey, create_engine, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

ENGINE = create_engine(os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+psycopg://"), pool_size=10)


class Base(DeclarativeBase):
    pass


class Account(Base):
    __tablename__ = "accounts"
    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str]
    balance: Mapped[int]


class Payment(Base):
    __tablename__ = "payments"
    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    amount: Mapped[int] = mapped_column(CheckConstraint("amount > 0"))


class Refused(Exception):
    """There is not enough money."""


def pay(account_id: int, amount: int) -> None:
    """Takes money from an account. With WALLET_FIX=for-update it locks the account first."""
    query = select(Account).where(Account.id == account_id)
    if os.environ.get("WALLET_FIX") == "for-update":
        query = query.with_for_update()
    with Session(ENGINE) as session, session.begin():
        account = session.scalars(query).one()
        if account.balance < amount:
            raise Refused(account.owner)
        account.balance -= amount
        session.add(Payment(account_id=account_id, amount=amount))


def pay_and_try_again(account_id: int, amount: int) -> None:
    """Pays, and starts again when the database asks for it (40001, 40P01)."""
    while True:
        try:
            return pay(account_id, amount)
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) not in ("40001", "40P01"):
                raise
