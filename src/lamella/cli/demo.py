"""``lamella demo``: from an Op of one's own, through its gradient and C, to a fitted model."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import lamella as lm
from lamella.cli.digits import Digits, Model, build_model, load_digits, numpy_loss_and_gradient
from lamella.cli.smooth_abs import SmoothAbs
from lamella.testing import check_infer_shape, verify_grad

__all__ = ["add_demo_arguments", "run_demo"]

Array = npt.NDArray[Any]
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]

NEEDED = ("sklearn", "matplotlib", "rich")
MAX_ITERATIONS = 200


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--plot", type=Path, default=Path("lamella-demo.png"), help="where to save the plot (PNG)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the split and of the first parameters")


def run_demo(options: argparse.Namespace) -> int:
    """Run the demonstration and return the exit status."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"the demo needs {', '.join(missing)}: pip install 'lamella[demo]'", file=sys.stderr)
        return 2
    from rich.console import Console

    console = Console()
    console.rule("An Op of one's own")
    op = SmoothAbs(0.05)
    point = np.random.default_rng(options.seed).normal(size=(3, 4))
    verify_grad(op, [point])
    check_infer_shape(op, [point])
    console.print(f"{op}: gradient and shape verified by lamella.testing")

    console.rule("A softmax regression that uses it")
    digits = load_digits(options.seed)
    model = build_model(digits.train_x.shape[1])
    start = time.perf_counter()
    loss_and_gradient = lm.function(
        [model.parameters, model.images, model.labels], [model.loss, model.gradient], name="loss_and_gradient"
    )
    predict = lm.function([model.parameters, model.images], model.predicted, name="predict")
    console.print(f"graph, gradient, rewriting and compilation of two functions: {time.perf_counter() - start:.2f} s")
    _show_graphs(console, model, loss_and_gradient)

    console.rule("Fitting")
    parameters, losses = _fit(console, loss_and_gradient, digits, options.seed)
    accuracy = float(np.mean(predict(parameters, digits.test_x) == digits.test_y))
    console.print(f"held-out accuracy: [bold]{accuracy:.4f}[/bold] on {len(digits.test_y)} images")

    console.rule("Time per call of loss and gradient")
    _show_times(console, model, loss_and_gradient, digits, parameters)
    _save_plot(options.plot, losses, parameters, predict(parameters, digits.test_x), digits)
    console.print(f"plot saved to {options.plot}")
    return 0


def _show_graphs(console: Any, model: Model, compiled: lm.Function) -> None:
    console.print("[bold]Before rewriting[/bold] (the loss)")
    console.print(lm.dprint(model.loss, file="str"), markup=False, highlight=False)
    before, after = compiled.original_fgraph, compiled.fgraph
    console.print(
        f"[bold]After rewriting[/bold] (loss and gradient: {len(before.order)} nodes became {len(after.order)})"
    )
    console.print(lm.dprint(after, file="str"), markup=False, highlight=False)


def _fit(console: Any, loss_and_gradient: lm.Function, digits: Digits, seed: int) -> tuple[Array, list[float]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from scipy.optimize import minimize

    losses: list[float] = []

    def objective(parameters: Vector) -> tuple[float, Vector]:
        loss, gradient = loss_and_gradient(parameters, digits.train_x, digits.train_y)
        losses.append(float(loss))
        slope: Vector = gradient
        return float(loss), slope

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    first: Vector = 0.01 * np.random.default_rng(seed).normal(size=digits.train_x.shape[1] * 10)
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("L-BFGS", total=MAX_ITERATIONS)

        def advance(xk: Vector) -> None:
            progress.update(task, advance=1, description=f"L-BFGS, loss {losses[-1]:.4f}")

        found = minimize(
            objective, first, jac=True, method="L-BFGS-B", callback=advance, options={"maxiter": MAX_ITERATIONS}
        )
        progress.update(task, completed=MAX_ITERATIONS)
    console.print(f"loss {losses[0]:.4f} -> {found.fun:.4f} in {found.nit} iterations, {found.nfev} calls")
    return found.x, losses


def _seconds_per_call(call: Callable[[], object], budget: float = 0.5) -> float:
    call()
    times: list[float] = []
    end = time.perf_counter() + budget
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def _show_times(console: Any, model: Model, compiled: lm.Function, digits: Digits, parameters: Array) -> None:
    from rich.table import Table

    images, labels = digits.train_x, digits.train_y
    interpreted = {model.parameters: parameters, model.images: images, model.labels: labels}
    rows = {
        "compiled to C": lambda: compiled(parameters, images, labels),
        "NumPy, by hand": lambda: numpy_loss_and_gradient(parameters, images, labels),
        "reference interpreter": lambda: lm.evaluate([model.loss, model.gradient], interpreted),
    }
    seconds = {name: _seconds_per_call(call) for name, call in rows.items()}
    table = Table("way of running", "milliseconds", "relative to NumPy")
    for name, value in seconds.items():
        table.add_row(name, f"{value * 1e3:.3f}", f"{value / seconds['NumPy, by hand']:.2f}")
    console.print(table)


def _save_plot(path: Path, losses: list[float], parameters: Array, predicted: Array, digits: Digits) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (curve, confusion, weights) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    curve.plot(losses)
    curve.set(xlabel="call", ylabel="loss", title="Fit", yscale="log")
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (digits.test_y, predicted), 1)
    confusion.imshow(np.sqrt(counts), cmap="Blues")
    confusion.set(xlabel="predicted", ylabel="true", title="Held-out images (square root of counts)")
    confusion.set_xticks(range(10))
    confusion.set_yticks(range(10))
    table = parameters.reshape(-1, 10)[:-1].T.reshape(10, 8, 8)
    mosaic = np.concatenate([np.concatenate(list(table[i : i + 5]), axis=1) for i in (0, 5)], axis=0)
    limit = float(np.abs(mosaic).max())
    weights.imshow(mosaic, cmap="RdBu", vmin=-limit, vmax=limit)
    weights.set(title="Weights of the digits 0 to 4 and 5 to 9")
    weights.axis("off")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
