"""The scan that a command line requests, here and in the processes of a cluster."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from incc.core.analysis import KernelSettings
from incc.driver import UsageError
from incc.driver.cli.parsers import Parser, settings_of
from incc.driver.commands.scan.analysis import Scan
from incc.driver.commands.scan.options import COMMAND, FORMATS
from incc.driver.commands.scan.responders import OutcomeResponder, RowResponder
from incc.driver.cores import cores_of, named_cores
from incc.driver.pipeline import choose_model
from incc.driver.settings import REPORTED, Settings
from incc.fleet.engines import Respond
from incc.frontends.gcc_wrapper.compile_commands import NAME
from incc.frontends.isa import isa, names
from incc.models.loading import list_models, load

if TYPE_CHECKING:
    import argparse


def requested_scan(options: argparse.Namespace) -> Scan:
    """Return the settings of the command line. Raises UsageError, and AnalysisError for an unknown core."""
    _name_output(options)
    _name_project(options)
    in_project = options.project is not None
    _check(options, in_project)
    dataset = names_dataset(options)
    # What runs on this machine is compared with a model of its core, whatever core a command is for.
    mcpu = options.mcpu or ("native" if options.measure else "")
    own_cores = in_project and not mcpu
    if dataset and own_cores:
        raise UsageError("-o FOLDER with -p requires -mcpu: a dataset is for the same cores throughout")
    kernel = REPORTED if options.reports else KernelSettings(arrays="likely")
    settings = settings_of(COMMAND, options, Settings(kernel=kernel))
    each_core = _cores(mcpu, settings) if mcpu else [settings]
    if mcpu or not in_project:
        choose_model(each_core[0].core.mcpu, "", each_core[0].core.model_path)  # for its errors
    if options.format == "cycles" and (len(each_core) > 1 or (in_project and not mcpu)):
        raise UsageError("--format=cycles is for one core; name it with -mcpu")
    if options.cluster:
        # The machines of a cluster are of other cores than this one.
        each_core = [each if own_cores else _named(each) for each in each_core]
    return Scan(
        cores=each_core,
        own_cores=own_cores,
        rows=options.format == "json" or dataset,
        dataset=dataset,
        format=options.format,
        condition=options.where,
        top=options.top,
        searches_folders=any(os.path.isdir(name) for name in options.files),
        measure=options.measure,
        unsafe=options.unsafe,
        reports=options.reports or "",
        requested=bool(options.files),
    )


def _check(options: argparse.Namespace, in_project: bool) -> None:
    """Raise UsageError for options that do not go together."""
    if options.measure and options.jobs > 1:
        raise UsageError("--measure and -j cannot be combined: kernels are measured one at a time")
    if options.cluster and options.jobs:
        raise UsageError("--cluster and -j cannot be combined; --cluster=local:N starts N workers")
    if options.measure and options.cluster.partition(":")[0] == "local" and options.cluster != "local:1":
        raise UsageError("--measure requires --cluster=local:1: kernels are measured one at a time")
    if options.reports and not in_project:
        raise UsageError("--reports requires -p")
    if options.trust and not in_project:
        raise UsageError("--trust requires -p")
    if options.files.count("-") > 1:
        raise UsageError("standard input can be read only once")
    if options.input_format and in_project:
        raise UsageError("--input-format and -p cannot be combined")


def _name_output(options: argparse.Namespace) -> None:
    """Read the former --output=FORMAT|FILE as --format or -o."""
    former = options.former_output
    if former in ("table", "json", *FORMATS):
        options.format = {"table": "text", "json": "reports"}.get(former, former)
    elif former:
        options.output = former


def _name_project(options: argparse.Namespace) -> None:
    """Read a compile_commands.json as -p does. Raises UsageError if it is one of several inputs."""
    if options.project is not None or NAME not in map(os.path.basename, options.files):
        return
    if len(options.files) > 1:
        raise UsageError(f"{NAME} cannot be combined with other inputs; -p {NAME} analyses some of its sources")
    options.project, options.files = options.files[0], []


def names_dataset(options: argparse.Namespace) -> bool:
    """Return True if the output is a dataset: a folder, or a new name without an ending and no format is requested."""
    path = options.output
    if not path:
        return False
    if os.path.isdir(path) or path.endswith(os.sep):
        return True
    return not (os.path.exists(path) or os.path.splitext(path)[1] or options.format != FORMATS[0])


def _named(settings: Settings) -> Settings:
    """Return settings that name this machine's core if they mean it."""
    if settings.core.mcpu not in ("", "native"):
        return settings
    return settings.on(choose_model(settings.core.mcpu, "", settings.core.model_path).model.name)


def _cores(mcpu: str, settings: Settings) -> list[Settings]:
    """Return the settings for each core of a list. Raises AnalysisError."""
    if "all" in named_cores(mcpu):
        path = settings.core.model_path
        models = [load(entry.path, path) for entry in list_models(path)]
        # Blocks of machine code are read as the first core's.
        mcpu = ",".join(model.name for model in sorted(models, key=lambda model: names().index(model.isa)))
    return cores_of(settings.on(mcpu))


class _Words(msgspec.Struct, frozen=True):
    """The parts of a scan that another process needs to make the same one."""

    words: list[str]
    """The command line."""
    mcpu: str
    """The cores by their names: another machine is of another core."""
    of_disk: dict[str, Any]
    """The attributes of the scan that depend on the files of the machine where it was requested."""


def encoded_scan(words: list[str], scan: Scan) -> bytes:
    """Return a scan for other processes: the command line and what it means on this machine."""
    mcpu = "" if scan.own_cores else ",".join(settings.core.mcpu for settings in scan.cores)
    of_disk = {name: getattr(scan, name) for name in ("format", "rows", "dataset", "searches_folders")}
    return msgspec.msgpack.encode(_Words(words, mcpu, of_disk))


def responder_of(settings: bytes) -> Respond:
    """Return the function that answers the requests of a scan, with everything loaded that it needs."""
    described = msgspec.msgpack.decode(settings, type=_Words)
    options = Parser(COMMAND).parse_args(described.words)
    options.mcpu = described.mcpu
    options.output = options.former_output = None
    return responding(msgspec.structs.replace(requested_scan(options), **described.of_disk))


def responding(scan: Scan) -> Respond:
    """Return the function that answers a scan's requests, with everything loaded that it needs."""
    responder = RowResponder(scan) if scan.rows else OutcomeResponder(scan)
    models = responder.analyser.models
    isa(models[0].isa if models else names()[0]).load()
    return responder
