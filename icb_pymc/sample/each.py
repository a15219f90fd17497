"""Fit every subject on its own: in local processes or on a Dask cluster, into one store that can be continued."""

import json
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import randbits
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from icb_pymc import __version__
from icb_pymc.catalogue.lookup import check_names, find, name_of, settings
from icb_pymc.catalogue.model_files import digest_of
from icb_pymc.data.deciders import agents_of, decisions_by
from icb_pymc.data.digests import digest_of_decisions
from icb_pymc.declare.spec import Declare
from icb_pymc.errors import InputError
from icb_pymc.io.progress import progress
from icb_pymc.io.tasks import run_tasks
from icb_pymc.io.workers import cluster, processes
from icb_pymc.results.fits import Fits, is_store, open_for_writing, read_fits
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.sample.fitting import fit
from icb_pymc.sample.in_worker import FitOutcome, outcome_of, quiet_fits
from icb_pymc.sample.seeds import only_seed

# Subjects that a local process has in hand: one to fit and one to begin with while the trace of the first is written.
IN_HAND = 2


class SubjectFit(NamedTuple):
    """What a worker needs to fit a subject."""

    subject: str
    decisions: xr.Dataset
    model: str | Path | Declare
    model_digest: str | None
    hyperparameters: Mapping[str, Any]
    options: Mapping[str, Any]
    seed: int
    digest: str
    version: str = __version__


def fit_each(
    model: str | Path | Declare,
    decisions: xr.Dataset | Mapping[str, xr.Dataset],
    hyperparameters: Mapping[str, Any] | None = None,
    *,
    folder: str | Path,
    jobs: int = 1,
    scheduler: str | None = None,
    random_seed: int | None = None,
    seed: int | None = None,
    progressbar: bool = True,
    **options: Any,
) -> Fits:
    """Fit a model to every subject on its own, and keep the traces in one folder.

    Each trace is written as soon as it is finished: the same call, given again after an interruption, continues where
    it stopped, and ends with the same traces. The draws of a subject depend on the seed and on the subject's name, not
    on the other subjects, their order, or how many processes there are.

    Nothing is shared between subjects: for what they have in common fit a hierarchical model, such as
    ``hierarchical_nb_icb``, to all of them at once.

    Parameters
    ----------
    model : str, path or callable
        As in `icb_pymc.fit`; a function must be importable by other processes.
    decisions : Dataset, or mapping of str to Dataset
        Decisions of several agents, each of whom is a subject; or decisions by the name of the subject.
    hyperparameters : mapping, optional
        Keyword arguments of the model.
    folder : path
        The store, which is made if it does not exist.
    jobs : int
        Processes on this machine.
    scheduler : str, optional
        Address of a Dask cluster, like ``"tcp://host:8786"``, instead of processes; needs ``icb-pymc[cluster]``.
    random_seed : int, optional
        By default a new one, which the store records. `seed` is accepted too.
    seed : int, optional
        Another name of `random_seed`.
    progressbar : bool
        Show one.
    **options
        Of `icb_pymc.fit`: method, draws, tune, chains, every, learn, ...

    Returns
    -------
    Fits
        A mapping of subjects to traces, which are read when they are asked for. Its ``failures`` say why a subject
        could not be fitted; the others are fitted all the same.

    Raises
    ------
    InputError
        If an argument is not valid, the folder holds fits with other settings or of other decisions or is being written
        by another process, no scheduler responds, or no subject at all could be fitted.

    Examples
    --------
    >>> import icb_pymc, numpy as np, tempfile
    >>> rng = np.random.default_rng(0)
    >>> contexts, chosen = rng.normal(size=(40, 2, 2)), rng.integers(2, size=40)
    >>> decisions = icb_pymc.from_arrays(contexts, chosen, agent=["Ada", "Bo"] * 20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fits = icb_pymc.fit_each(
    ...         "nb_icb", decisions, folder=f"{folder}/fits", method="laplace", draws=20, seed=0, progressbar=False
    ...     )
    ...     list(fits), fits["Bo"].posterior.sizes["draw"]
    (['Ada', 'Bo'], 20)
    """
    if jobs < 1:
        raise InputError(f"jobs={jobs}: give at least one.")
    if scheduler and jobs > 1:
        raise InputError("give jobs or a scheduler, not both.")
    for name in ("cores", "step", "times", "checkpoint"):
        if name in options:
            raise InputError(f"{name} cannot be given for many subjects{'; use jobs' if name == 'cores' else ''}.")
    declare, given = find(model), dict(hyperparameters or {})
    settings(declare, given)
    check_names(declare, options.get("learn", ()))
    by_subject = _Subjects(decisions)
    fits = Fits(folder, {}, by_subject.digests())
    chosen_seed = only_seed(random_seed, seed)
    file = getattr(declare, "model_file", None)
    fits.settings = {
        "model": name_of(declare),
        "model_digest": None if file is None else digest_of(file),
        "hyperparameters": _plain("hyperparameters", given),
        "options": _plain("options", {name: value for name, value in options.items() if value is not None}),
        "seed": _recorded_seed(folder) if chosen_seed is None else chosen_seed,
        "icb_pymc": __version__,
    }
    sent = _as_others_find_it(declare)

    def submit(executor: Executor, subject: str) -> "Future[FitOutcome]":
        own_seed = seed_of(fits.settings["seed"], subject)
        own, of_file = by_subject[subject], fits.settings["model_digest"]
        work = SubjectFit(subject, own, sent, of_file, given, options, own_seed, fits.digest(subject))
        return executor.submit(fit_subject, work)

    with open_for_writing(fits):
        todo = [subject for subject in fits.subjects if not fits.is_done(subject)]
        with progress(len(todo), progressbar) as advance:

            def receive(subject: str, outcome: FitOutcome) -> None:
                if outcome.content is None:
                    fits.failures[subject] = outcome.error or "unknown"
                else:
                    fits.keep(subject, outcome.content)
                advance(subject)

            run_tasks(
                todo,
                submit,
                cluster(scheduler) if scheduler else processes(jobs, IN_HAND),
                receive,
                lambda subject, error: receive(subject, FitOutcome(None, error)),
            )
    if fits.failures and not len(fits):
        subject, reason = next(iter(fits.failures.items()))
        raise InputError(f"none of the {len(fits.subjects)} subjects could be fitted; '{subject}': {reason}")
    return fits


