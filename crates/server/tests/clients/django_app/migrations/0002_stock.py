"""Columns are added, changed and renamed, rows are moved, constraints and indexes appear."""

from django.db import migrations, models


def name_twice(apps, schema_editor):
    product = apps.get_model("django_app", "Product")
    product.objects.filter(name="").update(name="unnamed")


class Migration(migrations.Migration):
    dependencies = [("django_app", "0001_initial")]
    operations = [
        migrations.AddField("Product", "amount", models.IntegerField(default=0)),
        migrations.RenameField("Product", "amount", "stock"),
        migrations.AlterField("Product", "stock", models.PositiveIntegerField(default=0)),
        migrations.AddField("Product", "tags", models.JSONField(default=dict)),
        migrations.RunPython(name_twice, migrations.RunPython.noop),
        migrations.AlterField("Product", "name", models.CharField(max_length=40, unique=True)),
        migrations.AddIndex("Product", models.Index(fields=["shop", "-price"], name="dear_first")),
        migrations.AddConstraint("Product", models.CheckConstraint(condition=models.Q(price__gte=0), name="price_not_negative")),
        migrations.RunSQL("COMMENT ON TABLE django_app_product IS 'what is sold'", migrations.RunSQL.noop),
    ]
