"""A paid order is shipped or refunded, never both (Django, autocommit: every query is a transaction; save() writes all
columns)."""

import os
from urllib.parse import urlsplit

import django
from django.conf import settings

url = urlsplit(os.environ["DATABASE_URL"])
settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": url.path[1:], "USER": url.username,
                                          "HOST": url.hostname, "PORT": url.port}})
django.setup()

from django.db import connection, models, transaction  # noqa: E402

from service import VARIANT, at_once  # noqa: E402


class Order(models.Model):
    customer = models.CharField(max_length=20)
    note = models.CharField(max_length=20)
    state = models.CharField(max_length=20)

    class Meta:
        app_label = db_table = "shop_order"


class Step(models.Model):
    order_id = models.IntegerField()
    name = models.CharField(max_length=20)

    class Meta:
        app_label = "shop_order"
        db_table = "step"


def change(orders, name):
    order = orders.get(id=1)
    if order.state == "paid":
        order.state = name
        order.save()
        Step.objects.create(order_id=1, name=name)


def work(name):
    try:
        if VARIANT == "right":
            with transaction.atomic():
                change(Order.objects.select_for_update(), name)
        elif VARIANT == "wrong":  # a transaction is no lock
            with transaction.atomic():
                change(Order.objects, name)
        else:
            change(Order.objects, name)
    finally:
        connection.close()


with connection.schema_editor() as editor:
    editor.create_model(Order)
    editor.create_model(Step)
Order.objects.create(id=1, customer="ada", note="", state="paid")
at_once(lambda: work("shipped"), lambda: work("refunded"))
steps = sorted(Step.objects.values_list("name", flat=True))
assert len(steps) == 1, f"one order, {steps}"