class _Subjects:
    """Decisions by subject; those of one log are divided, and those of a mapping read, when they are asked for."""

    def __init__(self, decisions: xr.Dataset | Mapping[Any, xr.Dataset]) -> None:
        self._read: Callable[[str], xr.Dataset]
        if isinstance(decisions, xr.Dataset):
            self._read, self.names = partial(decisions_by, decisions), agents_of(decisions)
        else:
            # Names may be numbers; the store writes them as text.
            keys = {str(name): name for name in decisions}
            if len(keys) < len(decisions):
                raise InputError(
                    "two subjects have the same name, once as a number and once as text; rename one of them."
                )
            self._read, self.names = (lambda subject: decisions[keys[subject]]), list(keys)
        if not self.names:
            raise InputError("there are no subjects: give the decisions of at least one.")

    def __getitem__(self, subject: str) -> xr.Dataset:
        return self._read(subject)

    def digests(self) -> dict[str, str]:
        """A hash of the decisions of each."""
        return {subject: digest_of_decisions(self[subject]) for subject in self.names}


def _plain(what: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as the index holds them, by which a store is recognised when a run is continued."""
    try:
        return json.loads(json.dumps(dict(sorted(values.items())), default=lambda value: value.tolist()))
    except (AttributeError, TypeError, ValueError):
        raise InputError(
            f"{what}: for many subjects give numbers, arrays or text; write a model with other priors as a file."
        ) from None


def _recorded_seed(folder: str | Path) -> int:
    """The seed of the run that is continued, or a new one."""
    recorded = read_fits(folder).settings.get("seed") if is_store(folder) else None
    return recorded if isinstance(recorded, int) else randbits(32)


def _as_others_find_it(declare: Declare) -> Path | Declare:
    """A model as another process can find it: a file by its path, a function by its name."""
    file = getattr(declare, "model_file", None)
    if file is not None:
        return Path(file).resolve()
    function: Any = getattr(declare, "func", declare)
    module = sys.modules.get(getattr(function, "__module__", ""))
    is_interactive = getattr(module, "__name__", "") == "__main__" and not hasattr(module, "__file__")
    if is_interactive or getattr(module, getattr(function, "__qualname__", ""), None) is not function:
        raise InputError(
            f"'{name_of(declare)}' cannot be found by other processes: write it to a file, and give its path."
        )
    return declare


def fit_subject(work: SubjectFit) -> FitOutcome:
    """Fit one subject, in any process: the same work gives the same trace."""
    return outcome_of(partial(_trace_of, work))


def _trace_of(work: SubjectFit) -> InferenceData:
    if work.version != __version__:
        raise InputError(f"this worker has icb_pymc {__version__}, not {work.version}: install that version there.")
    if work.model_digest is not None and digest_of(str(work.model)) != work.model_digest:
        raise InputError(f"{work.model} changed while it was in use; start again.")
    with quiet_fits() as cautions:
        trace = fit(
            work.model,
            work.decisions,
            work.hyperparameters,
            random_seed=work.seed,
            cores=1,
            progressbar=False,
            **work.options,
        )
    if trace.attrs["interrupted"]:
        raise InputError("the run was interrupted.")
    trace.attrs.update({"subject": work.subject, "fit_digest": work.digest, "warnings": "\n".join(cautions)})
    return trace


def seed_of(seed: int, subject: str) -> int:
    """The seed of a subject: it depends on its name alone, as children of a `SeedSequence` do on their number.

    Examples
    --------
    >>> seed_of(0, "Ada") == seed_of(0, "Ada"), seed_of(0, "Ada") == seed_of(0, "Bo")
    (True, False)
    """
    key = np.frombuffer(sha256(subject.encode()).digest(), dtype="<u4")
    return int(np.random.SeedSequence(seed, spawn_key=tuple(map(int, key))).generate_state(1)[0])
