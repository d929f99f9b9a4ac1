"""A shop."""

from django.contrib.auth.models import User
from django.db import models


class Shop(models.Model):
    name = models.CharField(max_length=40, unique=True)
    opened = models.DateField(null=True)

    def __str__(self):
        return self.name


class Product(models.Model):
    shop = models.ForeignKey(Shop, on_delete=models.PROTECT)
    name = models.CharField(max_length=40, unique=True)
    price = models.DecimalField(max_digits=8, decimal_places=2)
    tags = models.JSONField(default=dict)
    stock = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["shop", "-price"], name="dear_first")]
        constraints = [models.CheckConstraint(condition=models.Q(price__gte=0), name="price_not_negative")]


class Profile(models.Model):
    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True)
    key = models.UUIDField(unique=True)
    bio = models.TextField(blank=True)


class Order(models.Model):
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    at = models.DateTimeField()
    wait = models.DurationField()
    products = models.ManyToManyField(Product, through="Item")


class Item(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE)
    product = models.ForeignKey(Product, on_delete=models.PROTECT)
    count = models.IntegerField(default=1)

    class Meta:
        unique_together = [("order", "product")]
        ordering = ["id"]
