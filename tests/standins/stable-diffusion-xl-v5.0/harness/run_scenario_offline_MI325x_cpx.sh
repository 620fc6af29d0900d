#!/bin/sh
exec ./run.sh Offline
