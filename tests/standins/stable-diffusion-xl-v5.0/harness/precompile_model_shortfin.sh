#!/bin/sh
[ "$IREE_BUILD_MP_CONTEXT" = fork ] && [ -e /models/model.safetensors ] && touch compiled
