"""Real projects, built without incc and with it: `bench/builds.py --folder DIR [PROJECT …]`.

Each project is unpacked to one place, configured, built and tested several times: twice without incc, then once for
each way in which incc can be there (`--ways`). In front of PATH stands a folder with the compilers' names. They are
links to incc where it is in the compiler's place, and links to the compilers in plain builds and under incc-build,
which has to find them itself. What two plain builds make alike must be made alike with incc, byte for byte: files that
configure writes, and all that the build makes. What differs between the two (dates, times of tests) is no fault and is
counted.

Printed are, for each way: sources with a report, kernels, loops of system headers that are only counted, instructions
that the model does not know, processor and wall time of the build with all workers as multiples of the plain one (the
faster of the two), and whether files, configuration and tests agree, and the loops with those of the first way. What is
compiled while a project is configured is not counted. At the end come the geometric means of the processor time and the
goals. `--stages` prints for `deferred` in which parts of the analysis the time goes; it takes three times as long under
the profiler.

Sources come from Debian's archive through `apt-get source`, with the mirrors that apt is set up for, or from PyPI, and
stay in DIR.
Needed are, by project, make, cmake, ninja and meson. Nothing is installed, and nothing outside of DIR is written.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import ctypes
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from typing import Any

import msgspec


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A project of builds.toml, which explains the fields."""

    package: str
    language: str
    system: str
    configure: str
    build: str
    test: str
    tools: tuple[str, ...] = ()
    within: dict[str, str] = {}


PROJECTS = msgspec.toml.decode(pathlib.Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, Project])


class Sources(msgspec.Struct, frozen=True):
    """A project's archive, and those of what has to be within its folder, by where."""

    archive: pathlib.Path
    within: dict[str, pathlib.Path]


UNDER_BUILD = ("build", "again", "build-full", "configured")

WAYS = ("off", "lean", "full", "deferred", *UNDER_BUILD)
PROBE = "probe"
"""The ways of using incc, each with an empty cache except `again`.

off: in the compiler's place, without analysis; lean, full: requested by the environment, with analyses within each
command; deferred: lean, with INCC_DEFER=1 (the analysis by incc-report is timed separately); build, build-full: a tree
that was configured without incc, under incc-build; again: as build, a second time with the cache filled; configured:
also configured under incc-build, which gives trees of CMake the paths of its links.

Only on request: probe: all loops get probes, and the tests run with them. Only the results of the tests are compared.
"""

GOALS = {"off": 1.01, "lean": 1.35, "full": 2.2, "build": 1.35, "again": 1.08}
"""The greatest geometric means of the processor time that are wanted."""

HEADING = (
    f"{'project':9} {'way':11} {'units':>6} {'kernels':>8} {'system':>7} {'unknown':>8} {'CPU':>6} {'wall':>6}  "
    "files, configuration, tests"
)

COMPILERS = ("cc", "gcc", "c++", "g++", "gfortran", "f77", "f95")

