#!/usr/bin/env python3
"""Compiles the kernels beside this file to PTX, with NVRTC, and writes the PTX beside them.

Usage: record.py SITE_PACKAGES

SITE_PACKAGES is the folder that `pip install nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88` filled. No
driver and no GPU are needed. `X.ptx` is for compute capability 9.0, and `X.sm_100.ptx` for 10.0, which goes through another front end of
the compiler.
"""

import ctypes
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def check(nvrtc, code):
    if code != 0:
        raise SystemExit(ctypes.c_char_p(nvrtc.nvrtcGetErrorString(code)).value.decode())


def compile_to_ptx(nvrtc, source, include, architecture):
    program = ctypes.c_void_p()
    check(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None))
    options = [f"--gpu-architecture={architecture}", f"-I{include}"]
    array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    code = nvrtc.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    if code != 0:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise SystemExit(f"{source.name}: {log.value.decode()}")
    check(nvrtc, nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    check(nvrtc, nvrtc.nvrtcGetPTX(program, text))
    return text.value.decode()


def main():
    toolkit = pathlib.Path(sys.argv[1]) / "nvidia" / "cu13"
    nvrtc = ctypes.CDLL(str(toolkit / "lib" / "libnvrtc.so.13"))
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    for source in sorted(HERE.glob("*.cu")):
        for architecture, ending in [("compute_90", ".ptx"), ("compute_100", ".sm_100.ptx")]:
            text = compile_to_ptx(nvrtc, source, toolkit / "include", architecture)
            source.with_suffix(ending).write_text(text)


main()
