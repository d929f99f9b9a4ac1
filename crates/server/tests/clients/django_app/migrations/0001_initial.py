"""The tables, before products were counted."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]
    operations = [
        migrations.CreateModel("Shop", [
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
            ("name", models.CharField(max_length=40, unique=True)),
            ("opened", models.DateField(null=True)),
        ]),
        migrations.CreateModel("Product", [
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
            ("name", models.CharField(max_length=20)),
            ("price", models.DecimalField(decimal_places=2, max_digits=8)),
            ("shop", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="django_app.shop")),
        ]),
        migrations.CreateModel("Order", [
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
            ("at", models.DateTimeField()),
            ("wait", models.DurationField()),
            ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
        ]),
        migrations.CreateModel("Item", [
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
            ("count", models.IntegerField(default=1)),
            ("order", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="django_app.order")),
            ("product", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="django_app.product")),
        ], options={"ordering": ["id"], "unique_together": {("order", "product")}}),
        migrations.CreateModel("Profile", [
            ("user", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to=settings.AUTH_USER_MODEL)),
            ("key", models.UUIDField(unique=True)),
            ("bio", models.TextField(blank=True)),
        ]),
        migrations.AddField("Order", "products", models.ManyToManyField(through="django_app.Item", to="django_app.product")),
    ]
