"""Functions that SciPy has in ``scipy.special``, under its names: ``from lamella.tensor import special``."""

from lamella.ir.tensor.functions import digamma as digamma
from lamella.ir.tensor.functions import erf as erf
from lamella.ir.tensor.functions import erfc as erfc
from lamella.ir.tensor.functions import erfcx as erfcx
from lamella.ir.tensor.functions import exp2 as exp2
from lamella.ir.tensor.functions import expit as expit
from lamella.ir.tensor.functions import expm1 as expm1
from lamella.ir.tensor.functions import gammaln as gammaln
from lamella.ir.tensor.functions import log1p as log1p
from lamella.ir.tensor.functions import log_softmax as log_softmax
from lamella.ir.tensor.functions import logsumexp as logsumexp
from lamella.ir.tensor.functions import polygamma as polygamma
from lamella.ir.tensor.functions import psi as psi
from lamella.ir.tensor.functions import softmax as softmax
from lamella.ir.tensor.functions import softplus as softplus
from lamella.ir.tensor.functions import xlogy as xlogy
