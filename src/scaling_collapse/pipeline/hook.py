"""Snakemake's cache hook, answered by our store: `install(workflow)` at the end of a Snakefile is all that it takes.

Rules stay as they are. Before a run, what the targets need is restored, and only that: a figure that is cached needs no
curves, no runs and no corpus. Around each job that must run, its key is looked up once its inputs are there, and its
outputs are kept when it is done, in the process that runs it, so on a node of a cluster as well.

Uses internals of Snakemake 9 (Workflow._build_dag and execute, DAG.update_needrun, RuleCache); a test says when one
moves.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from snakemake.caching.rule import CacheFlag, RuleCache
from snakemake.exceptions import CacheMissException
from snakemake.logging import logger
from snakemake.settings.types import ExecMode

from scaling_collapse.cache.notes import mark_forces
from scaling_collapse.config.explain import did_you_mean
from scaling_collapse.errors import CacheError
from scaling_collapse.identity.difference import changes
from scaling_collapse.identity.hashing import Content
from scaling_collapse.identity.resolve import Graph, State, Where
from scaling_collapse.identity.stage import Stage
from scaling_collapse.paths import StagePaths
from scaling_collapse.pipeline.jobs import is_cached, stage_of, stages_of
from scaling_collapse.pipeline.lock import sole_pipeline
from scaling_collapse.pipeline.session import Mode, Session, count

#: Stages whose reason is told before a run; more would hide the rest.
SHOWN = 5


def install(workflow: Any, config: dict[str, Any]) -> None:
    """Put the cache behind every rule of a workflow. `config["cache"]` is a Mode, `on` if it is not set."""
    wanted = str(config.get("cache", Mode.ON))
    if wanted not in list(Mode):
        sys.exit(f"error: --config cache={wanted}: {did_you_mean(wanted, [mode.value for mode in Mode])}")
    hook = Hook(workflow, Mode(wanted))
    workflow.execute = hook.around(workflow.execute)


class Hook:
    """The cache in one process of Snakemake: the one that plans, or the one that runs a job on a node."""

    def __init__(self, workflow: Any, mode: Mode) -> None:
        self.workflow, self.mode = workflow, mode
        self.session: Session | None = None
        self.asked: tuple[set[str], set[str]] = (set(), set())  # files and rules that the user wants run (-f, -F, -R)
        self.told = 0  # stages whose reason was told

    def around(self, execute: Any) -> Any:
        """Return `execute` with the cache around it."""

        def cached(*arguments: Any, **options: Any) -> Any:
            build = self.workflow._build_dag
            with ExitStack() as held:

                def build_dag() -> None:
                    self.prepare(held)
                    build()

                self.workflow._build_dag = build_dag
                held.callback(self.close)
                return execute(*arguments, **options)

        return cached

    def prepare(self, held: ExitStack) -> None:
        """Take part in what Snakemake is about to do, unless it only pretends to do it. `held` ends with the run."""
        if self.workflow.touch or self.workflow.exec_mode == ExecMode.SUBPROCESS:
            return
        if self.plans and not self.workflow.dryrun and self.workflow.execution_settings.lock:
            self.lock(held)
        self.session = Session(Path(), self.mode, logger.warning, lambda text: logger.info(f"Cache: {text}"))
        dag = self.workflow.dag
        if self.plans:
            self.asked = set(map(str, dag.forcefiles)), {rule.name for rule in dag.forcerules}
            update = dag.update_needrun

            async def update_needrun(*arguments: Any, **options: Any) -> None:
                dag.update_needrun = update
                settled = await self.settle(dag)
                dag._finished |= settled
                await update(*arguments, **options)
                dag._finished -= settled
                dag._len = len(dag._needrun)

            dag.update_needrun = update_needrun
        if not self.workflow.dryrun:
            self.workflow.workflow_settings.cache = []
            for rule in self.workflow.rules:
                if rule.output and not rule.norun:
                    rule.cache = Around(rule, CacheFlag.output, self.session)

    @property
    def plans(self) -> bool:
        """Whether this is the process that the user started, not one of its jobs on a node."""
        return bool(self.workflow.exec_mode == ExecMode.DEFAULT)

    def lock(self, held: ExitStack) -> None:
        """Refuse a second pipeline in this clone, and clear away what one that was killed has left of its lock."""
        try:
            alone = held.enter_context(sole_pipeline(StagePaths(Path()).lock))
        except CacheError as error:
            sys.exit(f"error: {error}")  # as for a wrong configuration: one line
        kept = self.workflow.persistence
        if alone and any(kept._read_locks()):
            logger.warning("Cache: an earlier run was killed; its lock is cleared away.")
            kept.unlock()
            Path(kept._lockdir).mkdir(exist_ok=True)  # which it removes as well

    async def settle(self, dag: Any) -> set[Any]:
        """Restore what can be; force what is stale; return the jobs that Snakemake need not think about."""
        session = self.session
        assert session is not None
        jobs, targets = stages_of(dag, session.codes)
        graph = Graph(list(jobs.values()))
        session.forced = {stage.name for job, stage in jobs.items() if self.is_forced(job)}
        if self.workflow.dryrun:
            states = session.resolve(graph)
            self.tell_plan(graph.needed(states, targets))
        else:
            mark_forces(session.paths.forces, () if self.workflow.local_exec else session.forced)
            if session.pusher:
                session.pusher.push_marked()
            states = session.restore(graph, targets)
        running = {state.stage.name for state in graph.needed(states, targets) if state.must_run}
        settled, open_ended = set(), self.behind_uncached(dag, jobs)
        for job, stage in jobs.items():
            if job in open_ended:
                continue
            if stage.name not in running:
                settled.add(job)
                dag.forcefiles -= set(job.output)
                if not self.workflow.dryrun and await self.workflow.persistence.incomplete(job):
                    await self.workflow.persistence.finished(job)
            elif states[stage.name].where is Where.RUN:
                dag.forcefiles |= set(job.output)
                self.tell_why(states[stage.name])
        return settled

    @staticmethod
    def behind_uncached(dag: Any, jobs: dict[Any, Stage]) -> set[Any]:
        """Return the jobs that depend on one that is not kept, such as a rule with a directory: Snakemake decides."""
        loose = [job for job in dag.jobs if job.output and job not in jobs]
        return {later for job in loose for later in dag.bfs(dag.depending, job)}

    def is_forced(self, job: Any) -> bool:
        """Whether the user asked for a job to be run whatever is known."""
        files, rules = self.asked
        return job.rule.name in rules or not files.isdisjoint(map(str, job.output))

    def tell_plan(self, needed: Iterable[State]) -> None:
        """Say what a run would restore instead of running it."""
        if restored := sum(state.restorable for state in needed):
            logger.info(f"Cache: {count(restored)} would be restored, and so is not listed below.")

    def tell_why(self, state: State) -> None:
        """Say what changed since a stage's outputs were made, for the first few."""
        assert self.session is not None
        stage = state.stage
        made = self.session.made.get(stage.name)
        self.told += 1
        if made is None or self.told > SHOWN or stage.name in self.session.forced:
            return
        inputs = {path: self.session.hashes.content(path) for path in stage.inputs}
        now = stage.record(inputs | dict.fromkeys(stage.files, Content("", 0)))
        found = changes(made.record, now, {}, {})
        if found:
            logger.info(f"Cache: {stage.title} is out of date: {'; '.join(map(str, found[:3]))}")

    def close(self) -> None:
        """Finish pushes; in the process that plans, write dvc.yaml and dvc.lock."""
        if self.session is None or self.workflow.dryrun:
            return
        self.session.close()
        if self.plans:
            try:
                self.session.remember()
                if self.session.store:
                    self.session.record_stages(self.is_complete())
            except OSError as error:
                logger.warning(f"{error.filename}: cannot be written ({error.strerror}).")

    def is_complete(self) -> bool:
        """Whether every stage of the scale was asked for, so that one that is not among them has left the study."""
        dag = self.workflow.dag
        return any(job.rule.name == self.workflow.default_target for job in dag.targetjobs)


