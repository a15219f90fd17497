"""The benchmark algorithms of the paper: inverse reinforcement learning and related methods."""

from .b_irl import b_irl
from .cp_irl import cp_irl
from .i_spi import i_spi
from .m_fold_irl import m_fold_irl
from .t_rex import t_rex
from .uniform import uniform

__all__ = ["b_irl", "cp_irl", "i_spi", "m_fold_irl", "t_rex", "uniform"]
