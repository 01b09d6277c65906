#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: vmlinux.py VMLINUZ VMLINUX

Unpack the ELF kernel from a bzImage; QEMU starts it without the slow decompression
(PVH boot).
"""
import lzma
import os
import struct
import subprocess
import sys


def payload(image):
    """Return the compressed kernel, which is located as specified in Documentation/x86/boot.rst."""
    setup_sects = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sects + 1) * 512 + offset
    return image[start:start + length]


def unpack(data):
    if data.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(data)
    # In these formats, the size follows the compressed data.
    for magic, program in ((b"\x28\xb5\x2f\xfd", "zstd"), (b"\x02\x21\x4c\x18", "lz4")):
        if data.startswith(magic):
            return subprocess.run([program, "-dcq"], input=data[:-4], check=True,
                                  stdout=subprocess.PIPE).stdout
    sys.exit("vmlinux.py: compressed in a way that is not known: %r" % data[:6])


def main():
    with open(sys.argv[1], "rb") as image:
        kernel = unpack(payload(image.read()))
    if not kernel.startswith(b"\x7fELF"):
        sys.exit("vmlinux.py: %s holds no ELF kernel" % sys.argv[1])
    with open(sys.argv[2] + ".part", "wb") as out:
        out.write(kernel)
    os.rename(sys.argv[2] + ".part", sys.argv[2])


main()
