"""What all rules share.

Inputs:  config/scale/<scale>.yaml and config/figures.yaml
Outputs: none; SCALE and STUDY (runs, groups, figures and their files) for the other rules
Steps:   read and check both files, expand the scale into its runs, once
"""

import sys

from scaling_collapse.errors import ProjectError
from scaling_collapse.pipeline.hook import install
from scaling_collapse.stages.environment import use_own_commands
from scaling_collapse.stages.study import HEADLINE, RUN_FILES, read_study

SOON = 100  # priority of short stages, above all trainings: a figure is drawn once its curves are there

use_own_commands()
try:
    STUDY = read_study(config.get("scale", "cpu"))
except ProjectError as error:
    sys.exit(f"error: {error}")
SCALE = STUDY.argument


wildcard_constraints:
    run_id=r"[a-z0-9][a-z0-9.\-]*",
    group=r"[a-z0-9_]+",
