#!/bin/sh
exec ./run.sh Server
