"""Plain forms that overflow, underflow or cancel: what the rewritten graph computes, with every stage of rewriting checked."""

import numpy as np
import pytest
from scipy import special

import lamella as lm
import lamella.tensor as lt
from lamella.runtime import DebugMode

MODES = {"FAST_RUN": lm.FAST_RUN, "DebugMode": DebugMode()}

x, w, n = lt.dvector("x"), lt.dvector("w"), lt.lvector("n")
X = np.array([-40.0, -3.0, -1e-9, 0.0, 0.7, 9.0, 40.0])


@pytest.mark.parametrize(("name", "k"), [("FAST_RUN", 20.0), ("DebugMode", 2.0)])
def test_tails_of_distributions_and_their_gradients(name: str, k: float) -> None:
    normal = lt.log(0.5 * lt.erfc(-x / np.sqrt(2)))
    squashed = lt.log(1 - lt.tanh(x) ** 2)
    logistic = lt.log(1 - 1 / (1 + lt.exp(-x * k)))
    costs = [normal, squashed, logistic, lt.log(lt.cosh(x * k)), lt.log(1 + lt.exp(x * k) + lt.exp(x * 1.5 * k))]
    slopes = [lm.grad(lt.sum(cost), x) for cost in costs]
    found = lm.function([x], [*costs, *slopes], mode=MODES[name])(X)
    expected = [
        special.log_ndtr(X),
        -2 * (np.abs(X) + np.log1p(np.exp(-2 * np.abs(X))) - np.log(2)),
        special.log_expit(-k * X),
        np.abs(k * X) + np.log1p(np.exp(-2 * np.abs(k * X))) - np.log(2),
        special.logsumexp(np.stack([0 * X, k * X, 1.5 * k * X]), axis=0),
        np.sqrt(2 / np.pi) / special.erfcx(-X / np.sqrt(2)),
        -2 * np.tanh(X),
        -k * special.expit(k * X),
        k * np.tanh(k * X),
        (np.array([[k], [1.5 * k]]) * special.softmax(np.stack([k * X, 1.5 * k * X, 0 * X]), axis=0)[:2]).sum(axis=0),
    ]
    for value, exact in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, exact, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
def test_entropies_and_likelihoods(mode: lm.Mode) -> None:
    logits = lt.dmatrix("logits")
    weights = lt.softmax(logits, axis=1)
    likelihood = -lt.mean(lt.log(weights[lt.arange(n.shape[0]), n]))
    f = lm.function([logits, n, w], [likelihood, lm.grad(likelihood, logits), lt.sum(w * lt.log(w))], mode=mode)
    values, classes, shares = np.array([[0.0, 900.0], [3.0, 1.0]]), np.array([0, 1]), np.array([0.0, 0.25, 0.75])
    loss, slope, entropy = f(values, classes, shares)
    p = special.softmax(values, axis=1)
    np.testing.assert_allclose(loss, -special.log_softmax(values, axis=1)[[0, 1], classes].mean(), rtol=1e-14)
    np.testing.assert_allclose(slope, (p - np.eye(2)[classes]) / 2, rtol=1e-14)
    np.testing.assert_allclose(entropy, special.xlogy(shares, shares).sum(), rtol=1e-14)
