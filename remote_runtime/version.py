"""The single version of ccm, for controller and runtime (both sides)."""

VERSION = "0.1.0"
