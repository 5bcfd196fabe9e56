"""podman for tests: settings of their own, images made of the machine's own files, as no registry is assumed."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from tool_client import ToolFolder

SETTINGS = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
COMMANDS = ("sh", "echo", "cat", "test", "sleep", "cp", "mkdir", "ls", "true", "false", "grep", "env", "seq", "wc", "dd", "touch", "rm", "id", "date")
LOADER = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1")
COMPILER_NEEDS = ("libgcc_s.so.1", "libstdc++.so.6")
PROFILE = "/usr/share/containers/seccomp.json"
# What Docker's default profile keeps from everybody without CAP_SYS_ADMIN, and podman's does not.
NAMESPACE_CALLS = {"unshare", "setns", "mount", "mount_setattr", "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig", "fspick", "umount",
                   "umount2", "pivot_root", "clone", "clone3"}
CLONE_NAMESPACE_FLAGS = 0x7E020000


def podman(*arguments, check=True, timeout=120, **more):
    return subprocess.run(["podman", *arguments], check=check, capture_output=True, timeout=timeout, **more)


def settings_in(folder):
    """Where podman's settings would need a service manager that is not here."""
    file = os.path.join(folder, "containers.conf")
    pathlib.Path(file).write_text(SETTINGS, encoding="utf-8")
    os.environ["CONTAINERS_CONF"] = file


def import_root(root, image):
    tar = subprocess.run(["tar", "-C", root, "-c", "."], check=True, capture_output=True).stdout
    podman("import", "-", image, input=tar)


def busybox_root(root):
    for folder in ("bin", "tmp", "etc"):
        os.makedirs(os.path.join(root, folder))
    os.chmod(os.path.join(root, "tmp"), 0o1777)
    shutil.copy(shutil.which("busybox"), os.path.join(root, "bin/busybox"))
    for command in COMMANDS:
        os.symlink("busybox", os.path.join(root, "bin", command))


def glibc_root(root):
    """What every CUDA base image has and the server needs of it: a merged /usr with the C library, and a shell."""
    library = next(folder for folder in ("usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu") if os.path.isdir("/" + folder))
    for folder in ("usr/bin", library, "usr/lib64", "tmp", "etc", "var", "run", "proc", "sys", "dev"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    os.chmod(os.path.join(root, "tmp"), 0o1777)
    for link in ("bin", "lib", "lib64"):
        os.symlink("usr/" + link, os.path.join(root, link))
    shutil.copy(shutil.which("busybox"), os.path.join(root, "usr/bin/busybox"))
    for command in COMMANDS:
        os.symlink("busybox", os.path.join(root, "usr/bin", command))
    for name in LOADER + COMPILER_NEEDS:
        if os.path.exists(os.path.join("/", library, name)):
            shutil.copy(os.path.join("/", library, name), os.path.join(root, library, name))
    for loader in ("lib64/ld-linux-x86-64.so.2", "lib/ld-linux-aarch64.so.1"):
        if os.path.exists("/" + loader):
            shutil.copy("/" + loader, os.path.join(root, "usr", loader))


def profile_without_namespaces(file):
    """The engine's own seccomp profile, less what Docker's refuses: no namespace, no mount for anybody."""
    profile = json.loads(pathlib.Path(PROFILE).read_text(encoding="utf-8"))
    for rule in profile["syscalls"]:
        rule["names"] = [name for name in rule["names"] if name not in NAMESPACE_CALLS]
    profile["syscalls"] = [rule for rule in profile["syscalls"] if rule["names"]]
    profile["syscalls"] += [
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38, "args": [], "includes": {}, "excludes": {}},
        {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "includes": {}, "excludes": {},
         "args": [{"index": 0, "value": CLONE_NAMESPACE_FLAGS, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]},
        {"names": sorted(NAMESPACE_CALLS - {"clone", "clone3"}), "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "args": [], "includes": {}, "excludes": {}}]
    pathlib.Path(file).write_text(json.dumps(profile), encoding="utf-8")
    return file


def python_root(root):
    """glibc_root and the machine's own Python, without packages."""
    glibc_root(root)
    interpreter = os.path.realpath("/usr/bin/python3")
    needed = subprocess.run(["ldd", interpreter], check=True, capture_output=True, text=True).stdout
    for line in needed.splitlines():
        words = line.split()
        if "=>" in words and os.path.exists(words[2]):
            library = os.path.realpath(os.path.dirname(words[2]))
            shutil.copy(words[2], os.path.join(root, library.lstrip("/"), os.path.basename(words[2])))
    shutil.copy(interpreter, os.path.join(root, "usr/bin/python3"))
    version = os.path.basename(interpreter)
    shutil.copytree("/usr/lib/" + version, os.path.join(root, "usr/lib", version), symlinks=True,
                    ignore=shutil.ignore_patterns("test", "__pycache__", "config-*", "dist-packages", "ensurepip", "idlelib", "tkinter"))


class Engine(unittest.TestCase):
    """A class of tests with an image of its own: `make_root(folder)` fills it, IMAGE names it."""

    IMAGE = ""

    @classmethod
    def setUpClass(cls):
        cls.shared = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="assay-containers-"))
        settings_in(cls.shared)
        root = os.path.join(cls.shared, "root")
        os.mkdir(root)
        cls.make_root(root)
        try:
            import_root(root, cls.IMAGE)
            podman("run", "--rm", cls.IMAGE, "true")
        except subprocess.CalledProcessError as error:
            raise unittest.SkipTest("unsupported: podman runs nothing here: " + error.stderr.decode(errors="replace").strip()[-300:])
        cls.addClassCleanup(podman, "image", "rm", "--force", cls.IMAGE, check=False)

    @classmethod
    def make_root(cls, root):
        raise NotImplementedError


class Workshop(Engine, ToolFolder):
    """Scenarios and commits by podman, on an image of this class; what they leave behind is looked for."""

    COMPILE = {"log": ["^COMPILED", "^[0-9a-z: -]*COMPILED$"]}

    def images(self):
        return set(podman("images", "--format", "{{.Repository}}:{{.Tag}}").stdout.decode().split())

    def image_ids(self):
        return set(podman("images", "--quiet", "--no-trunc").stdout.decode().split())

    def containers(self):
        """Those that carry the label of this program."""
        return podman("ps", "--all", "--filter", "label=assay.scratch", "--format", "{{.Names}}").stdout.decode().split()

    def workspace(self, dockerfile, post="set -e\ncp Dockerfile built\necho COMPILED\n"):
        self.write("w/Dockerfile", dockerfile)
        self.write("w/post.sh", post)
        return {"workspace": "w", "dockerfile": "w/Dockerfile", "post_create": "w/post.sh", "engine": "podman", "compile": self.COMPILE}

    def assert_nothing_is_left(self, before):
        self.assertEqual(self.image_ids() - before, set(), "an image stays")
        self.assertEqual(self.containers(), [], "a container stays")
