"""Constants fitted to curves of our own small models, with intervals: a prior for others' curves, and a starting point.

Scale `cpu`, size 105k alone, all 22 runs whose learning rate decays to zero: tau .075 to 1.2 through batch, learning
rate and weight decay at 20 tokens per parameter, and 27, 40, 80 and 234 tokens per parameter. Smoothing and
normalisation are the defaults; intervals are 90%, of 1,000 resamples of the runs. The paper prints no constants.
"""

from __future__ import annotations

from dataclasses import dataclass

from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.form import BOTH_LAWS, FREE_DECAY, PAPER, Form, Surrogate


@dataclass(frozen=True)
class Published:
    """Constants, the ends of their intervals, and the mean MAE of the fit over its runs [percent of L(T)]."""

    surrogate: Surrogate
    low: Surrogate
    high: Surrogate
    mae_percent: float


#: What was fitted: tau and tokens per parameter of the runs.
TAU_RANGE, TPP_RANGE = (0.075, 1.2), (20.0, 234.0)

#: By form and split.
PUBLISHED: dict[tuple[Form, str], Published] = {
    (PAPER, "train"): Published(
        Surrogate(b_c=0.1168, b_e=-0.2856, q_c=3.076, q_e=-0.4591),
        Surrogate(b_c=0.112, b_e=-0.321, q_c=1.90, q_e=-0.615),
        Surrogate(b_c=0.126, b_e=-0.241, q_c=6.24, q_e=-0.383),
        mae_percent=0.625,
    ),
    (PAPER, "validation"): Published(
        Surrogate(b_c=0.1047, b_e=-0.2929, q_c=4.694, q_e=-0.5645),
        Surrogate(b_c=0.0995, b_e=-0.332, q_c=2.48, q_e=-0.768),
        Surrogate(b_c=0.112, b_e=-0.247, q_c=11.0, q_e=-0.447),
        mae_percent=0.690,
    ),
    (BOTH_LAWS, "train"): Published(
        Surrogate(b_c=0.1581, b_e=-0.3354, q_c=2.493, q_e=-0.2425, b_tpp=-0.1199, q_tau=0.2812),
        Surrogate(b_c=0.0985, b_e=-0.414, q_c=1.70, q_e=-0.520, b_tpp=-0.183, q_tau=0.222),
        Surrogate(b_c=0.189, b_e=-0.252, q_c=6.12, q_e=-0.120, b_tpp=0.056, q_tau=0.360),
        mae_percent=0.493,
    ),
    (BOTH_LAWS, "validation"): Published(
        Surrogate(b_c=0.1950, b_e=-0.3242, q_c=2.485, q_e=-0.1843, b_tpp=-0.2140, q_tau=0.3201),
        Surrogate(b_c=0.089, b_e=-0.408, q_c=1.31, q_e=-0.599, b_tpp=-0.297, q_tau=0.258),
        Surrogate(b_c=0.245, b_e=-0.245, q_c=8.70, q_e=0.020, b_tpp=0.061, q_tau=0.399),
        mae_percent=0.540,
    ),
    (FREE_DECAY, "train"): Published(
        Surrogate(b_c=0.0947, b_e=-1.520, q_c=0.2911, q_e=-0.2009, m=0.1227, e2=0.2926),
        Surrogate(b_c=0.0563, b_e=-1.81, q_c=0.252, q_e=-0.242, m=0.117, e2=0.207),
        Surrogate(b_c=0.120, b_e=-1.36, q_c=0.344, q_e=-0.172, m=0.124, e2=0.392),
        mae_percent=0.332,
    ),
    (FREE_DECAY, "validation"): Published(
        Surrogate(b_c=0.0630, b_e=-1.727, q_c=0.3587, q_e=-0.2408, m=0.1174, e2=0.3598),
        Surrogate(b_c=0.0368, b_e=-2.10, q_c=0.295, q_e=-0.297, m=0.114, e2=0.259),
        Surrogate(b_c=0.0943, b_e=-1.54, q_c=0.490, q_e=-0.175, m=0.120, e2=0.581),
        mae_percent=0.406,
    ),
}


def published_of(form: Form, split: str) -> Published:
    """Return the constants for losses of `split`: those of training, or for any other name those of validation.

    Raises CurveError for a form that has none.
    """
    key = (form, "train" if split == "train" else "validation")
    if key not in PUBLISHED:
        raise CurveError("surrogate", "no constants are published for this form.", "fit some: collapse fit")
    return PUBLISHED[key]
