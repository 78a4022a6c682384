TESTED_BY: dict[str, tuple[str, ...]] = {}
