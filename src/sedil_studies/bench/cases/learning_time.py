"""Learning until the dictionary denoises as well as it will: time until within 0.05 dB of the own end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import sedil
from sedil.imaging.quality import image_quality
from sedil.progress import Progress
from sedil_studies.bench.results import Bar, Findings, Measurement, named
from sedil_studies.bench.setting import SIGMA, Scene, Setting, training_images, validation_scene
from sedil_studies.peers.looks import Look
from sedil_studies.peers.packages import SCIKIT_LEARN, SPAMS, make_installed
from sedil_studies.peers.sklearn_calls import sklearn_learn
from sedil_studies.peers.spams_calls import spams_learn

NEAR = 0.05  # dB
_SIDE, _ATOMS = 8, 16
_PENALTY = 0.15  # of the peers, for patches of unit length
_BATCH = 512  # of the peers: the default of SPAMS
_SMALL_BATCH = 128  # enough for A and B, which have 256 numbers; a matrix of as many atoms has 16,384
_WARM_UP = 1024  # patches
_SMALL = f"sedil.learn_minibatch, batches of {_SMALL_BATCH}"
_RANDOM, _ODCT = "sedil.learn_minibatch", "sedil.learn_minibatch, from the ODCT"
_SPAMS, _SKLEARN = "spams.trainDL", "scikit-learn MiniBatch"  # both start from patches
_SPAMS_SMALL = f"spams.trainDL, batches of {_SMALL_BATCH}"
# Batches after which a dictionary is looked at.
_STOPS = (1, 2, 3, 5, 10, 15, 20, 30, 40)
_SMALL_STOPS = (1, 2, 3, 5, 10, 20, 40, 80, 160, 312)
_SPAMS_STOPS = (1, 2, 5, 10, 20, 40, 80, 160, 320, 640)
_SKLEARN_STOPS = (1, 2, 5, 10, 20, 40, 80, 160, 235)


class Lesson(NamedTuple):
    """What is learned from, patches (n, 8, 8) of unit length, and what judges it."""

    patches: np.ndarray
    scene: Scene
    setting: Setting

    @property
    def flat(self) -> np.ndarray:
        """Patches as rows."""
        return self.patches.reshape(len(self.patches), -1)

    def psnr(self, dictionary: sedil.SeparableDictionary) -> float:
        """How well a dictionary denoises the validation picture: the same denoiser for all."""
        result = sedil.denoise(self.scene.noisy, SIGMA, dictionary, threads=self.setting.threads)
        return image_quality(result.astype(np.float64), self.scene.clean.astype(np.float64))[0]


class Learner(NamedTuple):
    """Who learns: looks in order, from a lesson and the batches to look after."""

    name: str
    package: str
    learn: Callable[[Lesson, tuple[int, ...]], list[Look]]
    stops: tuple[int, ...]
    repeats: int


def run(setting: Setting) -> Findings:
    """Learn with all, looking at the dictionaries on the way; one measurement per look."""
    names, images = training_images(setting)
    patches = sedil.sample_patches(images, (_SIDE, _SIDE), setting.choose(40_000, 4_000), random_state=0)
    patches = sedil.normalize_patches(patches).astype(np.float32)
    lesson = Lesson(patches, validation_scene(setting), setting)
    makers: dict[str, Callable[[], Learner]] = {
        _SMALL: partial(_ours, _SMALL, _SMALL_STOPS, initial="random", batch_size=_SMALL_BATCH),
        _RANDOM: partial(_ours, _RANDOM, _STOPS, initial="random"),
        _ODCT: partial(_ours, _ODCT, _STOPS, initial="odct"),
        _SPAMS_SMALL: partial(_spams, _SPAMS_SMALL, _SMALL_BATCH),
        _SPAMS: partial(_spams, _SPAMS, _BATCH),
        _SKLEARN: _sklearn,
    }
    learners, notes = make_installed(makers)
    found = _paths(lesson, list(learners.values()))
    return Findings(
        f"{len(patches):,} patches of 8x8 from {names}; PSNR of {lesson.scene.words}, by sedil.denoise",
        found,
        _bars(found),
        [*notes, *_ends(found)],
    )


def arrival(path: Iterable[Measurement]) -> float:
    """Seconds until the first look from which on all are within 0.05 dB of the last."""
    looks = list(path)
    near = looks[-1].figures["PSNR"] - NEAR
    first = len(looks) - 1
    while first and looks[first - 1].figures["PSNR"] >= near:
        first -= 1
    return looks[first].median


def _bars(found: list[Measurement]) -> list[Bar]:
    """Our soonest against each peer's."""
    ours = min((arrival(named(found, name)), name) for name in (_SMALL, _RANDOM, _ODCT))
    bounds = {_SPAMS_SMALL: 1.0, _SPAMS: 1.0, _SKLEARN: 10.0}
    return [
        Bar(f"times sooner: {ours[1]} than {peer}", arrival(named(found, peer)) / ours[0], bound)
        for peer, bound in bounds.items()
        if named(found, peer)
    ]


