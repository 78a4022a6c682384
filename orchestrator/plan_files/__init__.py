"""Plans that are kept in a file, and pushes that are held to one (controller).

made = PlanMaker(planner)                    # in place of the planner and on the bus of a preview
kept = made.finish(about, files)             # a KeptPlan
kept = read_plan(path); write_plan(kept, path)        # InputError for one that is not whole
planner = HeldPlanner(planner, kept)         # in place of the planner of a push
"""
