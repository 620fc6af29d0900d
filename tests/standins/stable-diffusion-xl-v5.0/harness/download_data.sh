#!/bin/sh
touch /data/captions.tsv