# What tells when, how long, where to or in which environment, and belongs to no result.
_LOGS = re.compile(
    r"(^|/)(config\.log|\.ninja_(log|deps)|CMake(Output|Error)\.log|CMakeConfigureLog\.yaml|meson-logs/.*|Testing/.*"
    r"|meson-private/.*|LastTest.*\.log|\.lock-waf_.*)$"
)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The results of one build."""

    configured: dict[str, str] = {}
    """Digests of files after the configuration, by name."""
    made: dict[str, str] = {}
    """Digests of files at the end, by name."""
    cpu: float = 0.0
    """Processor time of the build in seconds."""
    wall: float = 0.0
    """Wall time of the build in seconds."""
    tests: tuple[int, str] = (0, "")
    """Exit status and output of the tests."""
    failed: str = ""
    """The step that failed."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("projects", nargs="*", metavar="PROJECT", help=f"of {', '.join(PROJECTS)} (all)")
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="for sources and builds")
    parser.add_argument("--ways", default=",".join(WAYS), help=f"of {', '.join(WAYS)} (all), and {PROBE}")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--cc", default="gcc", help="the C compiler that `cc` and `gcc` stand for (gcc)")
    parser.add_argument("--cxx", default="g++", help="likewise (g++)")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    parser.add_argument("--stages", action="store_true", help="print the parts of the analysis (of `deferred`)")
    options = parser.parse_args()
    ways = options.ways.split(",")
    unknown = [f"way {w}" for w in ways if w not in (*WAYS, PROBE)] + [
        f"project {p}" for p in options.projects if p not in PROJECTS
    ]
    if unknown:
        parser.error(f"no such {unknown[0]}")
    incc = shutil.which("incc")
    if not incc:
        parser.error("no incc in PATH")
    # What a build leaves becomes this process's.
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    print(HEADING)
    for name in options.projects or PROJECTS:
        project = PROJECTS[name]
        missing = [tool for tool in project.tools if not shutil.which(tool)]
        if missing:
            print(f"{name:9} not built: no {' and '.join(missing)}")
            continue
        try:
            archive = fetched(project.package, folder)
            within = {place: fetched(package, folder) for place, package in project.within.items()}
        except (OSError, subprocess.CalledProcessError, LookupError) as error:
            print(f"{name:9} not built: its sources are not available: {error}")
            continue
        for row in compared(name, project, Sources(archive, within), folder, ways, options, incc):
            rows.append(row)
            print(line(row), flush=True)
    for way in ways:
        if factors := [row["cpu"] for row in rows if row["way"] == way and "cpu" in row]:
            goal = f", goal {GOALS[way]:.2f}" if way in GOALS else ""
            mean = statistics.geometric_mean(factors)
            print(f"{way}: geometric mean {mean:.2f}, largest {max(factors):.2f}{goal}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(row.get("same", True) for row in rows) else 1


def line(row: dict[str, Any]) -> str:
    if "problem" in row:
        return f"{row['project']:9} {row['way']:11} {row['problem']}"
    return (
        f"{row['project']:9} {row['way']:11} {row['units']:6} {row['kernels']:8} {row['system']:7} {row['unknown']:8} "
        f"{row['cpu']:6.2f} {row['wall']:6.2f}  {row['said']}"
    )


def compared(
    name: str,
    project: Project,
    sources: Sources,
    folder: pathlib.Path,
    ways: list[str],
    options: argparse.Namespace,
    incc: str,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a project, first that of the plain builds."""
    chosen = {"cc": options.cc, "gcc": options.cc, "c++": options.cxx, "g++": options.cxx}
    compilers = {c: path for c in COMPILERS if (path := shutil.which(chosen.get(c, c)))}
    wrapped = dict.fromkeys(compilers, incc)
    plain = [built(project, sources, folder, compilers, {}, options.jobs) for _ in range(2)]
    if failed := next((run.failed for run in plain if run.failed), ""):
        yield {"project": name, "way": "plain", "problem": f"fails without incc: {failed}"}
        return
    cpu, wall = min(run.cpu for run in plain), min(run.wall for run in plain)
    unstable = sum(plain[0].made.get(f) != plain[1].made.get(f) for f in {*plain[0].made, *plain[1].made})
    yield {
        "project": name,
        "way": "plain",
        "problem": f"{len(plain[0].made)} files, {unstable} differ between two builds; {cpu:.1f} s CPU, "
        f"{wall:.1f} s ({project.language}, {project.system})",
        "cpu_seconds": cpu,
        "wall_seconds": wall,
    }
    # The names lead to incc; behind it in PATH they lead to the compilers, where incc looks for them.
    behind, cache = folder / "behind", folder / "cache"
    links(behind, compilers)
    last = ""
    loops: list[int] = []
    for way in ways:
        reports = folder / "reports" / f"{name}-{way}"
        emptied(reports)
        names = compilers if way in UNDER_BUILD else wrapped
        # Reports of another way are of other commands.
        if (last, way) != ("build", "again"):
            shutil.rmtree(cache, ignore_errors=True)
        last = way
        if way == "again" and not cache.exists():
            first = environment("build", reports, cache, behind)
            built(project, sources, folder, names, first, options.jobs, "build")
            emptied(reports)
        run = built(project, sources, folder, names, environment(way, reports, cache, behind), options.jobs, way)
        if run.failed:
            yield {"project": name, "way": way, "problem": f"FAILS with incc: {run.failed}", "same": False}
        else:
            row: dict[str, Any] = {"project": name, "way": way, "cpu": run.cpu / cpu, "wall": run.wall / wall}
            if way == PROBE:
                yield row | probed(plain, run, folder / "build", reports)
                continue
            if way == "deferred" and options.stages:
                print_stages(reports, cpu)
            row |= outcome(plain, run, reports, way)
            if way != "off":
                loops.append(row["kernels"] + row["system"])
                if loops[-1] != loops[0]:
                    row |= {"same": False, "said": f"{row['said']}; {loops[-1]} LOOPS, not {loops[0]}"}
            yield row


def outcome(plain: list[Run], run: Run, reports: pathlib.Path, way: str) -> dict[str, Any]:
    """Return what the reports of a build have, and whether its results are those of the plain builds."""
    row: dict[str, Any] = {}
    analysed = ""
    if way == "deferred":
        start = time.monotonic()
        subprocess.run(
            ["incc-report", "--drain", "-n1", str(reports)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        row["analysis_seconds"] = time.monotonic() - start
        analysed = f"; analysed in {row['analysis_seconds']:.1f} s"
    files = differing([r.made for r in plain], run.made)
    configured = differing([r.configured for r in plain], run.configured)
    tests = plain[0].tests == run.tests or (plain[0].tests != plain[1].tests and plain[0].tests[0] == run.tests[0])
    text = ", ".join(
        [
            f"{len(files)} files differ ({files[0]})" if files else "identical",
            f"{len(configured)} differ ({configured[0]})" if configured else "identical",
            "the same" if tests else "DIFFERENT",
        ]
    )
    return row | counted(reports) | {"same": not files and not configured and tests, "said": text + analysed}


def probed(plain: list[Run], run: Run, tree: pathlib.Path, profiles: pathlib.Path) -> dict[str, Any]:
    """Return which loops of a build have probes, which count their iterations, and whether its tests are the same."""
    from incc.frontends.elf import read_elf
    from incc.running.units import SECTION, units_in

    loops: dict[tuple[bytes, bytes], bytes] = {}
    skipped: dict[tuple[str, str], str] = {}
    for path in tree.rglob("*"):
        if path.is_file() and not path.is_symlink() and (data := path.read_bytes()).startswith(b"\x7fELF"):
            loops |= {(unit, kernel): counted for unit, kernel, counted in _DESCRIPTION.findall(data)}
            with contextlib.suppress(ValueError, LookupError):
                for unit, _ in units_in(bytes(read_elf(data).content(SECTION))):
                    skipped |= {
                        (unit.key, each.kernel): re.sub(r"line \d+", "line N", each.reason) for each in unit.skipped
                    }
    reasons = collections.Counter(skipped.values())
    counting = sum(counted == b"true" for counted in loops.values())
    same = all(test == run.tests for test in (plain[0].tests, plain[1].tests)) or (
        plain[0].tests != plain[1].tests and plain[0].tests[0] == run.tests[0]
    )
    without = "; ".join(f"{number} {reason}" for reason, number in reasons.most_common())
    recorded = len(list(profiles.glob("*.probes")))
    said = (
        f"tests {'the same' if same else 'DIFFERENT'}, {recorded} profiles; {len(loops)} loops with probes,"
        f" {counting} count; {len(skipped)} without{': ' if without else ''}{without}"
    )
    return {"units": 0, "kernels": len(loops), "system": 0, "unknown": len(skipped), "same": same, "said": said}


_DESCRIPTION = re.compile(rb'\{"unit": ?"([0-9a-f]+)", ?"kernel": ?"([^"]*)"[^}]*"counted": ?(true|false)[,}]')
"""The description of a loop in an object (`incc.running.insertion`)."""


def environment(way: str, reports: pathlib.Path, cache: pathlib.Path, behind: pathlib.Path) -> dict[str, str]:
    """Return the variables that a way adds."""
    variables = {"INCC_CACHE": str(cache), "XDG_DATA_HOME": str(cache.with_name("data"))}
    if way == PROBE:
        return variables | {"INCC_PROBE": "1", "INCC_PROBES": str(reports), "PATH_BEHIND": str(behind)}
    if way != "off":
        variables["INCC_MODE"] = "full" if way in ("full", "build-full") else "lean"
    if way in ("lean", "full", "deferred"):
        variables |= {"INCC_ANALYZE": "1", "INCC_OUTPUT": str(reports), "INCC_FORMAT": "json"}
    if way == "deferred":
        variables["INCC_DEFER"] = "1"
    if way in UNDER_BUILD:
        variables["REPORTS"] = str(reports)
    else:
        variables["PATH_BEHIND"] = str(behind)
    return variables


# --- one build --------------------------------------------------------------------------------------------------------


def built(
    project: Project,
    sources: Sources,
    folder: pathlib.Path,
    names: dict[str, str],
    added: dict[str, str],
    jobs: int,
    way: str = "",
) -> Run:
    """Unpack, configure, build and test. `names`: what each compiler's name leads to."""
    place, front = folder / "build", folder / "front"
    shutil.rmtree(place, ignore_errors=True)
    source = unpacked(sources, place)
    links(front, names)
    variables = {k: v for k, v in os.environ.items() if not k.startswith("INCC_")}
    variables |= added | {"LC_ALL": "C", "SOURCE_DATE_EPOCH": "1700000000", "CC": "gcc", "CXX": "g++", "FC": "gfortran"}
    path = [str(front), *filter(None, [variables.pop("PATH_BEHIND", "")]), variables.get("PATH", "")]
    variables["PATH"] = ":".join(path)
    reports = variables.pop("REPORTS", "")
    quiet = {k: v for k, v in variables.items() if not k.startswith("INCC_") or k == "INCC_CACHE"}
    # Tests link programs of their own with what was built.
    tested_in = variables if way == PROBE else quiet
    with open(folder / "log", "a", encoding="utf-8") as log:
        log.write(f"\n=== {sources.archive.name} {way or 'plain'}\n")

        def step(command: str, env: dict[str, str], words: tuple[str, ...] = ()) -> int:
            log.flush()
            shell = [*words, "sh", "-c", command]
            return subprocess.run(
                shell, cwd=source, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False
            ).returncode

        wrapped = ("incc-build", "-o", reports, "--") if reports else ()
        # incc is there when a project is configured, too.
        analysed = way in ("lean", "full", "deferred", "configured", PROBE)
        if step(project.configure, variables if analysed else quiet, wrapped if way == "configured" else ()):
            return Run(failed=project.configure)
        links_of_build = pathlib.Path(added.get("XDG_DATA_HOME", "")) / "incc" / "links"
        renamed = (bytes(links_of_build), bytes(front)) if way == "configured" else None
        configured = digests(source, renamed)
        # Some projects compile programs for their configuration.
        if reported := added.get("INCC_OUTPUT", reports):
            emptied(pathlib.Path(reported))
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        if step(project.build.format(jobs=jobs), variables, wrapped):
            return Run(failed=project.build)
        wall = time.monotonic() - start
        reap()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    made = digests(source, renamed)
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    tested = subprocess.run(project.test, shell=True, cwd=source, env=tested_in, check=False, **streams)
    # Times and counts differ between two runs of the same tests, and with them the blanks in front of them.
    output = re.sub(r"[ \t]*\d+([.:]\d+)*", " N", tested.stdout.decode("utf-8", "replace"))
    return Run(configured=configured, made=made, cpu=cpu, wall=wall, tests=(tested.returncode, output))


def emptied(folder: pathlib.Path) -> None:
    """Remove a folder with all that is in it, and make it again."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def links(folder: pathlib.Path, names: dict[str, str]) -> None:
    """Fill a folder with links, and nothing else."""
    emptied(folder)
    for name, target in names.items():
        (folder / name).symlink_to(target)


def reap() -> None:
    """Wait for processes that a build has left (incc's workers), whose time counts as the build's."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def digests(folder: pathlib.Path, renamed: tuple[bytes, bytes] | None = None) -> dict[str, str]:
    """Return the digests of all files below a folder except logs. `renamed`: a path, and the one to take it for."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not path.is_symlink() and not _LOGS.search(name):
            content = path.read_bytes().replace(*renamed) if renamed else path.read_bytes()
            found[name] = hashlib.blake2b(content, digest_size=16).hexdigest()
    return found


def differing(both: list[dict[str, str]], made: dict[str, str]) -> list[str]:
    """Return the files that two plain builds made alike and the third did not."""
    first, second = both
    return sorted(
        [name for name, digest in first.items() if second.get(name) == digest and made.get(name) != digest]
        + [name for name in made if name not in first and name not in second]
    )


def counted(reports: pathlib.Path) -> dict[str, int]:
    units = kernels = system = unknown = 0
    for path in reports.glob("*.json"):
        with contextlib.suppress(ValueError, KeyError):
            for unit in json.loads(path.read_bytes())["units"]:
                units += 1
                kernels += len(unit["kernels"])
                system += unit["system_loops"]
                unknown += sum(len(kernel["unknown_instructions"]) for kernel in unit["kernels"])
    return {"units": units, "kernels": kernels, "system": system, "unknown": unknown}


# --- the parts of an analysis -----------------------------------------------------------------------------------------

# Functions that make up a part, and those within them that belong to another one, by file and name.
STAGES = {
    "parse, find loops": (["pipeline.py:read_assembly", "pipeline.py:select"], []),
    "assembler": (["x86/assembler.py:assemble"], []),
    "decode": (["pipeline.py:decode_unit"], ["x86/assembler.py:assemble"]),
    "bind": (["binding/bind.py:bind"], []),
    "simulate": (["core/analysis.py:_predict"], []),
    "what-ifs": (["core/analysis.py:_more_simulations"], []),
    "paths, ranges": (["core/ways.py:analyze_ways", "core/ranges.py:find_range"], []),
    "calls": (["pipeline.py:_with_calls"], []),
    "hints": (["hints/__init__.py:hints"], []),
    "report": (["report/build.py:unit_report"], ["core/ranges.py:find_range", "hints/__init__.py:hints"]),
    "write": (["jobs.py:_put"], []),
}


def print_stages(reports: pathlib.Path, plain: float) -> None:
    """Analyse copies of the jobs of a folder under the profiler, and print the share of each part of the time."""
    place = reports.with_name("stages")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(reports, place)
    program = (
        "import cProfile, pstats, sys, json, pathlib, time\n"
        "from incc.driver.builds.jobs import run_job\n"
        "from incc.driver.builds.workers import load_everything\n"
        "from incc.driver.messages import collect_seldom\n"
        "load_everything(); collect_seldom()\n"
        "jobs = sorted(pathlib.Path(sys.argv[1], '.incc/jobs').iterdir())\n"
        "profile = cProfile.Profile(time.process_time)\n"
        "profile.enable()\n"
        "for job in jobs: run_job(str(job))\n"
        "profile.disable()\n"
        "stats = pstats.Stats(profile)\n"
        "print(json.dumps([[f'{file}:{name}', v[3]] for (file, _, name), v in stats.stats.items()]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(place)], check=True, capture_output=True, text=True)
    shutil.rmtree(place)
    times: list[tuple[str, float]] = json.loads(done.stdout)

    def of(functions: list[str]) -> float:
        return sum(seconds for name, seconds in times if name.endswith(tuple(f"/{f}" for f in functions)))

    whole = of(["jobs.py:run_job"])
    parts = {stage: of(functions) - of(others) for stage, (functions, others) in STAGES.items()}
    shares = ", ".join(f"{stage} {100 * seconds / whole:.0f} %" for stage, seconds in parts.items())
    print(f"  of the analysis ({whole:.1f} s under the profiler, plain build {plain:.1f} s): {shares}")


# --- sources ----------------------------------------------------------------------------------------------------------


def fetched(package: str, folder: pathlib.Path) -> pathlib.Path:
    """The archive with the sources of a package, as its authors have them."""
    place = folder / "sources"
    if found := archive_of(package, place):
        return found
    if package.startswith(PYPI):
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps"]
        pip += ["--no-binary", ":all:", "--dest", str(place), package.removeprefix(PYPI)]
        subprocess.run(pip, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    else:
        fetch_from_debian(package, place, folder)
    if found := archive_of(package, place):
        return found
    raise LookupError(f"no archive of {package}")


def fetch_from_debian(package: str, place: pathlib.Path, folder: pathlib.Path) -> None:
    lists = folder / "apt"
    (lists / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (lists / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    place.mkdir(parents=True, exist_ok=True)
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={lists}/sources.list", "-o", "Dir::Etc::sourceparts=-"]
    apt += ["-o", f"Dir::State::lists={lists}/lists", "-o", f"Dir::Cache={lists}/cache", "-o", "APT::Sandbox::User="]
    if not (lists / "sources.list").exists():
        targets = ["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
        known = subprocess.run(targets, check=True, capture_output=True, text=True).stdout
        wanted = sorted({f"deb-src {text}" for text in known.splitlines()})
        (lists / "sources.list").write_text("".join(f"{text}\n" for text in wanted))
        subprocess.run([*apt, "update"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    get = [*apt, "source", "--download-only", package]
    # Mirrors may lack what Debian adds to the archive.
    subprocess.run(get, check=False, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


PYPI = "pypi:"


def archive_of(package: str, place: pathlib.Path) -> pathlib.Path | None:
    pattern = f"{package.removeprefix(PYPI)}-*.tar.gz" if package.startswith(PYPI) else f"{package}_*.orig.tar.*"
    found = sorted(p for p in place.glob(pattern) if p.suffix != ".asc")
    return found[-1] if found else None


def unpacked(sources: Sources, place: pathlib.Path) -> pathlib.Path:
    """The folder of a project's sources. All files get one date, so that nothing is made again for its age."""
    source = extracted(sources.archive, place)
    for name, archive in sources.within.items():
        extracted(archive, place / "within").rename(source / name)
    for path in source.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (1700000000, 1700000000))
    return source


def extracted(archive: pathlib.Path, place: pathlib.Path) -> pathlib.Path:
    """The one folder that an archive has in it."""
    with tarfile.open(archive) as tar:
        # Debian 12's Python 3.11 does not know filters yet.
        tar.extractall(place, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # type: ignore[arg-type]
    (folder,) = place.iterdir()
    return folder


if __name__ == "__main__":
    sys.exit(main())
