"""Checks a statement's DSSE envelope with securesystemslib, and reads it as in-toto's own package does."""

import json
import sys

import in_toto_attestation.predicates.test_result.v0.test_result_pb2 as test_result
import in_toto_attestation.v1.statement_pb2 as statement
from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from google.protobuf.json_format import Parse
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

envelope, public, scheme, other = sys.argv[1:]
read = json.load(open(envelope))
keyid = read["signatures"][0]["keyid"]
dsse = Envelope.from_dict(read)


def key(path, scheme):
    return SSlibKey.from_crypto(load_ssh_public_key(open(path, "rb").read()), keyid=keyid, scheme=scheme)


dsse.verify([key(public, scheme)], 1)
try:
    dsse.verify([key(other, "ed25519")], 1)
    sys.exit("another key is accepted")
except VerificationError:
    pass
parsed = Statement.copy_from_pb(Parse(dsse.payload, statement.Statement()))
parsed.validate()
predicate = json.dumps(json.loads(dsse.payload)["predicate"])
result = Parse(predicate, test_result.TestResult(), ignore_unknown_fields=True)
print(parsed.pb.predicate_type, parsed.pb.subject[0].name, result.result, *result.passed_tests, sep="; ")
