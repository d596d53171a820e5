"""Batches in threads and processes. Forks happen in a separate process, since pytest's has other threads."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.batch_and_singles import assert_equal, play
from support.paths import ROOT

from boulanger_env import BoulangerVectorEnv, sample_legal


def run_script(script: str) -> str:
    """What a script prints; it may use this folder's modules."""
    head = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'tests')!r}]\n"
    run = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", head + script],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("num_threads", [1, 2])
def test_two_batches_in_two_threads_at_once(num_threads: int) -> None:
    keywords = {"num_threads": num_threads, "max_episode_steps": 20, "observation": "cards"}
    batches = [BoulangerVectorEnv(64, **keywords) for _ in range(4)]
    expected = [play(batch, 25, seed) for seed, batch in enumerate(batches[:2])]
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(play, batch, 25, seed) for seed, batch in enumerate(batches[2:])]
        for job, results in zip(jobs, expected, strict=True):
            assert_equal(job.result(), results)
    for batch in batches:
        batch.close()


ASYNC = """
import gymnasium as gym, numpy as np
from gymnasium.vector import AutoresetMode
from boulanger_env import BoulangerEnv, BoulangerVectorEnv, sample_legal
keywords = {"observation": "cards", "max_episode_steps": 20}
def play(context):
    batch = BoulangerVectorEnv(2, 2, autoreset_mode=AutoresetMode.SAME_STEP, **keywords)
    envs = gym.vector.AsyncVectorEnv(
        [lambda: BoulangerEnv(2, **keywords)] * 2, context=context, autoreset_mode=AutoresetMode.SAME_STEP
    )
    states = np.arange(2, dtype=np.uint64)
    (ours, infos), (theirs, their_infos) = batch.reset(seed=4), envs.reset(seed=4)
    ends = 0
    for _ in range(60):
        assert all(np.array_equal(ours[key], theirs[key]) for key in ours)
        for key in ("action_mask", "score", "moves", "illegal_action"):
            assert np.array_equal(infos[key], their_infos[key]), key
        actions = sample_legal(infos["action_mask"], states)
        ours, *flags, infos = batch.step(actions)
        theirs, *their_flags, their_infos = envs.step(actions)
        assert all(map(np.array_equal, flags, their_flags))
        ends += int(flags[1].sum() + flags[2].sum())
    envs.close()
    return ends
if __name__ == "__main__":
    print(play("fork"), play("spawn"))
"""


def test_single_environments_in_gymnasiums_processes() -> None:
    forked, spawned = map(int, run_script(ASYNC).split())
    assert forked == spawned > 3


SUBPROC = """
import numpy as np
from stable_baselines3.common.vec_env import SubprocVecEnv
from boulanger_env import BoulangerEnv
from boulanger_env.sb3 import BoulangerVecEnv
def play(method, n):
    ours = BoulangerVecEnv(n, max_episode_steps=15)
    theirs = SubprocVecEnv([lambda: BoulangerEnv(max_episode_steps=15)] * n, start_method=method)
    for env in (ours, theirs):
        env.seed(3)
    assert np.array_equal(ours.reset(), theirs.reset())
    rng, dones = np.random.default_rng(0), 0
    for _ in range(40):
        masks = ours.env_method("action_masks")
        assert np.array_equal(masks, np.stack(theirs.env_method("action_masks")))
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        results, expected = ours.step(actions), theirs.step(actions)
        assert all(map(np.array_equal, results[:3], expected[:3]))
        dones += int(results[2].sum())
    theirs.close()
    return dones
if __name__ == "__main__":
    print(play("fork", 2), play("spawn", 1))
"""


def test_single_environments_in_stable_baselines_processes() -> None:
    forked, spawned = map(int, run_script(SUBPROC).split())
    assert forked > spawned > 1


FORKED = """
import multiprocessing, pickle
from boulanger_env import BoulangerVectorEnv
from support.batch_and_singles import play
def child(queue):
    queue.put(pickle.dumps(play(batch, 20)))
if __name__ == "__main__":
    batch = BoulangerVectorEnv(9, num_threads=2, observation="cards", max_episode_steps=9)
    play(batch, 3)  # its threads are running
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    theirs = queue.get(timeout=120)
    process.join()
    assert process.exitcode == 0
    assert pickle.dumps(play(batch, 20)) == theirs
    batch.close()
    print("same")
"""


def test_a_batch_with_threads_survives_a_fork() -> None:
    assert run_script(FORKED) == "same\n"


def test_a_batch_is_let_go_with_its_threads() -> None:
    script = (
        "import threading\n"
        "from boulanger_env import BoulangerVectorEnv\n"
        "batch = BoulangerVectorEnv(4, num_threads=3)\n"
        "batch.reset(seed=0)\n"
        "batch.step([728] * 4)\n"
        "assert threading.active_count() > 1\n"
        "batch.close()\n"
        "print(threading.active_count())\n"
        "batch.step([0] * 4)\n"  # and an interpreter ends with threads still there
    )
    assert run_script(script) == "1\n"


def test_sampling_in_one_thread_while_another_steps() -> None:
    batch = BoulangerVectorEnv(128, observation="cards")
    other = BoulangerVectorEnv(128, observation="cards")
    _, infos = other.reset(seed=1)
    masks = infos["action_mask"]
    expected = sample_legal(masks, np.arange(128, dtype=np.uint64))
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(play, batch, 30)
        while not job.done():
            assert np.array_equal(sample_legal(masks, np.arange(128, dtype=np.uint64)), expected)
        job.result()
