"""Real projects, built without incc and with it: `bench/builds.py --folder DIR [PROJECT …]`.

Each project is unpacked to one place, configured, built and tested several times: twice without incc, then once for
each way in which incc can be there (`--ways`). In front of PATH stands a folder with the compilers' names, which are
links to the compilers in the plain builds and to incc in the others, so that no file of a build has another name in
it. What two plain builds make alike must be made alike with incc, byte for byte: files that configure writes, and all
that the build makes. What differs between the two (dates, times of tests) is no fault and is counted.

Printed are, for each way: sources with a report, kernels, instructions that the model does not know, processor and
wall time of the build as multiples of the plain one (the faster of the two), and whether files, configuration and
tests agree.

Sources come from Debian's archive through `apt-get source`, with the mirrors that apt is set up for, and stay in DIR.
Needed are, by project, make, cmake, ninja and meson. Nothing is installed, and nothing outside of DIR is written.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import time

import msgspec


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A source package of Debian's, and how it is configured, built and tested: commands for a shell, run in the
    unpacked folder. `language` and `system` are for the table alone. `tools`: needed beside compilers and make.
    `within`: other packages, and the folders in the project's where their sources have to be."""

    package: str
    language: str
    system: str
    configure: str
    build: str
    test: str
    tools: tuple[str, ...] = ()
    within: tuple[tuple[str, str], ...] = ()


# Some ask for a CMake of 2.8, whose ways CMake 4 takes only if it is told to.
_CMAKE = "CMAKE_POLICY_VERSION_MINIMUM=3.5 cmake -G Ninja -S . -B out -DCMAKE_BUILD_TYPE=Release"
_WITH_CMAKE = ("cmake", "ninja")

# Debian takes the copy of googletest out of fmt; fmt's own is these two sources, too.
_GOOGLETEST = """\
add_library(gtest STATIC ../googletest/googletest/src/gtest-all.cc ../googletest/googlemock/src/gmock-all.cc)
target_include_directories(gtest SYSTEM PUBLIC ../googletest/googletest/include ../googletest/googlemock/include)
target_include_directories(gtest SYSTEM PRIVATE ../googletest/googletest ../googletest/googlemock)
"""
# All of fmt's tests would take minutes a build.
_FMT_TESTS = "args-test printf-test scan-test"

PROJECTS = {
    "zlib": Project(
        package="zlib", language="C", system="make", configure="./configure", build="make -j{jobs}", test="make test"
    ),
    "bzip2": Project(
        package="bzip2",
        language="C",
        system="make",
        configure="true",
        build="make -j{jobs} bzip2 bzip2recover libbz2.a",
        test="make test",
    ),
    "lz4": Project(
        package="lz4",
        language="C",
        system="make",
        configure="true",
        build="make -j{jobs} -C lib && make -j{jobs} -C programs",
        test="programs/lz4 -b1 -i0",
    ),
    "lua": Project(
        package="lua5.4",
        language="C",
        system="make",
        configure="true",
        build="make -j{jobs} -C src linux",
        test="src/lua -e 'assert(1 + 1 == 2)'",
    ),
    "libpng": Project(
        package="libpng1.6",
        language="C",
        system="autotools",
        configure="./configure --disable-dependency-tracking",
        build="make -j{jobs}",
        test="make check",
    ),
    "sqlite": Project(
        package="sqlite3",
        language="C",
        system="autotools",
        configure="./configure --disable-tcl --disable-readline",
        build="make -j{jobs} sqlite3",
        test="echo 'create table t(x); insert into t values(42); select * from t;' | ./sqlite3",
        tools=("tclsh",),
    ),
    "zstd": Project(
        package="libzstd",
        language="C",
        system="make",
        configure="true",
        build="make -j{jobs} -C lib && make -j{jobs} -C programs zstd",
        test="programs/zstd -b1 -i0",
    ),
    "fribidi": Project(
        package="fribidi",
        language="C",
        system="meson",
        configure="meson setup out -Ddocs=false",
        build="ninja -j{jobs} -C out",
        test="meson test -C out",
        tools=("meson", "ninja"),
    ),
    "brotli": Project(
        package="brotli",
        language="C",
        system="CMake, ninja",
        configure=_CMAKE,
        build="ninja -j{jobs} -C out",
        test="cd out && ctest",
        tools=_WITH_CMAKE,
    ),
    "fmt": Project(
        package="fmtlib",
        language="C++",
        system="CMake, ninja",
        configure=f"mkdir test/gtest && echo '{_GOOGLETEST}' > test/gtest/CMakeLists.txt && {_CMAKE} -DFMT_DOC=OFF",
        build=f"ninja -j{{jobs}} -C out fmt {_FMT_TESTS}",
        test=f"cd out && ctest -R '^({_FMT_TESTS.replace(' ', '|')})$'",
        tools=_WITH_CMAKE,
        within=(("googletest", "test/googletest"),),
    ),
    "blas": Project(
        package="lapack",
        language="Fortran",
        system="CMake, ninja",
        configure=f"{_CMAKE} -DBUILD_TESTING=ON -DBUILD_SHARED_LIBS=OFF",
        build="ninja -j{jobs} -C out blas && ninja -j{jobs} -C out BLAS/TESTING/all",
        test="cd out && ctest -R BLAS",
        tools=_WITH_CMAKE,
    ),
}


