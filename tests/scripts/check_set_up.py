#!/usr/bin/env python3
"""Checks ./run and its set-up on machines that lack something: they must say what, and what to do about it.

usage: check_set_up.py PATH-OF-RUN

The bash functions are the real ones. The machine around them is a folder of commands that say what they are
told to: who the user is, which packages there are, how much space is left.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import results

RUN = pathlib.Path(sys.argv[1]).resolve()
NEEDED = "awk bash cat cp dirname env mkdir readlink rm sed tail tr wc".split()
BASH = shutil.which("bash")
SPACE = 100_000  # MB, more than enough

# As the real one, it fails where it has never heard of a package, and knows those that were removed.
DPKG_QUERY = """#!/bin/bash
[ "$1" = -W ] && [ "$2" = '-f=${Package}=${db:Status-Status} ' ] || exit 2
status=0
for name in "${@:3}"; do
  if line=$(grep -m 1 "^$name=" "$PACKAGES"); then printf '%s ' "$line"; else status=1; fi
done
exit $status
"""

# It answers as the python of that version would: the code it is given runs in a real one.
PYTHON = """import sys, sysconfig, types
sys.version_info = {version}
for name in ["venv", "ensurepip"]:
    sys.modules[name] = types.ModuleType(name) if {venv} else None
