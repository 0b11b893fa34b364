"""Stands in for the package eth-account where that is not installed: as much of its documented interface as signs typed
data of one flat struct, on the curve of python3-ecdsa. Sources: EIP-712; the yellow paper, appendix F (signing)."""
from hashlib import sha256

from Cryptodome.Hash import keccak
from ecdsa import SECP256k1, SigningKey, VerifyingKey
from ecdsa.util import sigdecode_strings, sigencode_strings

DOMAIN = [
    {"name": "name", "type": "string"},
    {"name": "version", "type": "string"},
    {"name": "chainId", "type": "uint256"},
    {"name": "verifyingContract", "type": "address"},
]


def hashed(data):
    return keccak.new(digest_bits=256, data=data).digest()


def word(kind, value):
    if kind == "string":
        return hashed(value.encode())
    if kind == "uint256":
        return value.to_bytes(32, "big")
    if kind in ("address", "bytes32"):
        return bytes.fromhex(value[2:]).rjust(32, b"\0")
    raise TypeError(f"{kind} is not a type that is known here")


def struct(name, fields, values):
    described = f"{name}({','.join(field['type'] + ' ' + field['name'] for field in fields)})"
    words = [word(field["type"], values[field["name"]]) for field in fields]
    return hashed(hashed(described.encode()) + b"".join(words))


class SignedMessage:
    def __init__(self, signature):
        self.signature = signature


class LocalAccount:
    def __init__(self, key):
        self._key = SigningKey.from_string(bytes.fromhex(key[2:]), curve=SECP256k1)
        digits = hashed(self._key.verifying_key.to_string())[-20:].hex()
        capitals = hashed(digits.encode()).hex()
        self.address = "0x" + "".join(d.upper() if int(c, 16) > 7 else d for d, c in zip(digits, capitals))

    def sign_typed_data(self, domain_data, message_types, message_data):
        [(name, fields)] = message_types.items()
        domain = struct("EIP712Domain", DOMAIN, domain_data)
        digest = hashed(b"\x19\x01" + domain + struct(name, fields, message_data))
        r, s = self._key.sign_digest_deterministic(digest, hashfunc=sha256, sigencode=sigencode_strings)
        order = SECP256k1.order
        low = min(int.from_bytes(s, "big"), order - int.from_bytes(s, "big")).to_bytes(32, "big")
        candidates = VerifyingKey.from_public_key_recovery_with_digest(
            (r, low), digest, SECP256k1, hashfunc=sha256, sigdecode=sigdecode_strings
        )
        own = self._key.verifying_key.to_string()
        parity = [candidate.to_string() for candidate in candidates].index(own)
        return SignedMessage(r + low + bytes([27 + parity]))


class Account:
    @staticmethod
    def from_key(private_key):
        return LocalAccount(private_key)