class Around(RuleCache):  # type: ignore[misc]
    """What Snakemake asks around each job of a rule (snakemake/executors/local.py)."""

    def __init__(self, rule: Any, flag: CacheFlag, session: Session) -> None:
        super().__init__(rule, flag)
        self.session = session

    async def exists(self, job: Any) -> bool:
        """Snakemake's own look-ahead, which is not used: whether outputs are cached depends on inputs not made yet."""
        return False

    async def fetch(self, job: Any) -> None:
        """Restore a job's outputs. Raises CacheMissException if the job must run."""
        try:
            stage = self.stage(job)
            found = stage is not None and self.session.fetch(stage)
        except Exception as error:  # a broken cache must not stop the work
            self.session.warn(f"{job.rule.name}: the cache cannot be read ({error!r}).")
            found = False
        if not found:
            raise CacheMissException(job.rule.name)

    async def store(self, job: Any) -> None:
        """Keep what a job has made."""
        try:
            if (stage := self.stage(job)) is not None:
                self.session.keep(stage)
        except Exception as error:  # nor must it lose a good result
            self.session.warn(f"{job.rule.name}: done, but not in the cache ({error!r}).")

    def stage(self, job: Any) -> Stage | None:
        """Return the stage of a job; None for one that is not kept."""
        return stage_of(job, self.session.codes) if is_cached(job) else None
