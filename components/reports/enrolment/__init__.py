"""Enrolment: the hardware that hosts report on inspection, compared with their instance types."""
