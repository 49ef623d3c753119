from hypothesis import settings

# The oracle looks at every pair of elements; the same examples every time, since a test that fails by chance helps nobody.
settings.register_profile("fathom", max_examples=40, deadline=None, derandomize=True, database=None)
settings.load_profile("fathom")