class Sources(msgspec.Struct, frozen=True):
    """A project's archive, and those of what has to be within its folder, by where."""

    archive: pathlib.Path
    within: dict[str, pathlib.Path]


WAYS = ("off", "lean", "full", "deferred", "build", "build-full", "again")
"""The ways of using incc, each with an empty cache except `again`.

off: in the compiler's place, without analysis; lean, full: requested by the environment, with analyses within each
command; deferred: lean, with INCC_DEFER=1 (the analysis by incc-report is timed separately); build, build-full: under
incc-build, with its workers; again: as build, a second time with the cache filled.
"""

HEADING = (
    f"{'project':9} {'way':11} {'units':>6} {'kernels':>8} {'unknown':>8} {'CPU':>6} {'wall':>6}  "
    "files, configuration, tests"
)

COMPILERS = ("cc", "gcc", "c++", "g++", "gfortran", "f77", "f95")

# What tells when, how long or where to, and belongs to no result.
_LOGS = re.compile(
    r"(^|/)(config\.log|\.ninja_(log|deps)|CMake(Output|Error)\.log|CMakeConfigureLog\.yaml|meson-logs/.*|Testing/.*"
    r"|meson-private/.*|LastTest.*\.log)$"
)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The results of one build. `configured` and `made`: digests of files, by name, after the configuration and at the
    end. `cpu`, `wall`: seconds of the build. `failed`: the step that failed, "" if none did."""

    configured: dict[str, str]
    made: dict[str, str]
    cpu: float
    wall: float
    tests: tuple[int, str]
    failed: str


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("projects", nargs="*", metavar="PROJECT", help=f"of {', '.join(PROJECTS)} (all)")
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="for sources and builds")
    parser.add_argument("--ways", default=",".join(WAYS), help=f"of {', '.join(WAYS)} (all)")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--cc", default="gcc", help="the C compiler that `cc` and `gcc` stand for (gcc)")
    parser.add_argument("--cxx", default="g++", help="likewise (g++)")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    options = parser.parse_args()
    ways = options.ways.split(",")
    unknown = [f"way {w}" for w in ways if w not in WAYS] + [
        f"project {p}" for p in options.projects if p not in PROJECTS
    ]
    if unknown:
        parser.error(f"no such {unknown[0]}")
    incc = shutil.which("incc")
    if not incc:
        parser.error("no incc in PATH")
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    print(HEADING)
    for name in options.projects or PROJECTS:
        project = PROJECTS[name]
        missing = [tool for tool in project.tools if not shutil.which(tool)]
        if missing:
            print(f"{name:9} not built: no {' and '.join(missing)}")
            continue
        try:
            archive = fetched(project.package, folder)
            within = {place: fetched(package, folder) for package, place in project.within}
        except (OSError, subprocess.CalledProcessError, LookupError) as error:
            print(f"{name:9} not built: its sources are not to be had: {error}")
            continue
        for row in compared(name, project, Sources(archive, within), folder, ways, options, incc):
            rows.append(row)
            print(line(row), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(row.get("same", True) for row in rows) else 1


def line(row: dict[str, object]) -> str:
    if "problem" in row:
        return f"{row['project']:9} {row['way']:11} {row['problem']}"
    return (
        f"{row['project']:9} {row['way']:11} {row['units']:6} {row['kernels']:8} {row['unknown']:8} "
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
):
    """The project's rows, first one of the plain builds."""
    real = {
        c: shutil.which(options.cc if c in ("cc", "gcc") else options.cxx if c in ("c++", "g++") else c)
        for c in COMPILERS
    }
    plain = [built(project, sources, folder, {c: p for c, p in real.items() if p}, {}, options.jobs) for _ in range(2)]
    if failed := next((run.failed for run in plain if run.failed), ""):
        yield {"project": name, "way": "plain", "problem": f"fails without incc: {failed}"}
        return
    cpu, wall = (min(run[n] for run in plain) for n in (2, 3))
    unstable = sum(plain[0].made.get(f) != plain[1].made.get(f) for f in {*plain[0].made, *plain[1].made})
    yield {
        "project": name,
        "way": "plain",
        "problem": f"{len(plain[0].made)} files, {unstable} differ between two builds; {cpu:.1f} s CPU, "
        f"{wall:.1f} s ({project.language}, {project.system})",
        "cpu_seconds": cpu,
        "wall_seconds": wall,
    }
    behind = folder / "behind"
    for way in ways:
        # The names lead to incc; behind it in PATH they lead to the compilers, where incc looks for them.
        links(behind, {c: p for c, p in real.items() if p})
        reports, cache = folder / "reports" / f"{name}-{way}", folder / "cache"
        shutil.rmtree(reports, ignore_errors=True)
        reports.mkdir(parents=True)
        if way != "again":
            shutil.rmtree(cache, ignore_errors=True)
        elif not cache.exists():
            built(
                project,
                sources,
                folder,
                dict.fromkeys(COMPILERS, incc),
                environment("build", reports, cache, behind),
                options.jobs,
                "build",
            )
            shutil.rmtree(reports)
            reports.mkdir()
        run = built(
            project,
            sources,
            folder,
            dict.fromkeys((c for c, p in real.items() if p), incc),
            environment(way, reports, cache, behind),
            options.jobs,
            way,
        )
        if run.failed:
            yield {"project": name, "way": way, "problem": f"FAILS with incc: {run.failed}", "same": False}
            continue
        row = {"project": name, "way": way, "cpu": run.cpu / cpu, "wall": run.wall / wall}
        if way == "deferred":
            start = time.monotonic()
            subprocess.run(
                ["incc-report", "-n1", str(reports)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            )
            row["analysis_seconds"] = time.monotonic() - start
        row |= counted(reports)
        files = differing(plain, [r.made for r in plain], run.made)
        configured = differing(plain, [r.configured for r in plain], run.configured)
        tests = plain[0].tests == run.tests or (plain[0].tests != plain[1].tests and plain[0].tests[0] == run.tests[0])
        row["same"] = not files and not configured and tests
        said = [
            f"{len(files)} files differ ({files[0]})" if files else "identical",
            f"{len(configured)} differ ({configured[0]})" if configured else "identical",
            "the same" if tests else "DIFFERENT",
        ]
        row["said"] = ", ".join(said) + (f"; analysed in {row['analysis_seconds']:.1f} s" if way == "deferred" else "")
        yield row


def environment(way: str, reports: pathlib.Path, cache: pathlib.Path, behind: pathlib.Path) -> dict[str, str]:
    """The variables that a way adds."""
    found = {"PATH_BEHIND": str(behind), "INCC_CACHE": str(cache)}
    if way in ("lean", "full", "deferred"):
        found |= {
            "INCC_ANALYZE": "1",
            "INCC_OUTPUT": str(reports),
            "INCC_FORMAT": "json",
            "INCC_MODE": "full" if way == "full" else "lean",
        }
    if way == "deferred":
        found["INCC_DEFER"] = "1"
    if way in ("build", "build-full", "again"):
        found |= {"INCC_MODE": "full" if way == "build-full" else "lean", "REPORTS": str(reports)}
    return found


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
    with open(folder / "log", "a", encoding="utf-8") as log:
        log.write(f"\n=== {sources.archive.name} {way or 'plain'}\n")

        def step(command: str, env: dict[str, str], words: tuple[str, ...] = ()) -> int:
            log.flush()
            shell = [*words, "sh", "-c", command]
            return subprocess.run(
                shell, cwd=source, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False
            ).returncode

        # incc is there when a project is configured, too.
        if step(project.configure, variables if way in ("lean", "full", "deferred") else quiet):
            return Run(configured={}, made={}, cpu=0, wall=0, tests=(0, ""), failed=project.configure)
        configured = digests(source)
        wrapped = ("incc-build", "-o", reports, "--") if reports else ()
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        if step(project.build.format(jobs=jobs), variables, wrapped):
            return Run(configured={}, made={}, cpu=0, wall=0, tests=(0, ""), failed=project.build)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    made = digests(source)
    tested = subprocess.run(
        project.test,
        shell=True,
        cwd=source,
        env=quiet,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    said = re.sub(r"\d+([.:]\d+)*", "N", tested.stdout.decode("utf-8", "replace"))
    return Run(configured=configured, made=made, cpu=cpu, wall=wall, tests=(tested.returncode, said), failed="")


def links(folder: pathlib.Path, names: dict[str, str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, target in names.items():
        (folder / name).symlink_to(target)


def digests(folder: pathlib.Path) -> dict[str, str]:
    """Return the digests of all files below a folder except logs."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not path.is_symlink() and not _LOGS.search(name):
            found[name] = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    return found


def differing(plain: list[Run], both: list[dict[str, str]], made: dict[str, str]) -> list[str]:
    """The files that two plain builds made alike and the third did not."""
    first, second = both
    return sorted(
        [name for name, digest in first.items() if second.get(name) == digest and made.get(name) != digest]
        + [name for name in made if name not in first and name not in second]
    )


def counted(reports: pathlib.Path) -> dict[str, int]:
    units = kernels = unknown = 0
    for path in reports.glob("*.json"):
        with contextlib.suppress(ValueError, KeyError):
            for unit in json.loads(path.read_bytes())["units"]:
                units += 1
                kernels += len(unit["kernels"])
                unknown += sum(len(kernel["unknown_instructions"]) for kernel in unit["kernels"])
    return {"units": units, "kernels": kernels, "unknown": unknown}


# --- sources ----------------------------------------------------------------------------------------------------------


def fetched(package: str, folder: pathlib.Path) -> pathlib.Path:
    """The archive with the sources of a package, as its authors have them."""
    place = folder / "sources"
    if found := archive_of(package, place):
        return found
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
    subprocess.run(get, check=True, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if found := archive_of(package, place):
        return found
    raise LookupError(f"no archive of {package}")


def archive_of(package: str, place: pathlib.Path) -> pathlib.Path | None:
    found = sorted(p for p in place.glob(f"{package}_*.orig.tar.*") if p.suffix != ".asc")
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
