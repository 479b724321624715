"""The digits data of scikit-learn, and a softmax regression on them."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt

import lamella as lm
import lamella.tensor as lt
from lamella.cli.smooth_abs import SmoothAbs
from lamella.tensor import TensorVariable

__all__ = ["Digits", "Model", "build_model", "load_digits", "numpy_loss_and_gradient"]

Array = npt.NDArray[Any]

CLASSES = 10
PENALTY = 3e-4
WIDTH = 0.05


@final
@attrs.frozen(eq=False)
class Digits:
    """Images as rows of pixels between 0 and 1 (and a last pixel that is always 1), and labels."""

    train_x: Array
    train_y: Array
    test_x: Array
    test_y: Array


def load_digits(seed: int = 0) -> Digits:
    """Load the data and hold out a quarter.

    Raises
    ------
    ModuleNotFoundError
        scikit-learn, which ships the data, is not installed.
    """
    from sklearn.datasets import load_digits as load

    data = load()
    pixels = np.concatenate([data.data / 16.0, np.ones((len(data.data), 1))], axis=1)
    order = np.random.default_rng(seed).permutation(len(pixels))
    held_out, rest = np.split(order, [len(order) // 4])
    return Digits(pixels[rest], data.target[rest], pixels[held_out], data.target[held_out])


@final
@attrs.frozen(eq=False)
class Model:
    """The symbolic model: its inputs, its loss, the gradient of it, and what it predicts."""

    parameters: TensorVariable
    images: TensorVariable
    labels: TensorVariable
    loss: TensorVariable
    gradient: TensorVariable
    predicted: TensorVariable


def build_model(n_pixels: int) -> Model:
    """Build a softmax regression whose weights are kept small by a smooth absolute value.

    Parameters
    ----------
    n_pixels
        Number of columns of the images.
    """
    parameters, images, labels = lt.vector("parameters"), lt.matrix("images"), lt.lvector("labels")
    weights = parameters.reshape((n_pixels, CLASSES))
    scores = images @ weights
    log_likelihood = lt.log_softmax(scores, axis=1)[lt.arange(labels.shape[0]), labels]
    loss = -lt.mean(log_likelihood) + PENALTY * lt.sum(SmoothAbs(WIDTH)(weights))
    return Model(parameters, images, labels, loss, lm.grad(loss, parameters), lt.argmax(scores, axis=1))


def numpy_loss_and_gradient(parameters: Array, images: Array, labels: Array) -> tuple[float, Array]:
    """Compute the loss and its gradient by hand, in NumPy: what the compiled function is compared with."""
    weights = parameters.reshape(images.shape[1], CLASSES)
    scores = images @ weights
    shifted = scores - scores.max(axis=1, keepdims=True)
    exponentials = np.exp(shifted)
    totals = exponentials.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    smooth = np.hypot(weights, WIDTH)
    loss = -np.mean(shifted[rows, labels] - np.log(totals[:, 0])) + PENALTY * np.sum(smooth - WIDTH)
    residual = exponentials / totals
    residual[rows, labels] -= 1.0
    gradient = images.T @ residual / len(labels) + PENALTY * weights / smooth
    return float(loss), gradient.ravel()
