"""Entry point of the policy pack: ``pulumi preview --policy-pack policies``."""

import sys

from policies.analyzer import serve
from toolchain import settings
from toolchain.errors import SettingError

if __name__ == "__main__":
    try:
        serve(settings.now())
    except SettingError as error:
        sys.exit(str(error))
