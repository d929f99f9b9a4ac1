"""`manage.py test` makes a database `test_…` of its own, and migrates it: in each run, on the weak database."""

from concurrent.futures import ThreadPoolExecutor

from django.db import connection
from django.test import TransactionTestCase

from rota.models import Doctor, leave_and_try_again


class RotaTest(TransactionTestCase):
    def setUp(self):
        Doctor.objects.bulk_create([Doctor(name="ada"), Doctor(name="bob")])

    def test_one_of_two_may_leave(self):
        self.assertTrue(leave_and_try_again("ada"))
        self.assertFalse(leave_and_try_again("bob"))

    def test_somebody_stays_on_call_when_both_want_to_leave(self):
        def leaves(name):
            try:
                return leave_and_try_again(name)
            finally:
                connection.close()

        with ThreadPoolExecutor() as both:
            left = list(both.map(leaves, ["ada", "bob"]))
        on_call = Doctor.objects.filter(on_call=True).count()
        self.assertEqual(on_call, 1, f"{on_call} of two are on call; left: {left}")
