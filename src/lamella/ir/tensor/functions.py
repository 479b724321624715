"""The tensor functions, by name: what ``lamella.tensor`` hands on, and what operators of tensor variables apply."""

from lamella.ir.tensor.dimshuffle import dimshuffle as dimshuffle
from lamella.ir.tensor.elementwise import add as add
from lamella.ir.tensor.elementwise import exp as exp
from lamella.ir.tensor.elementwise import mul as mul
from lamella.ir.tensor.elementwise import neg as neg
from lamella.ir.tensor.elementwise import sub as sub
from lamella.ir.tensor.elementwise import true_divide as true_divide
from lamella.ir.tensor.extremes import max as max
from lamella.ir.tensor.extremes import min as min
from lamella.ir.tensor.summation import prod as prod
from lamella.ir.tensor.summation import sum as sum
from lamella.ir.tensor.truth import all as all
from lamella.ir.tensor.truth import any as any
