"""SQLAlchemy 2: an ORM with relationships of every kind, queries with joins and aggregates, reflection."""

import datetime as dt
import decimal
import enum
import os
import sys
import uuid
from typing import Optional

from sqlalchemy import (JSON, CheckConstraint, Column, DateTime, Enum, ForeignKey, Index, Integer, MetaData, Numeric, String,
                        Table, UniqueConstraint, and_, case, create_engine, delete, exists, func, inspect, insert, or_, select,
                        text, tuple_, update)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, UUID
from sqlalchemy.dialects.postgresql import insert as pg_insert
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.orm import (DeclarativeBase, Mapped, Session, aliased, joinedload, mapped_column, relationship, selectinload,
                            subqueryload)

url = "postgresql+psycopg://{PGUSER}@{PGHOST}:{PGPORT}/{PGDATABASE}".format(**os.environ)
engine = create_engine(url)


class Base(DeclarativeBase):
    pass


class Status(enum.Enum):
    open = "open"
    paid = "paid"


book_tag = Table("book_tag", Base.metadata,
                 Column("book_id", ForeignKey("book.id", ondelete="CASCADE"), primary_key=True),
                 Column("tag_id", ForeignKey("tag.id"), primary_key=True))


class Author(Base):
    __tablename__ = "author"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(50), unique=True)
    born: Mapped[Optional[dt.date]]
    mentor_id: Mapped[Optional[int]] = mapped_column(ForeignKey("author.id"))
    mentor: Mapped[Optional["Author"]] = relationship(remote_side=[id], back_populates="pupils")
    pupils: Mapped[list["Author"]] = relationship(back_populates="mentor")
    books: Mapped[list["Book"]] = relationship(back_populates="author", cascade="all, delete-orphan", order_by="Book.title")


