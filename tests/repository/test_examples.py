"""The scripts in ``examples/`` run as they stand, and the parts of ``ppo.py`` that are easy to get wrong are right.

``train_maskable_ppo.py`` is run by ``test_training.py``.
"""

from __future__ import annotations

import argparse
import runpy
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from support.paths import ROOT

from boulanger_env import BoulangerVectorEnv, Game, positions, sample_legal
from boulanger_env.envs import CARD_ACTION_TABLE
from boulanger_env.solver import verdicts
from boulanger_env.training.tokens import layout, rearrange

EXAMPLES = ROOT / "examples"


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def ppo() -> dict[str, Any]:
    """What the file defines, without running it."""
    return runpy.run_path(str(EXAMPLES / "ppo.py"))


def run(monkeypatch: pytest.MonkeyPatch, name: str, *arguments: object) -> None:
    monkeypatch.setattr("sys.argv", [name, *map(str, arguments)])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")


def test_ppo_runs(
    ppo: dict[str, Any],
    few_deals: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "new" / "ppo.pt"
    small = ["--num-envs", 8, "--num-steps", 16, "--minibatch", 64, "--epochs", 1, "--max-episode-steps", 12]
    weights = []
    for _ in range(2):
        run(
            monkeypatch,
            "ppo.py",
            "--timesteps",
            512,
            *small,
            "--solutions",
            5,
            "--reports",
            2,
            "--deals",
            few_deals,
            "--output",
            file,
        )
        said = capsys.readouterr().out
        assert said.count("whole deals 0%") == 2
        assert "of 4 won" in said
        assert str(file) in said
        weights.append(ppo["load"](file).state_dict())
    assert [path.name for path in file.parent.iterdir()] == ["ppo.pt"]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])  # the same seed
    torch.manual_seed(0)
    fresh = ppo["Agent"]().state_dict()
    assert not torch.equal(fresh["policy.weight"], weights[0]["policy.weight"])  # it has learned something


@pytest.fixture(scope="module")
def search() -> dict[str, Any]:
    """What ``search.py`` defines, without running it."""
    return runpy.run_path(str(EXAMPLES / "search.py"))


