"""The testing layer: verifiers of the Op, Type and rewrite contracts, for any project's own Ops."""

from lamella.testing.gradient_check import GradientError as GradientError
from lamella.testing.gradient_check import verify_grad as verify_grad
from lamella.testing.numeric_gradient import NumericGradient as NumericGradient
from lamella.testing.numeric_gradient import numeric_gradient as numeric_gradient
from lamella.testing.shape_check import InferShapeTester as InferShapeTester
from lamella.testing.shape_check import check_infer_shape as check_infer_shape
