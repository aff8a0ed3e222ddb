"""gRPC service of the language host."""

# ruff: noqa: N802, ARG002 - the protocol defines methods and parameters

import importlib.metadata
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from subprocess import PIPE, Popen
from typing import IO

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import MessageToDict

from jacquard.lab.standins.language_host import program
from jacquard.lab.standins.language_host.interpreter import Interpreter, InterpreterError, Plugin, find
from jacquard.lab.standins.processes import Children, end_groups
from jacquard.providers.rpc.stubs import language_pb2 as language
from jacquard.providers.rpc.stubs import language_pb2_grpc, plugin_pb2

_CHUNK_BYTES = 64 * 1024

CANCELLED = "the program was stopped because the operation was cancelled"


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs Python programs and policy packs for the engine.

    Calls that are not defined here (Handshake, GetRequiredPlugins, Template, Pack, Link, code generation) return
    "unimplemented", which the engine accepts.
    """

    def __init__(self, engine: str, executable: Path, children: Children) -> None:
        """Serve one engine.

        Args:
            engine: address of the engine's service.
            executable: path of the language host; the SDK's exec script is in the same folder.
            children: registry of processes that end with the language host.
        """
        self._engine = engine
        self._executable = executable
        self._children = children
        self._cancelled = threading.Event()

    def GetPluginInfo(self, request: Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """Return the version of the installed Pulumi SDK."""
        return plugin_pb2.PluginInfo(version=importlib.metadata.version("pulumi"))

    def About(self, request: language.AboutRequest, context: grpc.ServicerContext) -> language.AboutResponse:
        """Return the Python interpreter of the program."""
        python = _interpreter(request.info)
        _, version = python.describe()
        return language.AboutResponse(
            executable=str(python.python),
            version=version,
            metadata={"language host": "jacquard stand-in for pulumi-language-python"},
        )

    def GetRequiredPackages(
        self, request: language.GetRequiredPackagesRequest, context: grpc.ServicerContext
    ) -> language.GetRequiredPackagesResponse:
        """Return the providers that the installed packages require, with their versions."""
        python = _interpreter(request.info)
        return language.GetRequiredPackagesResponse(packages=[_package(plugin) for plugin in python.plugins()])

    def GetProgramDependencies(
        self, request: language.GetProgramDependenciesRequest, context: grpc.ServicerContext
    ) -> language.GetProgramDependenciesResponse:
        """Return the installed packages of the program."""
        python = _interpreter(request.info)
        packages = python.distributions(transitive=request.transitiveDependencies)
        return language.GetProgramDependenciesResponse(
            dependencies=[language.DependencyInfo(name=name, version=version) for name, version in packages]
        )

    def InstallDependencies(
        self, request: language.InstallDependenciesRequest, context: grpc.ServicerContext
    ) -> Iterator[language.InstallDependenciesResponse]:
        """Check that the virtual environment exists; the toolchain installs its pinned packages."""
        python = _streamed(request.info, context)
        text = f"{python.python} is used unchanged; `make setup` installs its packages from requirements.lock\n"
        yield language.InstallDependenciesResponse(stdout=text.encode())

    def Run(self, request: language.RunRequest, context: grpc.ServicerContext) -> language.RunResponse:
        """Run a program and wait for its end; the engine shows the program's output as output of the language host."""
        python = _interpreter(request.info)
        try:
            launch = program.program(
                self._update(request), python, program.executor(os.environ, self._executable), os.environ
            )
            child = self._children.start(launch.command, cwd=launch.folder, env=launch.environment)
        except (InterpreterError, OSError) as error:
            return language.RunResponse(error=str(error))
        code = child.wait()
        self._children.forget(child)
        if self._cancelled.is_set():
            return language.RunResponse(error=CANCELLED)
        return language.RunResponse(error=program.failure(code), bail=code == program.BAIL)

    def RunPlugin(
        self, request: language.RunPluginRequest, context: grpc.ServicerContext
    ) -> Iterator[language.RunPluginResponse]:
        """Run a policy pack and stream its output; the last message contains the exit code."""
        if request.kind != "analyzer":
            message = (
                "this stand-in for pulumi-language-python runs policy packs only: kind analyzer "
                f"(got '{request.kind}'); build the plugin as an executable, or install the vendor's pulumi"
            )
            context.abort(grpc.StatusCode.UNIMPLEMENTED, message)
        launch = program.policy_pack(
            request.info.program_directory, request.args, request.pwd, _streamed(request.info, context), request.env
        )
        # A policy pack ends when its standard input ends; this pipe stays open until the language host ends.
        child = self._children.start(
            launch.command, cwd=launch.folder, env=launch.environment, stdin=PIPE, stdout=PIPE, stderr=PIPE
        )
        context.add_callback(lambda: end_groups((child,)))
        with child:
            yield from _streams(child)
        self._children.forget(child)
        yield language.RunPluginResponse(exitcode=child.returncode)

    def Cancel(self, request: Empty, context: grpc.ServicerContext) -> Empty:
        """End the program."""
        self._cancelled.set()
        self._children.end()
        return Empty()

    def cancel(self) -> None:
        """End all processes and start no further ones, because the engine has ended."""
        self._cancelled.set()
        self._children.end(closed=True)

    def _update(self, request: language.RunRequest) -> program.Update:
        return program.Update(
            project=request.project,
            stack=request.stack,
            organization=request.organization,
            pwd=request.pwd,
            root=request.info.root_directory,
            entry_point=request.info.entry_point,
            arguments=tuple(request.args),
            dry_run=request.dryRun,
            parallel=request.parallel,
            monitor=request.monitor_address,
            engine=self._engine,
            config=request.config,
            secret_keys=tuple(request.configSecretKeys),
        )


def _interpreter(info: language.ProgramInfo) -> Interpreter:
    return find(info.root_directory, MessageToDict(info.options), os.environ)


def _streamed(info: language.ProgramInfo, context: grpc.ServicerContext) -> Interpreter:
    """Return the interpreter for a streaming call, because exceptions of streaming calls do not reach the user."""
    try:
        return _interpreter(info)
    except InterpreterError as error:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))


def _package(plugin: Plugin) -> plugin_pb2.PackageDependency:
    package = plugin_pb2.PackageDependency(
        name=plugin.name, kind="resource", version=plugin.version, server=plugin.server
    )
    if plugin.parameterization is not None:
        name, version, value = plugin.parameterization
        package.parameterization.CopyFrom(plugin_pb2.PackageParameterization(name=name, version=version, value=value))
    return package


def _streams(child: Popen[bytes]) -> Iterator[language.RunPluginResponse]:
    """Yield the output of a child until it has closed both streams."""
    messages: SimpleQueue[language.RunPluginResponse | None] = SimpleQueue()

    def forward(stream: IO[bytes], *, error: bool) -> None:
        while chunk := os.read(stream.fileno(), _CHUNK_BYTES):
            messages.put(
                language.RunPluginResponse(stderr=chunk) if error else language.RunPluginResponse(stdout=chunk)
            )
        messages.put(None)

    streams = [(child.stdout, False), (child.stderr, True)]
    open_streams = 0
    for stream, error in streams:
        if stream is not None:
            threading.Thread(target=forward, args=(stream,), kwargs={"error": error}, daemon=True).start()
            open_streams += 1
    while open_streams:
        message = messages.get()
        if message is None:
            open_streams -= 1
        else:
            yield message