class Book(Base):
    __tablename__ = "book"
    __table_args__ = (UniqueConstraint("author_id", "title", name="book_once"), CheckConstraint("price >= 0", name="price_check"),
                      Index("book_title", "title"))
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    price: Mapped[decimal.Decimal] = mapped_column(Numeric(10, 2), server_default="0")
    author_id: Mapped[int] = mapped_column(ForeignKey("author.id", ondelete="CASCADE"))
    author: Mapped[Author] = relationship(back_populates="books")
    tags: Mapped[list["Tag"]] = relationship(secondary=book_tag, back_populates="books", order_by="Tag.name")
    created: Mapped[dt.datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    status: Mapped[Status] = mapped_column(Enum(Status, name="status"), default=Status.open)
    data: Mapped[Optional[dict]] = mapped_column(JSONB)
    words: Mapped[list[str]] = mapped_column(ARRAY(String), default=list)
    key: Mapped[uuid.UUID] = mapped_column(UUID(as_uuid=True), default=uuid.uuid4)


class Tag(Base):
    __tablename__ = "tag"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    books: Mapped[list[Book]] = relationship(secondary=book_tag, back_populates="tags")


def check(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def tables_are_made():
    Base.metadata.create_all(engine)
    Base.metadata.create_all(engine)


def objects_are_saved():
    with Session(engine) as session:
        ann = Author(name="ann", born=dt.date(1980, 5, 17))
        bob = Author(name="bob", mentor=ann)
        red, blue = Tag(name="red"), Tag(name="blue")
        ann.books = [Book(title="one", price=decimal.Decimal("9.99"), tags=[red, blue], data={"pages": 10, "in": ["a"]}),
                     Book(title="two", price=5, tags=[blue], words=["x", "y"], status=Status.paid)]
        bob.books = [Book(title="three", price=20)]
        session.add_all([ann, bob])
        session.commit()
        check(ann.books[0].created.tzinfo is not None, True)
        check(bob.mentor.name, "ann")


def relationships_are_loaded():
    for load in (joinedload, selectinload, subqueryload):
        with Session(engine) as session:
            authors = session.scalars(select(Author).options(load(Author.books), load(Author.pupils)).order_by(Author.id)).unique().all()
            check([(a.name, [b.title for b in a.books], [p.name for p in a.pupils]) for a in authors],
                  [("ann", ["one", "two"], ["bob"]), ("bob", ["three"], [])])
    with Session(engine) as session:
        book = session.scalars(select(Book).where(Book.title == "one")).one()
        check([tag.name for tag in book.tags], ["blue", "red"])
        check((book.data, book.price, book.author.name, book.status), ({"pages": 10, "in": ["a"]}, decimal.Decimal("9.99"), "ann", Status.open))


def queries_are_answered():
    with Session(engine) as session:
        rows = session.execute(select(Author.name, func.count(Book.id), func.sum(Book.price)).join(Book)
                               .group_by(Author.name).having(func.count(Book.id) > 0).order_by(Author.name)).all()
        check([tuple(row) for row in rows], [("ann", 2, decimal.Decimal("14.99")), ("bob", 1, decimal.Decimal("20.00"))])
        check(session.scalars(select(Book.title).where(Book.data["pages"].as_integer() == 10)).all(), ["one"])
        check(session.scalars(select(Book.title).where(Book.words.contains(["x"]))).all(), ["two"])
        check(session.scalars(select(Book.title).where(or_(Book.title.like("t%"), Book.price < 6)).order_by(Book.title)).all(), ["three", "two"])
        pupil = aliased(Author)
        check(session.execute(select(Author.name, pupil.name).join(pupil, pupil.mentor_id == Author.id)).all(), [("ann", "bob")])
        rank = func.rank().over(order_by=Book.price.desc())
        check(session.execute(select(Book.title, rank).order_by(rank)).all(), [("three", 1), ("one", 2), ("two", 3)])
        dear = select(Book.author_id).where(Book.price > 10).cte("dear")
        check(session.scalars(select(Author.name).where(Author.id.in_(select(dear.c.author_id)))).all(), ["bob"])
        label = case((Book.price > 8, "dear"), else_="cheap")
        check(sorted(session.scalars(select(label))), ["cheap", "dear", "dear"])
        check(session.scalar(select(exists().where(Book.status == Status.paid))), True)
        check(session.scalars(select(Book.title).where(tuple_(Book.title, Book.price).in_([("two", 5)]))).all(), ["two"])
        check(session.scalars(select(Tag.name).where(~Tag.books.any(Book.title == "one"))).all(), [])
        check(session.scalars(select(Book.title).order_by(Book.title).limit(1).offset(1)).all(), ["three"])
        check(session.scalar(select(func.count()).select_from(select(Book).distinct(Book.author_id).subquery())), 2)
        tree = select(Author.id, Author.name).where(Author.mentor_id.is_(None)).cte("tree", recursive=True)
        tree = tree.union_all(select(Author.id, Author.name).join(tree, Author.mentor_id == tree.c.id))
        check(session.scalars(select(tree.c.name).order_by(tree.c.name)).all(), ["ann", "bob"])


def objects_are_changed():
    with Session(engine) as session:
        two = session.scalars(select(Book).where(Book.title == "two").with_for_update()).one()
        two.price += 1
        two.tags.append(session.scalars(select(Tag).where(Tag.name == "red")).one())
        session.flush()
        check(session.scalar(select(Book.price).where(Book.id == two.id)), decimal.Decimal("6.00"))
        session.commit()
        session.execute(update(Book).where(Book.author.has(Author.name == "bob")).values(price=Book.price * 2))
        session.execute(insert(Book).returning(Book.id), [{"title": f"b{i}", "author_id": 1, "words": []} for i in range(30)])
        session.execute(delete(Book).where(Book.title.like("b%")))
        upsert = pg_insert(Tag).values([{"name": "red"}, {"name": "green"}]).on_conflict_do_nothing(index_elements=["name"])
        check(len(session.execute(upsert.returning(Tag.name)).all()), 1)
        upsert = pg_insert(Author).values(name="bob")
        upsert = upsert.on_conflict_do_update(constraint="author_name_key", set_={"born": dt.date(2000, 1, 1)})
        session.execute(upsert)
        session.commit()
        check(session.scalar(select(Author.born).where(Author.name == "bob")), dt.date(2000, 1, 1))


def mistakes_are_told():
    with Session(engine) as session:
        session.add(Author(name="ann"))
        try:
            session.commit()
            raise AssertionError("ann twice")
        except IntegrityError as error:
            check(error.orig.diag.constraint_name, "author_name_key")
        session.rollback()
        with session.begin_nested() as savepoint:
            session.add(Tag(name="later gone"))
            session.flush()
            savepoint.rollback()
        check(session.scalars(select(Tag.name).order_by(Tag.name)).all(), ["blue", "green", "red"])
        try:
            session.execute(text("SELECT * FROM nowhere"))
            raise AssertionError("nowhere")
        except ProgrammingError:
            session.rollback()


def orphans_are_deleted():
    with Session(engine) as session:
        ann = session.scalars(select(Author).where(Author.name == "ann")).one()
        ann.books.pop(0)
        session.commit()
        check(session.scalars(select(Book.title).order_by(Book.title)).all(), ["three", "two"])
        session.delete(session.scalars(select(Author).where(Author.name == "bob")).one())
        session.commit()
        check(session.scalars(select(Book.title)).all(), ["two"])


def schemas_are_reflected():
    with engine.begin() as connection:
        connection.execute(text("CREATE SCHEMA other"))
        connection.execute(text("CREATE TABLE other.thing (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int DEFAULT 7, "
                                "twice int GENERATED ALWAYS AS (n * 2) STORED, author int REFERENCES public.author ON DELETE SET NULL)"))
        connection.execute(text("CREATE VIEW titles AS SELECT title FROM book"))
        connection.execute(text("COMMENT ON TABLE book IS 'what is read'"))
        connection.execute(text("CREATE INDEX part ON book (lower(title)) WHERE price > 1"))
    found = inspect(engine)
    check(sorted(found.get_table_names()), ["author", "book", "book_tag", "tag"])
    check(found.get_view_names(), ["titles"])
    check(found.get_table_names(schema="other"), ["thing"])
    check([c["name"] for c in found.get_columns("book")],
          ["id", "title", "price", "author_id", "created", "status", "data", "words", "key"])
    columns = {c["name"]: c for c in found.get_columns("book")}
    check(str(columns["price"]["type"]), "NUMERIC(10, 2)")
    check(str(columns["words"]["type"].item_type), "VARCHAR")
    check(columns["status"]["type"].enums, ["open", "paid"])
    check((columns["id"]["default"], columns["title"]["nullable"]), ("nextval('book_id_seq'::regclass)", False))
    key = found.get_pk_constraint("book_tag")
    check((key["constrained_columns"], key["name"]), (["book_id", "tag_id"], "book_tag_pkey"))
    keys = {k["name"]: k for k in found.get_foreign_keys("book_tag")}
    check(keys["book_tag_book_id_fkey"]["options"], {"ondelete": "CASCADE"})
    check(keys["book_tag_tag_id_fkey"]["referred_table"], "tag")
    check([(u["name"], u["column_names"]) for u in found.get_unique_constraints("book")], [("book_once", ["author_id", "title"])])
    check([(c["name"], c["sqltext"]) for c in found.get_check_constraints("book")], [("price_check", "price >= 0::numeric")])
    check(sorted((i["name"], i["unique"]) for i in found.get_indexes("book")), [("book_once", True), ("book_title", False), ("part", False)])
    part = next(i for i in found.get_indexes("book") if i["name"] == "part")
    check((part["expressions"], part["dialect_options"]["postgresql_where"]), (["lower(title::text)"], "(price > (1)::numeric)"))
    check(found.get_table_comment("book")["text"], "what is read")
    thing = {c["name"]: c for c in found.get_columns("thing", schema="other")}
    check((thing["id"]["identity"]["always"], thing["n"]["default"], thing["twice"]["computed"]), (True, "7", {"sqltext": "(n * 2)", "persisted": True}))
    check(found.get_foreign_keys("thing", schema="other")[0]["referred_columns"], ["id"])
    # Skew shows a view as it was written.
    check(found.get_view_definition("titles").replace("book.title", "title").split(), "SELECT title FROM book;".split())
    check(found.get_enums()[0]["labels"], ["open", "paid"])
    check(sorted(found.get_schema_names()), ["information_schema", "other", "public"])
    check(sorted(found.get_sequence_names()), ["author_id_seq", "book_id_seq", "tag_id_seq"])
    reflected = MetaData()
    reflected.reflect(engine)
    check(sorted(reflected.tables), ["author", "book", "book_tag", "tag"])
    check([fk.column.table.name for fk in reflected.tables["book"].foreign_keys], ["author"])


def tables_are_dropped():
    with engine.begin() as connection:
        connection.execute(text("DROP VIEW titles"))
        connection.execute(text("DROP SCHEMA other CASCADE"))
    Base.metadata.drop_all(engine)
    check(inspect(engine).get_table_names(), [])


checks = [tables_are_made, objects_are_saved, relationships_are_loaded, queries_are_answered, objects_are_changed,
          mistakes_are_told, orphans_are_deleted, schemas_are_reflected, tables_are_dropped]
failed = 0
for f in checks:
    try:
        f()
    except Exception as error:
        failed += 1
        print(f"FAILED {f.__name__}: {type(error).__name__}: {error}")
print(f"{len(checks) - failed} of {len(checks)} passed")
sys.exit(failed > 0)
