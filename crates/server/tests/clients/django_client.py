"""Django: migrations (its own apps' too), the ORM, the admin's tables, transactions."""

import datetime as dt
import decimal
import os
import sys
import uuid

import django
from django.conf import settings
from django.core.management import call_command

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"],
                           "USER": os.environ["PGUSER"], "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"]}},
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "django.contrib.messages",
                    "django.contrib.admin", "django_app"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
                "django.contrib.messages.middleware.MessageMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {"context_processors": [
        "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages"]}}],
    ROOT_URLCONF="django_app.urls", SECRET_KEY="x", USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    ALLOWED_HOSTS=["*"], PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
)
django.setup()

from django.contrib.auth.models import Group, Permission, User
from django.db import IntegrityError, connection, transaction
from django.db.models import Avg, Case, Count, Exists, F, IntegerField, Max, OuterRef, Prefetch, Q, Subquery, Sum, Value, When, Window
from django.db.models.functions import Coalesce, Concat, ExtractYear, Lower, Rank, TruncMonth, Upper
from django.test import Client
from django_app.models import Item, Order, Product, Profile, Shop


def check(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def migrations_run():
    call_command("migrate", verbosity=0)
    call_command("migrate", verbosity=0)
    call_command("check", "--database", "default", verbosity=0)
    tables = connection.introspection.table_names()
    for table in ("auth_user", "auth_group_permissions", "django_admin_log", "django_session", "django_app_item", "django_migrations"):
        assert table in tables, table


def migrations_go_back_and_forth():
    call_command("migrate", "django_app", "0001", verbosity=0)
    columns = [c.name for c in connection.introspection.get_table_description(connection.cursor(), "django_app_product")]
    assert "stock" not in columns, columns
    call_command("migrate", verbosity=0)
    columns = [c.name for c in connection.introspection.get_table_description(connection.cursor(), "django_app_product")]
    assert "stock" in columns, columns


def objects_are_saved():
    shop = Shop.objects.create(name="corner", opened=dt.date(2020, 2, 29))
    products = Product.objects.bulk_create(
        [Product(shop=shop, name=f"p{i}", price=decimal.Decimal(i) / 4, tags={"n": i, "odd": i % 2 == 1}) for i in range(1, 9)])
    assert all(p.pk for p in products)
    ann = User.objects.create_user("ann", "ann@example.com", "secret")
    Profile.objects.create(user=ann, key=uuid.uuid4(), bio="x" * 3000)
    for day in (1, 2):
        order = Order.objects.create(user=ann, at=dt.datetime(2024, day, 3, 4, 5, 6, tzinfo=dt.timezone.utc), wait=dt.timedelta(hours=day))
        Item.objects.bulk_create([Item(order=order, product=p, count=day) for p in products[: 3 * day]])
    check(ann.check_password("secret"), True)


def queries_are_answered():
    check(Product.objects.filter(price__gt=1).count(), 4)
    check(list(Product.objects.filter(Q(name__startswith="p1") | Q(price=2)).order_by("name").values_list("name", flat=True)), ["p1", "p8"])
    check(Product.objects.aggregate(Sum("price"), Avg("price"), Max("name")),
          {"price__sum": decimal.Decimal("9.00"), "price__avg": decimal.Decimal("1.125"), "name__max": "p8"})
    totals = Order.objects.annotate(total=Sum(F("item__count") * F("item__product__price"))).order_by("at")
    check([o.total for o in totals], [decimal.Decimal("1.50"), decimal.Decimal("10.50")])
    check([(o.y, o.start.month) for o in Order.objects.annotate(start=TruncMonth("at"), y=ExtractYear("at")).order_by("start")], [(2024, 1), (2024, 2)])
    sold = Item.objects.filter(product=OuterRef("pk"))
    check(Product.objects.filter(~Exists(sold)).count(), 2)
    most = Subquery(sold.order_by("-count").values("count")[:1])
    check(list(Product.objects.annotate(most=Coalesce(most, 0)).order_by("name").values_list("most", flat=True)), [2, 2, 2, 2, 2, 2, 0, 0])
    check(list(Product.objects.annotate(r=Window(Rank(), order_by=F("price").desc())).order_by("r").values_list("r", flat=True)[:3]), [1, 2, 3])
    check(Product.objects.filter(tags__n__gte=7).count(), 2)
    check(Product.objects.filter(tags__odd=True).count(), 4)
    check(Product.objects.filter(tags__has_key="n").count(), 8)
    check(Product.objects.annotate(label=Concat(Upper("name"), Value("!"))).get(name="p3").label, "P3!")
    kind = Case(When(price__lt=1, then=Value(0)), default=Value(1), output_field=IntegerField())
    check(list(Product.objects.values(kind=kind).annotate(n=Count("pk")).order_by("kind").values_list("kind", "n")), [(0, 3), (1, 5)])
    check([i.order.user.username for i in Item.objects.select_related("order__user", "product__shop")][:1], ["ann"])
    orders = Order.objects.prefetch_related(Prefetch("item_set", Item.objects.select_related("product"))).order_by("at")
    check([[i.product.name for i in o.item_set.all()] for o in orders][0], ["p1", "p2", "p3"])
    check(Order.objects.dates("at", "month").count(), 2)
    check(Product.objects.filter(name__iregex="^P[12]$").count(), 2)
    check(Product.objects.filter(name__icontains="P").exclude(name__in=["p1", "p2"]).distinct().count(), 6)
    check(set(Product.objects.filter(price=1).union(Product.objects.filter(price=2)).values_list("name", flat=True)), {"p4", "p8"})
    check(list(Product.objects.filter(shop__opened__year=2020, shop__name__iexact="CORNER").order_by(Lower("name").desc())[:1])[0].name, "p8")
    check(Order.objects.filter(wait__gt=dt.timedelta(minutes=90)).count(), 1)
    check(Permission.objects.filter(content_type__app_label="django_app").count(), 20)


def objects_are_changed():
    check(Product.objects.filter(price__lt=1).update(price=F("price") + 1, stock=5), 3)
    product, made = Product.objects.get_or_create(name="p9", defaults={"shop": Shop.objects.get(), "price": 9, "tags": {}})
    check(made, True)
    product, made = Product.objects.update_or_create(name="p9", defaults={"price": 10})
    check((made, product.price), (False, 10))
    Product.objects.bulk_create([Product(name="p9", shop=product.shop, price=11, tags={})], update_conflicts=True,
                                unique_fields=["name"], update_fields=["price"])
    product.refresh_from_db()
    check(product.price, 11)
    Product.objects.bulk_create([Product(name="p9", shop=product.shop, price=12, tags={})], ignore_conflicts=True)
    check(product.delete(), (1, {"django_app.Product": 1}))
    products = list(Product.objects.all())
    for p in products:
        p.stock = 3
    check(Product.objects.bulk_update(products, ["stock"]), 8)
    user = User.objects.get(username="ann")
    user.groups.add(Group.objects.create(name="staff"))
    user.user_permissions.set(Permission.objects.filter(codename__startswith="add_"))
    check(user.has_perm("django_app.add_item"), True)


def transactions_are_rolled_back():
    try:
        with transaction.atomic():
            Shop.objects.create(name="gone")
            try:
                with transaction.atomic():
                    Shop.objects.create(name="corner")
            except IntegrityError:
                pass
            check(Shop.objects.filter(name="gone").exists(), True)
            raise ValueError
    except ValueError:
        pass
    check(Shop.objects.count(), 1)
    with transaction.atomic():
        check(Product.objects.select_for_update(of=("self",)).select_related("shop").filter(name="p1").get().shop.name, "corner")
        check(len(Product.objects.select_for_update(skip_locked=True).filter(name="p1")), 1)
    try:
        with transaction.atomic():
            Shop.objects.get().delete()
        raise AssertionError("a shop whose products are sold")
    except IntegrityError as error:
        pass
    except django.db.models.ProtectedError:
        pass


def many_rows_are_iterated():
    with transaction.atomic():
        check(sum(1 for _ in Item.objects.order_by("pk").iterator(chunk_size=4)), 9)


def the_admin_works():
    User.objects.create_superuser("root", "root@example.com", "secret")
    browser = Client()
    check(browser.login(username="root", password="secret"), True)
    for page in ("/admin/", "/admin/django_app/product/", "/admin/django_app/product/?q=p1", "/admin/auth/user/", "/admin/django_app/product/1/change/"):
        answer = browser.get(page, follow=True)
        check((page, answer.status_code), (page, 200))
    answer = browser.post("/admin/django_app/shop/add/", {"name": "new", "opened": "2024-01-01"}, follow=True)
    check((answer.status_code, Shop.objects.filter(name="new").count()), (200, 1))
    from django.contrib.admin.models import LogEntry
    check(LogEntry.objects.filter(user__username="root").count(), 1)


def tables_are_inspected():
    with connection.cursor() as cursor:
        found = connection.introspection
        check({c["name"] if isinstance(c, dict) else c.name for c in found.get_table_description(cursor, "django_app_shop")}, {"id", "name", "opened"})
        check(found.get_relations(cursor, "django_app_item"), {"order_id": ("id", "django_app_order"), "product_id": ("id", "django_app_product")})
        constraints = found.get_constraints(cursor, "django_app_product")
        check(sorted(c["columns"] for c in constraints.values() if c["unique"] and not c["primary_key"]), [["name"]])
        check(found.get_primary_key_column(cursor, "django_app_item"), "id")
        check(len(found.get_sequences(cursor, "django_app_item")), 1)
    import io
    out = io.StringIO()
    call_command("inspectdb", "django_app_item", "django_app_product", stdout=out)
    assert "class DjangoAppItem" in out.getvalue() and "models.DecimalField(max_digits=8, decimal_places=2)" in out.getvalue(), out.getvalue()


def everything_is_flushed():
    call_command("flush", interactive=False, verbosity=0)
    check((Item.objects.count(), User.objects.count()), (0, 0))


checks = [migrations_run, migrations_go_back_and_forth, objects_are_saved, queries_are_answered, objects_are_changed,
          transactions_are_rolled_back, many_rows_are_iterated, the_admin_works, tables_are_inspected, everything_is_flushed]
failed = 0
for f in checks:
    try:
        f()
    except Exception as error:
        failed += 1
        print(f"FAILED {f.__name__}: {type(error).__name__}: {error}")
        if os.environ.get("TRACE"):
            import traceback
            traceback.print_exc()
print(f"{len(checks) - failed} of {len(checks)} passed")
sys.exit(failed > 0)
