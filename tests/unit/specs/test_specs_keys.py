"""Keys of lock files: joined keys can be split again, and lock files accept them."""

from __future__ import annotations

import re

import pytest

from components.specs import keys


def test_joined_keys_are_split_again() -> None:
    pool = keys.pool_key("acme-train", "train")
    group, wave = keys.group_key(pool, "a01"), keys.wave_key(pool, 12)

    assert (pool, group, wave) == ("acme-train/train", "acme-train/train/a01", "acme-train/train/12")
    assert keys.parts_of(group) == ("acme-train", "train", "a01")
    assert (keys.cluster_of(group), keys.pool_of(group), keys.domain_of(group)) == ("acme-train", pool, "a01")
    assert (keys.cluster_of(pool), keys.pool_of(wave), keys.number_of(wave)) == ("acme-train", pool, 12)


def test_dpu_keys_have_the_form_of_pool_keys() -> None:
    key, wave = keys.dpu_key("acme"), keys.wave_key(keys.DPUS, 1)

    assert (key, wave) == ("dpus/acme", "dpus/1")
    assert (keys.pool_of(key), keys.domain_of(key), keys.pool_of(wave)) == (keys.DPUS, "acme", keys.DPUS)
    assert [keys.refers_to_dpus(one) for one in (key, wave, keys.DPUS, "acme/dpus", "dpus-2/a/b")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_host_without_a_pool_is_of_no_cluster() -> None:
    assert keys.cluster_of("") == ""


@pytest.mark.parametrize(
    ("pattern", "made"),
    [
        (keys.POOL_KEY, keys.pool_key("acme-train", "train")),
        (keys.GROUP_KEY, keys.group_key(keys.pool_key("acme-train", "train"), "a01")),
        (keys.PROMOTED_KEY, keys.DPUS),
        (keys.WAVE_KEY, keys.wave_key(keys.DPUS, 1)),
        (keys.DPU_KEY, keys.dpu_key("acme")),
    ],
)
def test_lock_files_take_the_keys_that_are_made(pattern: str, made: str) -> None:
    assert re.fullmatch(pattern, made)
