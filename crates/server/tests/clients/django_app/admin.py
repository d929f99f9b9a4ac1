"""What the admin shows."""

from django.contrib import admin

from .models import Item, Order, Product, Shop

admin.site.register([Shop, Order, Item])


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin):
    list_display = ["name", "price", "shop"]
    list_filter = ["shop"]
    search_fields = ["name"]
