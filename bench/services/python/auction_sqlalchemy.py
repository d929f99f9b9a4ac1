"""An auction: the highest bid wins (SQLAlchemy's ORM). Each bid also counts a view of the lot, and a lost view does not
matter."""

import os

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from service import VARIANT, at_once

engine = sa.create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:"))


class Base(DeclarativeBase):
    pass


class Lot(Base):
    __tablename__ = "lot"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    views: Mapped[int]
    price: Mapped[int]
    bidder: Mapped[str | None]


def bid(bidder, price):
    with Session(engine) as session, session.begin():
        lot = session.get(Lot, 1, with_for_update=VARIANT == "right")
        if VARIANT == "wrong":  # locks the row, and goes on with what was read before
            session.execute(sa.select(Lot.id).where(Lot.id == 1).with_for_update())
        lot.views += 1
        if price > lot.price:
            lot.price, lot.bidder = price, bidder


Base.metadata.create_all(engine)
with Session(engine) as session, session.begin():
    session.add(Lot(id=1, title="clock", views=0, price=100, bidder=None))
at_once(lambda: bid("ada", 120), lambda: bid("bob", 110))
with Session(engine) as session:
    lot = session.get(Lot, 1)
    assert (lot.bidder, lot.price) == ("ada", 120), f"ada bid 120, but {lot.bidder} won with {lot.price}"
engine.dispose()