@pytest.mark.parametrize("how", [("beam", "--width", 8), ("puct", "--simulations", 2)])
@pytest.mark.parametrize("policy", ["random", "heuristic"])
def test_searches_run(
    how: tuple[Any, ...],
    policy: str,
    few_deals: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(monkeypatch, "search.py", "--policy", policy, "--deals", few_deals, "--search", *how)
    said = capsys.readouterr().out
    assert said.startswith(f"{how[0]}, {policy}: ")
    assert "of 4 deals won" in said


def test_searches_with_networks(ppo: dict[str, Any], search: dict[str, Any], tmp_path: Path) -> None:
    from sb3_contrib import MaskablePPO

    from boulanger_env.sb3 import BoulangerVecEnv
    from boulanger_env.training import CardPolicy, ChancePPO

    roots = positions.from_deals(["MS-C4-1", "MS-C4-5"])
    file = tmp_path / "model.zip"
    torch.manual_seed(0)
    policies = [search["network_policy"](ppo["Agent"](), "cards", "cards")]
    kinds = (MaskablePPO, "MlpPolicy"), (MaskablePPO, "MultiInputPolicy"), (ChancePPO, CardPolicy)
    places, cards = BoulangerVecEnv(2), BoulangerVecEnv(2, observation="cards", actions="cards")
    for (algorithm, kind), env in zip(kinds, (places, cards, cards), strict=True):
        algorithm(kind, env, n_steps=2, batch_size=4, seed=0).save(file)
        policies.append(search["trained_policy"](file))
    for policy, actions in zip(policies, ("cards", "places", "cards", "cards"), strict=True):
        chances, values = policy.judge(roots)
        legal = positions.masks(roots, actions=actions, prune=True) == 1
        assert chances.sum(1) == pytest.approx(1, abs=1e-4)
        assert (chances[legal] > 0).all()
        assert (chances[~legal] < 1e-6).all()
        assert values.shape == (2,)
        assert len(search["beam"](roots, policy, 3, levels=5).rows) > 20
        assert len(search["puct"](roots, policy, 3, moves=3).rows) > 20


@pytest.mark.parametrize("how", ["beam", "puct"])
def test_searches_that_may_go_on_win_what_can_be_won(search: dict[str, Any], how: str) -> None:
    """With room for every position, a win is found if and only if the solver finds one."""
    random = Random(3)
    games = []
    for _ in range(300):  # crowded positions: 8 columns, one cell, no room in it
        home = [random.randint(1, 8) for _ in range(4)]
        cards = [suit * 13 + rank for suit in range(4) for rank in range(home[suit] + 1, 14)]
        random.shuffle(cards)
        cell = [cards.pop()]
        games.append(Game.from_columns([cards[i::8] for i in range(8)], cell, home, 1))
    rows = positions.auto_foundation(positions.from_games(games))
    rows = rows[positions.outcomes(rows) == positions.PLAYING]
    solvable, nodes = verdicts(rows)
    few = [np.flatnonzero((solvable == wins) & (nodes < 60))[:15] for wins in (True, False)]
    assert [len(part) for part in few] == [15, 15]
    roots, expected = rows[np.concatenate(few)], [True] * 15 + [False] * 15
    policy = search["heuristic_policy"]()
    if how == "beam":
        tree = search["beam"](roots, policy, width=100_000, levels=400)
    else:
        tree = search["puct"](roots, policy, simulations=4, moves=1000)
    assert [game in tree.won for game in range(30)] == expected
    for game, node in tree.won.items():
        row = roots[[game]]
        for action in tree.path(node):
            row = positions.play(row, [action], actions="cards", auto_foundation=True)
        assert positions.outcomes(row) == [positions.WON]


def test_ppo_advantages(ppo: dict[str, Any]) -> None:
    generator = torch.Generator().manual_seed(3)
    steps, n, gamma, lam = 7, 5, 0.9, 0.7
    rewards, values, cut_off = torch.rand(3, steps, n, generator=generator, dtype=torch.float64)
    last = torch.rand(n, generator=generator, dtype=torch.float64)
    ended = (torch.rand(steps, n, generator=generator) < 0.3).double()
    truncated = ended.bool() & (torch.rand(steps, n, generator=generator) < 0.5)
    cut_off = cut_off * truncated
    found = ppo["advantages"](rewards, values, ended, cut_off, last, gamma, lam)
    for i in range(n):
        for t in range(steps):
            # The sum of (gamma * lambda)^k times the error of each step up to the episode's end.
            total, weight = 0.0, 1.0
            for k in range(t, steps):
                over = bool(ended[k, i])
                after = values[k + 1, i] if k + 1 < steps else last[i]
                after = cut_off[k, i] if over else after  # what comes next is another game's
                total += weight * float(rewards[k, i] + gamma * after - values[k, i])
                weight *= gamma * lam
                if over:
                    break
            assert found[t, i] == pytest.approx(total)


def test_ppo_draws_by_the_probabilities(ppo: dict[str, Any]) -> None:
    torch.manual_seed(1)
    chances = torch.tensor([0.0, 0.125, 0.0, 0.25, 0.625, 0.0])
    n = 20_000
    drawn = ppo["draw"](chances.log().expand(n, -1))
    shares = torch.bincount(drawn, minlength=6) / n
    assert shares[[0, 2, 5]].tolist() == [0, 0, 0]
    # 4 standard errors of the largest share.
    assert (shares - chances).abs().max() < 4 * (0.625 * 0.375 / n) ** 0.5


def test_ppo_scores_the_card_that_moves(ppo: dict[str, Any]) -> None:
    agent = ppo["Agent"]()
    scores = torch.arange(208.0).view(1, 52, 4) / 100
    agent.policy.register_forward_hook(lambda layer, inputs, output: scores.expand_as(output))
    envs = BoulangerVectorEnv(16, **ppo["RULES"])
    observations, infos = envs.reset(seed=5)
    mask = ppo["bits"](infos)
    log_probabilities, _ = agent(ppo["tensors"](observations), mask)
    for legal, found in zip(mask, log_probabilities, strict=True):
        expected = torch.tensor(
            [(4 * (card - 1) + kind) / 100 for card, kind in CARD_ACTION_TABLE[legal].tolist()]
        )
        assert torch.allclose(found[legal], expected.log_softmax(0), atol=1e-4)
        assert (found[~legal] < -1e8).all()


@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_ppo_reads_the_board_as_the_package_does(ppo: dict[str, Any], n_cells: int) -> None:
    envs = BoulangerVectorEnv(32, n_cells, **ppo["RULES"])
    observations, infos = envs.reset(seed=3)
    states = np.arange(32, dtype=np.uint64)
    for _ in range(30):
        board = ppo["tensors"](observations)
        where = layout(board)
        facts, counts, card, place = ppo["look"](board)
        assert torch.equal(facts, where.tokens)
        assert torch.equal(counts, where.board)
        values = torch.randn(32, 52, 3)
        assert torch.equal(
            ppo["Move"].apply(values, card, place), rearrange(values, where.slots, where.cards)
        )
        observations, _, _, _, infos = envs.step(sample_legal(infos["action_mask"], states))


def test_ppo_learns_the_same_in_parts(ppo: dict[str, Any]) -> None:
    """The gradients of the parts of a minibatch add up to its own."""
    torch.manual_seed(2)
    agent = ppo["Agent"]()
    envs = BoulangerVectorEnv(24, **ppo["RULES"])
    observations, infos = envs.reset(seed=3)
    masks = ppo["bits"](infos)
    with torch.no_grad():
        log_probabilities, _ = agent(ppo["tensors"](observations), masks)
    actions = ppo["draw"](log_probabilities)
    before = log_probabilities.gather(1, actions[:, None]).squeeze(1) + 0.1 * torch.randn(24)
    columns = masks, actions, before, torch.randn(24), torch.rand(24)
    args = argparse.Namespace(clip=0.2, value=0.5)

    def gradients(rows: slice) -> Any:
        board = {name: array[rows] for name, array in ppo["tensors"](observations).items()}
        return ppo["gradients"](agent, (board, *(column[rows] for column in columns)), 24, 0.01, args)[0]

    whole = gradients(slice(None))
    for all_, first, second in zip(whole, gradients(slice(0, 10)), gradients(slice(10, 24)), strict=True):
        # Half as many bits as usual are kept of each number.
        assert torch.allclose(all_, first + second, atol=0.02 * float(all_.abs().max()) + 1e-7)


@pytest.mark.parametrize("illegal_action", ["penalize", "terminate"])
def test_dqn_runs(
    illegal_action: str,
    few_deals: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "new" / "dqn.zip"
    run(
        monkeypatch,
        "train_dqn.py",
        *("--illegal-action", illegal_action, "--timesteps", 256, "--num-envs", 4, "--learning-starts", 64),
        *(
            "--buffer-size",
            256,
            "--reports",
            2,
            "--max-episode-steps",
            10,
            "--deals",
            few_deals,
            "--output",
            file,
        ),
    )
    said = capsys.readouterr().out
    assert said.count("% illegal") == 2
    assert "| the same values, masked | 0.0% |" in said
    assert "| random legal actions | 0.0% |" in said
    assert [path.name for path in file.parent.iterdir()] == ["dqn.zip"]
