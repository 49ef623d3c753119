#!/usr/bin/env python3
"""auditwheel, which also takes along what its policies expect on any desktop, but a server or a container lacks."""

import sys
from dataclasses import replace

from auditwheel import main, policy

OF_DESKTOPS = {
    "libX11.so.6", "libXext.so.6", "libXrender.so.1", "libICE.so.6", "libSM.so.6", "libGL.so.1",
    "libglib-2.0.so.0", "libgobject-2.0.so.0", "libgthread-2.0.so.0", "libexpat.so.1", "libz.so.1",
}  # fmt: skip

read_policies = policy.WheelPolicies.__init__


def read_bare_policies(self, **arguments):
    read_policies(self, **arguments)
    self._policies = [replace(each, whitelist=each.whitelist - OF_DESKTOPS) for each in self._policies]


policy.WheelPolicies.__init__ = read_bare_policies
sys.exit(main.main())
