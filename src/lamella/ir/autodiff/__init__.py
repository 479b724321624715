"""Differentiation of graphs: gradients, products with Jacobians, Jacobians and Hessians."""

from lamella.ir.autodiff.backward import accumulate_cotangents as accumulate_cotangents
from lamella.ir.autodiff.grad import grad as grad
from lamella.ir.autodiff.grad import subgraph_grad as subgraph_grad
from lamella.ir.autodiff.gradient_control import GradientControl as GradientControl
from lamella.ir.autodiff.gradient_control import consider_constant as consider_constant
from lamella.ir.autodiff.gradient_control import disconnected_grad as disconnected_grad
from lamella.ir.autodiff.gradient_control import grad_clip as grad_clip
from lamella.ir.autodiff.gradient_control import grad_scale as grad_scale
from lamella.ir.autodiff.gradient_control import undefined_grad as undefined_grad
from lamella.ir.autodiff.gradient_control import zero_grad as zero_grad
from lamella.ir.autodiff.jacobian import hessian as hessian
from lamella.ir.autodiff.jacobian import hessian_vector_product as hessian_vector_product
from lamella.ir.autodiff.jacobian import jacobian as jacobian
from lamella.ir.autodiff.lop_rop import Lop as Lop
from lamella.ir.autodiff.lop_rop import Rop as Rop
from lamella.ir.autodiff.map_rows import MapRows as MapRows
