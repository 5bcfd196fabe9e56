"""Two readings of every kernel's parameters agree: the one that reads the source alone (the contract that
build_io_contract infers) and the compiler's (what compile_kernel lists)."""

import os
import re
import unittest

from assay_client import Server
from kernel_file import all_kernels

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = (os.path.join(HERE, "pasted"), os.path.join(HERE, "..", "..", "examples", "kernels"))
# Element type and how many of it, by the compiler's spelling; written here anew, not taken from the server.
C_TYPES = {"float": "float32", "double": "float64", "__half": "float16", "__nv_bfloat16": "bfloat16",
           "char": "int8", "signed char": "int8", "unsigned char": "uint8", "bool": "bool", "short": "int16",
           "unsigned short": "uint16", "int": "int32", "unsigned int": "uint32", "long": "int64", "long long": "int64",
           "unsigned long": "uint64", "unsigned long long": "uint64"}
VECTORS = {"float2": ("float32", 2), "float4": ("float32", 4), "double2": ("float64", 2), "int4": ("int32", 4), "uint4": ("uint32", 4), "uint2": ("uint32", 2),
           "__half2": ("float16", 2), "uchar4": ("uint8", 4), "char4": ("int8", 4)}
BYTES = {"bool": 1, "bfloat16": 2}


def sources():
    for kernel_file in all_kernels():
        yield kernel_file.name, kernel_file.source, kernel_file.metadata or {}
        yield kernel_file.name + " (reference)", kernel_file.reference, {}
    for folder in FOLDERS:
        for name in sorted(os.listdir(folder)):
            if name.endswith((".cu", ".py")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield name, file.read(), {}


def element_of(type_):
    """("float32", 1, is it const) of "float const*"."""
    words = type_.replace("*", "").replace("volatile", "").split()
    plain = " ".join(word for word in words if word != "const")
    dtype, width = VECTORS.get(plain, (C_TYPES.get(plain), 1))
    return dtype, width, "const" in words


def size_of(dtype):
    return BYTES.get(dtype) or int(re.search(r"\d+$", dtype).group()) // 8


class Signatures(unittest.TestCase):
    def same(self, compiled, read, place):
        """One parameter as the compiler lists it and as the source was read."""
        place = f"{place}: {compiled} is not {read}"
        self.assertEqual(compiled["name"], read["name"], place)
        if "texture" in read:  # the compiler may only know what the word stands for
            self.assertIn((compiled["type"], compiled["bytes"]), (("cudaTextureObject_t", 8), ("unsigned long long", 8)), place)
            return
        dtype, width, is_const = element_of(compiled["type"])
        self.assertIsNotNone(dtype, place)
        if compiled["type"].count("*") == 0:
            self.assertNotEqual(read["type"], "tensor", place)
            self.assertEqual(compiled["bytes"], size_of(dtype), place)
            # A bool has no width to state.
            self.assertEqual(read.get("c_type", "bool"), dtype, place)
            return
        self.assertEqual(read["type"], "tensor", place)
        self.assertEqual(compiled["bytes"], 8, place)
        self.assertEqual(read["tensor_spec"]["dtype"], dtype, place)
        if width > 1:
            self.assertEqual(read["tensor_spec"]["shape"][-1], width, place)
        if is_const:
            self.assertEqual(read["role"], "input", place)

    def test_both_readings_of_every_kernel_agree(self):
        compared = parameters = 0
        with Server() as server:
            for name, text, metadata in sources():
                kernel = {"source_code": text, "kernel_type": "cuda", "metadata": metadata}
                report = server.call("compile_kernel", {"kernel": kernel, "detail": "full"})["structuredContent"]
                self.assertEqual(report["verdict"], "passed", (name, report.get("summary")))
                for compiled in report["kernels"]:
                    place = f"{name}: {compiled['signature']}"
                    asked = {"kernel": {"source_code": text, "metadata": {"kernel_name": compiled["name"]}}, "detail": "full"}
                    result = server.call("build_io_contract", asked)
                    if result["isError"] and "more than the limit" in result["content"][0]["text"]:
                        # Square tensors of the size that is guessed for a vector: the refusal says what to lower.
                        sizes = {arg["name"]: 64 for arg in compiled["args"] if arg["type"] == "int"}
                        result = server.call("build_io_contract", {**asked, "sizes": sizes})
                    with self.subTest(place):
                        if result["isError"]:
                            self.not_read(compiled, result["content"][0]["text"], place)
                            continue
                        read = result["structuredContent"]["io_contract"]["args"]
                        self.assertEqual(len(read), len(compiled["args"]), place)
                        for one, other in zip(compiled["args"], read):
                            self.same(one, other, place)
                        compared += 1
                        parameters += len(read)
        # Else most were left out, which proves nothing.
        self.assertGreater(compared, 130)
        self.assertGreater(parameters, 450)

    def not_read(self, compiled, text, place):
        """Only a parameter that no contract can hold is a reason, and it is named."""
        strange = [a for a in compiled["args"] if a["type"] is None or element_of(a["type"])[0] is None]
        self.assertTrue(strange, (place, text))
        self.assertIn(f"'{strange[0]['name']}'", text, place)


if __name__ == "__main__":
    unittest.main()
