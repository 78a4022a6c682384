"""The one version of ccm, controller and runtime alike (both sides)."""

VERSION = "0.1.0"
