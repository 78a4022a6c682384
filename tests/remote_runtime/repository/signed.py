"""A signed flat repository of apt: two keys, of which the first signs the lists.

The private keys are gone. Made with gpg as of 2024-01-02.
"""

KEY = """\
-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEZZNSABYJKwYBBAHaRw8BAQdA0TJcpqTl8aA3i2mEiwG3AxjLMR7ho/n6GdJl
jJeZOnO0KmNjbSB0ZXN0IHN1aXRlIHJlcG9zaXRvcnkgPHJvb3RAbG9jYWxob3N0
PoiQBBMWCAA4FiEENeuf+IChTrOaLibUpDjtOaZxuwsFAmWTUgACGwMFCwkIBwIG
FQoJCAsCBBYCAwECHgECF4AACgkQpDjtOaZxuwsWjAD/db0e9OWwZoZuog5HhSa9
O+OpG4XEw7dhy94Bx91U78wA/jcbeAddF/aMofOH5M66YUOUtTiLd1vMCK6RLioC
eMgI
=3Z/n
-----END PGP PUBLIC KEY BLOCK-----
"""
FINGERPRINT = "35EB9FF880A14EB39A2E26D4A438ED39A671BB0B"

OTHER_KEY = """\
-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEZZNSABYJKwYBBAHaRw8BAQdAL/PUEHSJhsc9tfT7Vq46bReNM4+m0zvyPZdq
HFPOdtS0GGFub3RoZXIgPHJvb3RAbG9jYWxob3N0PoiQBBMWCAA4FiEEw+3pYo3W
HSo2m9BfHP+w2weZBGwFAmWTUgACGwMFCwkIBwIGFQoJCAsCBBYCAwECHgECF4AA
CgkQHP+w2weZBGyJtQEAsaz5LMyBIrsfE+pIGXe/+HQgZXc1F8pvMTjzCnMycLsA
/1FTA6uzQbvNOvQIh3AwnDxjEBKRFSfIRnsqV7hm5NwI
=3VC0
-----END PGP PUBLIC KEY BLOCK-----
"""
OTHER_FINGERPRINT = "C3EDE9628DD61D2A369BD05F1CFFB0DB0799046C"

LISTS = {
    "Packages": """\
Package: ccm-signed
Version: 1.0-1
Architecture: all
Maintainer: ccm test suite <root@localhost>
Filename: ./ccm-signed_1.0-1_all.deb
Size: 1000
SHA256: 0000000000000000000000000000000000000000000000000000000000000000
Description: a package that only the lists know
""",
    "InRelease": """\
-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA512

Origin: ccm test suite
Label: ccm test suite
Suite: stable
Codename: stable
Date: Thu, 01 Jan 2024 00:00:00 UTC
Architectures: all amd64 arm64
Components: main
Description: A signed repository
SHA256:
 a08be317ff35153ed8abe79d4ed707458a6a81e652b2eeb1c635deef26b03a4b 266 Packages
-----BEGIN PGP SIGNATURE-----

iHUEARYKAB0WIQQ165/4gKFOs5ouJtSkOO05pnG7CwUCZZNSAAAKCRCkOO05pnG7
Cw3iAQC7owKqXUB4aQUjSwbT9qTX3ZYI+v+GgI6WlbDL+FR0PgD8CTY1lFRj0z/9
4LCSGLzJnzpiodQX/Ae0uYsP6oigDg0=
=M1mP
-----END PGP SIGNATURE-----
""",
}