def _ends(found: list[Measurement]) -> list[str]:
    names = dict.fromkeys(each.contestant for each in found)
    return [
        f"{name}: {named(found, name)[-1].figures['PSNR']:.2f} dB at the end, within {NEAR} dB of it after "
        f"{arrival(named(found, name)):.2f} s."
        for name in names
    ]


def _paths(lesson: Lesson, learners: Sequence[Learner]) -> list[Measurement]:
    """The looks of all learners, timed round after round."""
    tell, quick = lesson.setting.tell, lesson.setting.quick
    if quick:
        learners = [learner._replace(stops=learner.stops[:4], repeats=1) for learner in learners]
    for learner in learners:
        tell(f"{learner.name}, warm-up")
        learner.learn(lesson._replace(patches=lesson.patches[:_WARM_UP]), learner.stops[:1])
    runs: list[list[list[Look]]] = [[] for _ in learners]
    for number in range(max((learner.repeats for learner in learners), default=0)):
        for k, learner in enumerate(learners):
            if number < learner.repeats:
                tell(f"{learner.name}, {number + 1} of {learner.repeats}")
                runs[k].append(learner.learn(lesson, learner.stops))
    return [
        each for learner, own in zip(learners, runs, strict=True) for each in _judged(lesson, learner, own)
    ]


def _judged(lesson: Lesson, learner: Learner, runs: list[list[Look]]) -> list[Measurement]:
    """A learner's looks, judged once: the same seed gives the same dictionaries in all runs."""
    lesson.setting.tell(f"{learner.name}: judging {len(runs[0])} dictionaries")
    return [
        Measurement(
            learner.name,
            tuple(look.seconds for look in looks),
            learner.package,
            figures={"PSNR": lesson.psnr(looks[0].dictionary)},
        )
        for looks in zip(*runs, strict=True)
    ]


def _ours(name: str, stops: tuple[int, ...], **options: Any) -> Learner:
    return Learner(name, f"sedil {sedil.__version__}", partial(_learn_ours, options), stops, repeats=3)


def _learn_ours(options: dict[str, Any], lesson: Lesson, stops: tuple[int, ...]) -> list[Look]:
    looks: list[Look] = []
    paused = 0.0
    began = perf_counter()

    def look(progress: Progress) -> None:
        nonlocal paused
        stopped = perf_counter()
        if progress.done in stops:
            atoms = [np.array(factor) for factor in progress.factors or ()]
            dictionary = sedil.SeparableDictionary(atoms, normalize=True)
            looks.append(Look(stopped - began - paused, dictionary))
        paused += perf_counter() - stopped

    sedil.learn_minibatch(
        lesson.patches,
        (_ATOMS, _ATOMS),
        max_batches=max(stops),
        random_state=0,
        progress=look,
        threads=lesson.setting.threads,
        **options,
    )
    return looks


def _spams(name: str, batch: int) -> Learner:
    return Learner(name, SPAMS.version(), partial(_learn_spams, batch), _SPAMS_STOPS, repeats=3)


def _learn_spams(batch: int, lesson: Lesson, stops: tuple[int, ...]) -> list[Look]:
    """It cannot be looked at on its way, so each look is a run of its own."""
    learn = partial(spams_learn, lesson.flat, _ATOMS**2, _PENALTY, batch)
    return [learn(iterations, lesson.setting.threads) for iterations in stops]


def _sklearn() -> Learner:
    return Learner(_SKLEARN, SCIKIT_LEARN.version(), _learn_sklearn, _SKLEARN_STOPS, repeats=1)


def _learn_sklearn(lesson: Lesson, stops: tuple[int, ...]) -> list[Look]:
    return sklearn_learn(lesson.flat, _ATOMS**2, _PENALTY, _BATCH, stops, lesson.setting.threads)
