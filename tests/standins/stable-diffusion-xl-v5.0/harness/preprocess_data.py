[ -e /data/captions.tsv ] && touch /data/preprocessed
