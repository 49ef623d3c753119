"""The peers that Fathom is measured beside. Each returns a function that computes the feature's result, or None where the
peer lacks it."""

import sys

import numpy as np

SPACING = [1.5, 1.0, 0.75]


class Edt:
    name = "edt"

    def __init__(self):
        import edt
        from importlib.metadata import version
        self.module, self.version = edt, version("edt")

    def prepare(self, feature, image, threads):
        if feature == "indices":
            return None
        data = image if feature == "labels" else image.view(bool)
        options = {"parallel": threads, "black_border": feature == "border"}
        if feature == "spacing":
            options["anisotropy"] = tuple(SPACING[:image.ndim])
        return lambda: self.module.edt(data, **options)


class OpenCV:
    name = "OpenCV"

    def __init__(self):
        import cv2
        self.module, self.version = cv2, cv2.__version__

    def prepare(self, feature, image, threads):
        if feature != "plain" or image.ndim != 2:
            return None
        self.module.setNumThreads(threads)
        return lambda: self.module.distanceTransform(image, self.module.DIST_L2, self.module.DIST_MASK_PRECISE)


class SciPy:
    name = "SciPy"

    def __init__(self):
        import scipy
        import scipy.ndimage
        self.module, self.version = scipy.ndimage, scipy.__version__

    def prepare(self, feature, image, threads):
        transform = self.module.distance_transform_edt
        if threads > 1 or feature in ("labels", "border"):
            return None
        if feature == "indices":
            return lambda: transform(image, return_indices=True)
        sampling = SPACING[:image.ndim] if feature == "spacing" else None
        return lambda: transform(image, sampling=sampling)


class SimpleITK:
    name = "SimpleITK"

    def __init__(self):
        import SimpleITK
        self.module, self.version = SimpleITK, SimpleITK.Version_VersionString()

    def prepare(self, feature, image, threads):
        if feature not in ("plain", "spacing"):
            return None
        sitk = self.module
        sitk.ProcessObject.SetGlobalDefaultNumberOfThreads(threads)
        # Its field is signed; inside must be the sites for the outside to be what the others compute.
        sites = sitk.GetImageFromArray((image == 0).astype(np.uint8))
        if feature == "spacing":
            sites.SetSpacing(SPACING[:image.ndim][::-1])
        run = lambda: sitk.SignedMaurerDistanceMap(sites, False, False, True)
        run.convert = lambda result: np.maximum(sitk.GetArrayViewFromImage(result), 0)
        return run


def installed_peers(wanted):
    peers = []
    for peer in (Edt, OpenCV, SciPy, SimpleITK):
        if wanted and peer.name.lower() not in wanted:
            continue
        try:
            peers.append(peer())
        except ImportError:
            print(f"{peer.name} is not installed: left out", file=sys.stderr)
    return peers
