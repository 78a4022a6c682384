#!/bin/sh
now() { date +%s; }
