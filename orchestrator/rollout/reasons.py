"""The reasons why a rollout stops, as data; ``report`` has the messages (controller)."""

BUDGET = "budget"  # more hosts failed than may
GATE = "gate"  # a gate failed, or did not answer in time
CANARY = "canary"  # the canary of these hosts has failed
INTERRUPTED = "interrupted"  # the user has ended the run
UNTIL = "until"  # the time after which no host begins has come
