"""Doctors, and who of them is on call: somebody has to be."""

import os

from django.db import OperationalError, models, transaction


class Doctor(models.Model):
    name = models.CharField(max_length=50, unique=True)
    on_call = models.BooleanField(default=True)


@transaction.atomic
def leave(name):
    """Somebody goes home, if anybody else is on call. With ROTA_FIX=for-update nobody else can go meanwhile."""
    on_call = Doctor.objects.filter(on_call=True)
    if os.environ.get("ROTA_FIX") == "for-update":
        on_call = on_call.select_for_update().order_by("id")
    if not [doctor for doctor in on_call if doctor.name != name]:
        return False
    Doctor.objects.filter(name=name).update(on_call=False)
    return True


def leave_and_try_again(name):
    """Starts again when the database asks for it (40001, 40P01)."""
    while True:
        try:
            return leave(name)
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", None) not in ("40001", "40P01"):
                raise