sys.modules["torch"] = None
sysconfig.get_path = lambda name: {include!r}
option, code, *sys.argv[1:] = sys.argv[1:]
assert option == "-c"
exec(code)
"""

# The .venv's: it says that every module is there, and which script it was asked to run, in which folder.
VENV_PYTHON = """#!/bin/bash
[ "$1" != - ] || exit 0
{ echo "$PWD"; printf '%s\\n' "$@"; echo "SETUP_SECONDS=${SETUP_SECONDS:-}"; } >>"$ROOT/asked"
"""


class Machine:
    """A computer with a clone of the project, nothing installed, an ordinary user and apt-get."""

    def __init__(self, folder, name="clone"):
        self.folder = pathlib.Path(folder)
        self.root, self.bin = self.folder / name, self.folder / "bin"
        self.log = self.root / "build" / "setup.log"
        (self.root / "build").mkdir(parents=True)
        shutil.copytree(
            RUN.parent / "tools", self.root / "tools", ignore=shutil.ignore_patterns("__pycache__")
        )
        shutil.copy(RUN, self.root)
        self.bin.mkdir()
        for name in NEEDED + ["grep"]:
            (self.bin / name).symlink_to(shutil.which(name))
        self.packages({})
        self.command("dpkg-query", DPKG_QUERY)
        self.command("id", "#!/bin/sh\necho 1000\n")
        self.apt_get("exit 0")
        self.space(SPACE)

    def command(self, name, text, folder=None):
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def packages(self, states):
        lines = "".join(f"{name}={state}\n" for name, state in states.items())
        (self.folder / "packages").write_text(lines, encoding="utf-8")

    def be_root(self):
        self.command("id", "#!/bin/sh\necho 0\n")

    def apt_get(self, script):
        """A script in which $1 is update or install; how it was called is kept."""
        self.command("apt-get", f'#!/bin/sh\necho "$*" >>"$ROOT/../asked-of-apt"\n{script}\n')

    def asked_of_apt(self):
        path = self.root.parent / "asked-of-apt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def space(self, megabytes):
        line = f"/dev/one 999999 1 {megabytes} 1% /mnt/some where"
        self.command("df", f'#!/bin/sh\n[ "$2" = "$ROOT" ] && echo head && echo "{line}"\n')

    def python(self, name, version, venv=True, headers=True, folder=None):
        include = self.folder / "include"
        include.mkdir(exist_ok=True)
        (include / "Python.h").touch()
        include = str(include if headers else self.folder / "nowhere")
        code = self.folder / f"{name}.py"
        text = PYTHON.format(version=(*version, 0, "final", 0), venv=venv, include=include)
        code.write_text(text, encoding="utf-8")
        return self.command(name, f'#!/bin/sh\nexec "{sys.executable}" -I "{code}" "$@"\n', folder)

    def run(self, command, cwd=None, **variables):
        """What a command line does here: (exit status, standard output, lines of standard error)."""
        environment = {
            "PATH": str(self.bin),
            "HOME": str(self.folder),
            "ROOT": str(self.root),
            "LC_ALL": "C.UTF-8",
        }
        environment["PACKAGES"] = str(self.folder / "packages")
        done = subprocess.run(
            command,
            cwd=cwd or self.root,
            env={**environment, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr.splitlines()

    def bash(self, script, **variables):
        """What the functions do, as ./run calls them."""
        begin = 'set -euo pipefail; root=$ROOT; source "$root/tools/setup.sh"; '
        return self.run([BASH, "-c", begin + script], **variables)

    def with_everything(self):
        """Set up and built, as far as ./run can see."""
        script = 'source "$root/tools/setup.sh"; echo "${build_packages[@]}" "${test_packages[@]}"'
        _, names, _ = self.run([BASH, "-c", "root=$ROOT; " + script])
        self.packages(dict.fromkeys(names.split(), "installed"))
        self.command("python", VENV_PYTHON, self.root / ".venv" / "bin")
        synth = '#!/bin/sh\necho "$PWD"; printf "%s\\n" "$@"; cat\n'
        self.command("synth", synth, self.root / "build" / "release" / "bin")


def on_a_machine(check):
    """The check with a Machine of its own, once with an ordinary path and once with spaces in it."""

    def checked():
        for name in ["clone", "a clone with  spaces"]:
            with tempfile.TemporaryDirectory() as folder:
                check(Machine(pathlib.Path(folder).resolve(), name))

    checked.__name__ = check.__name__
    return checked


@on_a_machine
def an_ordinary_user_is_told_what_to_install(machine):
    machine.packages({"libhwy-dev": "installed"})
    # In a condition bash takes a failed command for an answer, and goes on: the outcome must be the same.
    for script in [
        "install_packages cmake libhwy-dev libfmt-dev",
        "install_packages cmake libfmt-dev && echo on",
    ]:
        status, out, lines = machine.bash(script)
        assert status == 1 and out == "", (status, out)
        assert lines == [
            "run: error: these Debian packages are missing: cmake libfmt-dev",
            "run: install them and try again: sudo apt-get install --no-install-recommends cmake libfmt-dev",
        ], lines
    assert machine.asked_of_apt() == []


@on_a_machine
def without_apt_get_the_packages_are_named(machine):
    for name in ["apt-get", "dpkg-query"]:
        (machine.bin / name).unlink()
    status, _, lines = machine.bash("install_packages libhwy-dev libfmt-dev")
    assert status == 1 and "no apt-get" in lines[0] and "libhwy-dev libfmt-dev" in lines[0], lines


@on_a_machine
def nothing_missing_is_nothing_said(machine):
    machine.packages({"libhwy-dev": "installed", "libfmt-dev": "installed"})
    assert machine.bash("install_packages libhwy-dev libfmt-dev") == (0, "", [])
    assert machine.asked_of_apt() == []


@on_a_machine
def what_is_missing_is_installed(machine):
    machine.be_root()
    machine.packages({"libhwy-dev": "installed"})
    status, out, lines = machine.bash("install_packages libhwy-dev libfmt-dev zlib1g-dev; echo on")
    assert (status, out) == (0, "on\n"), (status, out)
    assert lines == ["set-up: installing 2 Debian packages: libfmt-dev zlib1g-dev"], lines
    assert machine.asked_of_apt() == ["update", "install -y --no-install-recommends libfmt-dev zlib1g-dev"]


@on_a_machine
def without_a_network_set_up_ends_at_once(machine):
    machine.be_root()
    machine.python("python3", (3, 11))
    machine.log.write_text("a line of an earlier day\n", encoding="utf-8")
    machine.apt_get('echo "E: Could not resolve host deb.debian.org" >&2; exit 100')
    for script in ["setup", "setup && setup_tests"]:
        status, out, lines = machine.bash(script)
        assert status == 1 and out == "", (status, out)
        assert lines[1:] == [
            "    E: Could not resolve host deb.debian.org",
            "run: error: apt-get update failed",
            f"run: the whole log: {machine.log}",
            "run: if the lines above speak of hosts, time-outs or connections, there is no network: "
            "try again when there is",
        ], lines
    assert machine.asked_of_apt() == ["update", "update"]
    assert "Could not resolve host" in machine.log.read_text(encoding="utf-8")
    assert not (machine.root / ".venv").exists()


@on_a_machine
def only_the_end_of_a_long_log_is_shown(machine):
    machine.be_root()
    machine.apt_get('for i in 1 2 3 4 5 6 7 8 9 10 11; do echo "line $i"; done; exit 1')
    _, _, lines = machine.bash("install_packages libfmt-dev")
    assert [line for line in lines if "line " in line][:8] == [f"    line {i}" for i in range(4, 12)], lines


@on_a_machine
def a_list_that_was_not_fetched_is_seen_when_installing_fails(machine):
    """apt-get update succeeds without a network; what is said of the packages then misleads."""
    machine.be_root()
    failed = "W: Failed to fetch http://deb.debian.org/x  Could not resolve 'deb.debian.org'"
    machine.apt_get(
        f'[ "$1" != update ] || {{ echo "{failed}" && exit 0; }}\necho "E: Unable to locate" && exit 100'
    )
    status, _, lines = machine.bash("install_packages libfmt-dev")
    assert status == 1 and lines[1:4] == [
        f"    {failed}",
        "    E: Unable to locate",
        "run: error: installing Debian packages failed",
    ], lines


@on_a_machine
def a_full_disk_is_seen_first(machine):
    machine.be_root()
    machine.python("python3", (3, 11))
    machine.space(1234)
    for script in ["setup", "setup && echo on"]:
        status, out, lines = machine.bash(script)
        assert status == 1 and out == "", (status, out)
        assert "4000 MB" in lines[0] and f"{machine.root} has 1234 MB" in lines[0], lines
    assert machine.asked_of_apt() == [] and not (machine.root / ".venv").exists()


@on_a_machine
def space_is_compared_as_a_number(machine):
    for free, status in [(999, 1), (1000, 0), (10_000, 0)]:
        machine.space(free)
        assert machine.bash("need_space 1000 it")[0] == status, free


@on_a_machine
def unknown_space_stops_nobody(machine):
    machine.command("df", "#!/bin/sh\nexit 1\n")
    assert machine.bash("need_space 1000 it; echo on") == (0, "on\n", [])


@on_a_machine
def an_unsuitable_python_is_passed_over(machine):
    suitable = machine.python("python3.12", (3, 12))
    assert machine.bash("find_python") == (0, suitable + "\n", [])
    for unsuitable in [{"version": (3, 10)}, {"version": (3, 99)}, {"venv": False}, {"headers": False}]:
        machine.python("python3", **{"version": (3, 11), **unsuitable})
        assert machine.bash("find_python") == (0, suitable + "\n", []), unsuitable
    machine.command("python3", "#!/bin/sh\necho 'pyenv: python3: command not found'\nexit 127\n")
    assert machine.bash("find_python") == (0, suitable + "\n", [])
    first = machine.python("python3", (3, 13))
    assert machine.bash("find_python") == (0, first + "\n", [])


@on_a_machine
def the_named_python_comes_first(machine):
    first = machine.python("python3", (3, 11))
    named = machine.python("my python", (3, 13), folder=machine.folder / "else where")
    assert machine.bash("find_python", PYTHON=named)[1] == named + "\n"
    assert machine.bash("find_python", PYTHON=str(machine.folder / "nowhere"))[1] == first + "\n"


@on_a_machine
def the_environment_to_be_made_is_not_made_with_itself(machine):
    inside = machine.root / ".venv" / "bin"
    for name in ["python3", "python3.11"]:
        machine.python(name, (3, 11), folder=inside)
    suitable = machine.python("python3.11", (3, 11))
    assert machine.bash("find_python", PATH=f"{inside}:{machine.bin}")[1] == suitable + "\n"


@on_a_machine
def without_a_suitable_python_the_versions_are_named(machine):
    machine.python("python3", (3, 8))
    # (No version that the computer under this one may have as /usr/bin/python3.)
    status, _, lines = machine.bash("python_versions=(9.8 9.9); make_venv")
    assert status == 1 and "9.8 9.9" in lines[0] and "torch" in lines[0], lines
    assert "python3 python3-venv python3-dev" in lines[1] and "PYTHON" in lines[1], lines
    assert not (machine.root / ".venv").exists()


@on_a_machine
def half_an_environment_is_made_anew(machine):
    """Without a network it stays without torch."""
    suitable = machine.python("suitable", (3, 11))
    offline = '#!/bin/sh\n[ "$1" != - ] || exit 1\necho "ERROR: no connection"\nexit 1\n'
    template = machine.command("template", offline)
    making = f'[ "$1" != -m ] || {{ mkdir -p "$3/bin" && cp "{template}" "$3/bin/python"; exit; }}'
    machine.command("python3", f'#!/bin/sh\n{making}\nexec "{suitable}" "$@"\n')
    left_over = machine.root / ".venv" / "left-over"
    for script in ["make_venv", "make_venv && echo on"]:
        status, out, lines = machine.bash(script)
        assert status == 1 and out == "", (status, out)
        assert lines[0] == f"set-up: making .venv with {machine.bin / 'python3'}", lines
        assert lines[2] == "    ERROR: no connection", lines
        assert lines[3].startswith("run: error: installing torch"), lines
        assert (machine.root / ".venv").exists() and not left_over.exists()
        left_over.touch()


@on_a_machine
def python_packages_are_missing_only_without_a_python(machine):
    names = "python3 python3-venv python3-dev"
    assert machine.bash(f"python_versions=(9.9); missing_packages {names}")[1].split() == names.split()
    machine.python("python3", (3, 11))
    assert machine.bash(f"missing_packages {names}")[1] == ""
    # One that was made with a python that is no longer on PATH will do.
    (machine.bin / "python3").unlink()
    machine.command("python", VENV_PYTHON, machine.root / ".venv" / "bin")
    assert machine.bash(f"python_versions=(9.9); missing_packages {names}")[1] == ""


@on_a_machine
def only_the_package_itself_counts(machine):
    machine.packages(
        {"libfmt-dev-extra": "installed", "xlibfmt-dev": "installed", "zlib1g-dev": "config-files"}
    )
    script = "missing_packages libfmt-dev-extra xlibfmt-dev libfmt-dev zlib1g-dev"
    assert machine.bash(script)[1].split() == ["libfmt-dev", "zlib1g-dev"]


@on_a_machine
def a_tool_from_elsewhere_counts_as_its_package(machine):
    for name in ["ninja", "cmake"]:
        machine.command(name, "#!/bin/sh\n")
    assert machine.bash("missing_packages ninja-build cmake mold")[1].split() == ["mold"]


@on_a_machine
def run_passes_everything_on(machine):
    machine.with_everything()
    for place in [machine.folder, machine.root]:
        words = ["train", "two  words", "*", ""]
        status, out, lines = machine.run([BASH, str(machine.root / "run"), "synth", *words], cwd=place)
        assert (status, lines) == (0, []), lines
        assert out == "\n".join([str(place), *words]) + "\n", out
        asked = (machine.root / "asked").read_text(encoding="utf-8").splitlines()
        assert asked[:4] == [str(machine.root), "tools/build.py", "release", "synth"], asked


@on_a_machine
def paths_are_those_of_the_caller(machine):
    """A file of that name in the clone is not meant, nor is one made there."""
    machine.with_everything()
    place = machine.folder / "some where"
    place.mkdir()
    for folder in [place, machine.root]:
        (folder / "text.txt").write_text(f"of {folder.name}", encoding="utf-8")
    program = '#!/bin/sh\n[ "$1" != - ] || exit 0\ncase $1 in tools/*) exit 0;; esac\ncat "$1" >"$2"\n'
    machine.command("synth", program, machine.root / "build" / "release" / "bin")
    machine.command("python", program, machine.root / ".venv" / "bin")
    for verb in ["synth", "python"]:
        words = [BASH, str(machine.root / "run"), verb, "text.txt", f"of-{verb}"]
        assert machine.run(words, cwd=place) == (0, "", [])
        assert (place / f"of-{verb}").read_text(encoding="utf-8") == "of some where"
        assert not (machine.root / f"of-{verb}").exists()


@on_a_machine
def a_benchmark_is_told_where_its_caller_is(machine):
    """It runs in the clone itself, and makes paths of CALLER."""
    machine.with_everything()
    program = '#!/bin/sh\ncase $1 in bench/*) printf "%s\\n" "$PWD" "$CALLER" "$@";; esac\n'
    machine.command("python", program, machine.root / ".venv" / "bin")
    words = [BASH, str(machine.root / "run"), "bench", "study", "mine.toml"]
    status, out, lines = machine.run(words, cwd=machine.folder)
    assert (status, lines) == (0, []), lines
    assert out.splitlines() == [str(machine.root), str(machine.folder), "bench/study.py", "mine.toml"], out


@on_a_machine
def run_works_through_a_link_and_a_relative_path(machine):
    machine.with_everything()
    (machine.folder / "linked").symlink_to(machine.root / "run")
    for command in [["./linked"], [BASH, f"{machine.root.name}/run"]]:
        # (With CDPATH `cd` prints where it goes.)
        status, out, lines = machine.run(
            [*command, "synth", "a"], cwd=machine.folder, CDPATH=str(machine.folder)
        )
        assert (status, out, lines) == (0, f"{machine.folder}\na\n", []), (status, out, lines)


@on_a_machine
def names_of_tests_are_passed_on(machine):
    machine.with_everything()
    for words, expected in [
        (["cli_threads", "text"], ["release", "cli_threads", "text"]),
        (["debug", "cli_threads"], ["debug", "cli_threads"]),
        ([], ["release"]),
    ]:
        (machine.root / "asked").unlink(missing_ok=True)
        status, out, lines = machine.run([BASH, "../run", "test", *words], cwd=machine.root / "tools")
        assert (status, out, lines) == (0, "", []), (status, out, lines)
        asked = (machine.root / "asked").read_text(encoding="utf-8").splitlines()
        assert asked[:-1] == [str(machine.root), "tools/test.py", *expected], asked
        assert asked[-1].removeprefix("SETUP_SECONDS=").isdigit(), asked


@on_a_machine
def a_failed_build_ends_it_all(machine):
    machine.with_everything()
    machine.command("python", '#!/bin/sh\n[ "$1" != - ] || exit 0\nexit 7\n', machine.root / ".venv" / "bin")
    for words in [["synth", "a"], ["python", "-c", "1"], ["demo"], ["bench"], ["build"]]:
        status, out, lines = machine.run([BASH, "run", *words])
        assert (status, out) == (7, ""), (words, status, out, lines)


@on_a_machine
def an_unknown_verb_is_refused(machine):
    status, out, lines = machine.run([BASH, "run", "bulid"])
    assert (status, out) == (2, "") and "'bulid'" in lines[0], lines
    status, out, lines = machine.run([BASH, "run"])
    assert (status, lines) == (0, []) and out.startswith("usage: ./run VERB"), out


if __name__ == "__main__":
    sys.exit(
        results.run(
            "set_up",
            [
                an_ordinary_user_is_told_what_to_install,
                without_apt_get_the_packages_are_named,
                nothing_missing_is_nothing_said,
                what_is_missing_is_installed,
                without_a_network_set_up_ends_at_once,
                only_the_end_of_a_long_log_is_shown,
                a_list_that_was_not_fetched_is_seen_when_installing_fails,
                a_full_disk_is_seen_first,
                space_is_compared_as_a_number,
                unknown_space_stops_nobody,
                an_unsuitable_python_is_passed_over,
                the_named_python_comes_first,
                the_environment_to_be_made_is_not_made_with_itself,
                without_a_suitable_python_the_versions_are_named,
                half_an_environment_is_made_anew,
                python_packages_are_missing_only_without_a_python,
                only_the_package_itself_counts,
                a_tool_from_elsewhere_counts_as_its_package,
                run_passes_everything_on,
                paths_are_those_of_the_caller,
                a_benchmark_is_told_where_its_caller_is,
                run_works_through_a_link_and_a_relative_path,
                names_of_tests_are_passed_on,
                a_failed_build_ends_it_all,
                an_unknown_verb_is_refused,
            ],
        )
    )
