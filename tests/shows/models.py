"""Five models as people write them, each beside the same in NumPy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from scipy import special, stats

import lamella.tensor as lt
from lamella.tensor import TensorVariable

Array = npt.NDArray[Any]
Values = Mapping[str, Array]


@final
@attrs.frozen(eq=False)
class Model:
    """A scalar cost.

    Attributes
    ----------
    name
        What it is.
    data, parameters
        The inputs; the cost is differentiated by the parameters.
    cost
        The cost.
    reference
        The same of arrays, by name.
    sample
        Makes values for a number of observations.
    """

    name: str
    data: Sequence[TensorVariable]
    parameters: Sequence[TensorVariable]
    cost: TensorVariable
    reference: Callable[[Values], Any]
    sample: Callable[[np.random.Generator, int], dict[str, Array]]

    @property
    def inputs(self) -> list[TensorVariable]:
        """Data, then parameters."""
        return [*self.data, *self.parameters]


def logistic_regression() -> Model:
    """Labels of 0 and 1, with a penalty."""
    x, y = lt.dmatrix("x"), lt.vector("y", dtype="bool")
    w, b = lt.dvector("w"), lt.dscalar("b")
    score = x @ w + b
    losses = lt.switch(y, lt.softplus(-score), lt.softplus(score))
    cost = lt.mean(losses) + 0.1 * lt.sum(lt.sqr(w))

    def reference(v: Values) -> Any:
        p = special.expit(v["x"] @ v["w"] + v["b"])
        return -np.mean(np.where(v["y"], np.log(p), np.log1p(-p))) + 0.1 * np.sum(v["w"] ** 2)

    def sample(rng: np.random.Generator, n: int) -> dict[str, Array]:
        return {
            "x": rng.normal(size=(n, 3)),
            "y": rng.random(n) < 0.5,
            "w": rng.normal(size=3),
            "b": np.array(rng.normal()),
        }

    return Model("logistic regression", [x, y], [w, b], cost, reference, sample)


def perceptron() -> Model:
    """Two hidden layers and a squared error."""
    x, y = lt.dmatrix("x"), lt.dmatrix("y")
    w1, b1, w2, b2, w3 = lt.dmatrix("w1"), lt.dvector("b1"), lt.dmatrix("w2"), lt.dvector("b2"), lt.dmatrix("w3")
    hidden = lt.tanh(x @ w1 + b1)
    hidden = lt.sigmoid(hidden @ w2 + b2) * hidden.shape[1]
    error = y - lt.dot(hidden, w3)
    penalty = lt.sum(lt.abs(w1)) + lt.sum(lt.abs(w2)) + lt.sum(lt.abs(w3))
    cost = lt.sum(error**2, axis=1).mean() + 1e-2 * penalty

    def reference(v: Values) -> Any:
        h = np.tanh(v["x"] @ v["w1"] + v["b1"])
        h = special.expit(h @ v["w2"] + v["b2"]) * h.shape[1]
        penalty = sum(np.abs(v[name]).sum() for name in ("w1", "w2", "w3"))
        return np.mean(np.sum((v["y"] - h @ v["w3"]) ** 2, axis=1)) + 1e-2 * penalty

    def sample(rng: np.random.Generator, n: int) -> dict[str, Array]:
        shapes = {"x": (n, 3), "y": (n, 2), "w1": (3, 5), "b1": (5,), "w2": (5, 4), "b2": (4,), "w3": (4, 2)}
        return {name: rng.normal(size=shape) for name, shape in shapes.items()}

    return Model("perceptron", [x, y], [w1, b1, w2, b2, w3], cost, reference, sample)


def gaussian_mixture() -> Model:
    """The log-probability of numbers under a mixture of normal distributions."""
    x = lt.dvector("x")
    logits, mu, log_sigma = lt.dvector("logits"), lt.dvector("mu"), lt.dvector("log_sigma")
    z = (x[:, None] - mu) * lt.exp(-log_sigma)
    log_density = -0.5 * z**2 - log_sigma - 0.5 * np.log(2 * np.pi)
    cost = lt.sum(lt.logsumexp(lt.log_softmax(logits) + log_density, axis=-1))

    def reference(v: Values) -> Any:
        densities = stats.norm.logpdf(v["x"][:, None], v["mu"], np.exp(v["log_sigma"]))
        return special.logsumexp(special.log_softmax(v["logits"]) + densities, axis=1).sum()

    def sample(rng: np.random.Generator, n: int) -> dict[str, Array]:
        return {
            "x": rng.normal(size=n, scale=5.0),
            "logits": rng.normal(size=3),
            "mu": rng.normal(size=3, scale=3.0),
            "log_sigma": rng.normal(size=3),
        }

    return Model("Gaussian mixture", [x], [logits, mu, log_sigma], cost, reference, sample)


def partial_pooling() -> Model:
    """A hierarchical regression: counties share a distribution of their levels."""
    county, floor, y = lt.lvector("county"), lt.dvector("floor"), lt.dvector("y")
    level, log_spread, raw = lt.dscalar("level"), lt.dscalar("log_spread"), lt.dvector("raw")
    slope, log_noise = lt.dscalar("slope"), lt.dscalar("log_noise")

    def normal(value: TensorVariable, mean: Any, log_sigma: Any) -> TensorVariable:
        return lt.sum(-0.5 * ((value - mean) / lt.exp(log_sigma)) ** 2 - log_sigma - 0.5 * np.log(2 * np.pi))

    levels = level + lt.exp(log_spread) * raw
    mean = levels[county] + slope * floor
    priors = normal(level, 0.0, np.log(10.0)) + normal(raw, 0.0, 0.0) + normal(slope, 0.0, np.log(10.0))
    half_normals = -0.5 * lt.exp(2 * log_spread) + log_spread - 0.5 * lt.exp(2 * log_noise) + log_noise
    cost = normal(y, mean, log_noise) + priors + half_normals

    def reference(v: Values) -> Any:
        spread, noise = np.exp(v["log_spread"]), np.exp(v["log_noise"])
        means = (v["level"] + spread * v["raw"])[v["county"]] + v["slope"] * v["floor"]
        priors = np.sum(stats.norm.logpdf(v["raw"])) + np.sum(stats.norm.logpdf([v["level"], v["slope"]], scale=10.0))
        half_normals = -0.5 * spread**2 + v["log_spread"] - 0.5 * noise**2 + v["log_noise"]
        return np.sum(stats.norm.logpdf(v["y"], means, noise)) + priors + half_normals

    def sample(rng: np.random.Generator, n: int) -> dict[str, Array]:
        return {
            "county": rng.integers(-4, 4, size=n),
            "floor": (rng.random(n) < 0.3).astype(float),
            "y": rng.normal(size=n),
            "level": np.array(rng.normal()),
            "log_spread": np.array(-0.5),
            "raw": rng.normal(size=4),
            "slope": np.array(-0.7),
            "log_noise": np.array(-0.3),
        }

    parameters = [level, log_spread, raw, slope, log_noise]
    return Model("partial pooling", [county, floor, y], parameters, cost, reference, sample)


def softmax_regression() -> Model:
    """Classes, some of which are excluded; labels, some of which are missing."""
    x, label, seen = lt.dmatrix("x"), lt.lvector("label"), lt.vector("seen", dtype="bool")
    w, b, scale = lt.dmatrix("w"), lt.dvector("b"), lt.dvector("scale")
    scores = (x * scale) @ w + b
    scores = scores[:, 1:].set(lt.maximum(scores[:, 1:], -2.0))
    log_p = lt.log_softmax(scores, axis=1)
    picked = log_p[lt.arange(x.shape[0]), label]
    per_class = lt.zeros(b.shape[0])[label].inc(lt.switch(seen, picked, 0.0))
    cost = -lt.sum(picked[seen]) - 0.5 * lt.sum(per_class * lt.arange(b.shape[0])) + lt.max(lt.sqr(w)) + lt.sum(b[::-2])

    def reference(v: Values) -> Any:
        scores = (v["x"] * v["scale"]) @ v["w"] + v["b"]
        scores[:, 1:] = np.maximum(scores[:, 1:], -2.0)
        picked = special.log_softmax(scores, axis=1)[np.arange(len(v["x"])), v["label"]]
        per_class = np.zeros(len(v["b"]))
        np.add.at(per_class, v["label"], np.where(v["seen"], picked, 0.0))
        weighted = np.sum(per_class * np.arange(len(v["b"])))
        return -picked[v["seen"]].sum() - 0.5 * weighted + np.max(v["w"] ** 2) + v["b"][::-2].sum()

    def sample(rng: np.random.Generator, n: int) -> dict[str, Array]:
        return {
            "x": rng.normal(size=(n, 3)),
            "label": rng.integers(0, 4, size=n),
            "seen": rng.random(n) < 0.7,
            "w": rng.normal(size=(3, 4)),
            "b": rng.normal(size=4),
            "scale": rng.normal(size=3),
        }

    return Model("softmax regression", [x, label, seen], [w, b, scale], cost, reference, sample)


MODELS = [make() for make in (logistic_regression, perceptron, gaussian_mixture, partial_pooling, softmax_regression)]
