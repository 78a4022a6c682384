"""Plan files, and pushes that are bound to one (controller).

writer = PlanWriter(planner)             # replaces a preview's planner; subscribe it to the bus
plan = writer.finish(about, files)       # a PlanFile
plan = read_plan(path)                   # InputError for an invalid one
write_plan(plan, path)
planner = BoundPlanner(planner, plan)    # replaces the planner of a push
"""
