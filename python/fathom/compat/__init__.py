"""Layers with the names, signatures, dtypes and conventions of other libraries: change one import line.

===========================  =======================================================================================
Layer                        Stands in for
===========================  =======================================================================================
``fathom.compat.scipy``      ``distance_transform_edt``, ``_cdt``, ``_bf`` of ``scipy.ndimage``
``fathom.compat.cupyx``      ``distance_transform_edt`` of ``cupyx.scipy.ndimage`` and of cuCIM
``fathom.compat.edt``        ``edt``, ``edtsq``, ``sdf``, ``sdfsq`` and the rest of ``edt``
``fathom.compat.cv2``        ``distanceTransform``, ``distanceTransformWithLabels`` of OpenCV
``fathom.compat.skimage``    ``isotropic_*`` of ``skimage.morphology``, ``expand_labels`` of ``skimage.segmentation``
``fathom.compat.pytorch3d``  ``knn_points`` of ``pytorch3d.ops``
``fathom.compat.trimesh``    ``closest_point``, ``signed_distance``, ``ProximityQuery`` of ``trimesh.proximity``
``fathom.compat.open3d``     ``RaycastingScene`` of ``open3d.t.geometry``: its distances
``fathom.compat.igl``        ``signed_distance``, ``point_mesh_squared_distance`` of libigl
``fathom.compat.pysdf``      ``SDF`` of ``pysdf``
===========================  =======================================================================================

None of them imports the library that it stands in for; that of PyTorch3D takes PyTorch. Each module says what differs
from its peer, and why.
"""
